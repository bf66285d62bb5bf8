"""The Chinese rules: what a person may say of themselves or of their people, and its worth.

PREDICATES are matched at the start of a predicate: the clause without its subject, its leading time
and its empty adverbs (我最近也很喜欢爬山 is read as 喜欢爬山), in simplified characters. The first
row that fits wins: put the particular before the general. To add one, write a row, and a sentence
for it in tests/memories/extraction/test_chinese.py.
"""

from memories.extraction.rules.zh_body import CONSTRAINTS, HEALTH, IDENTITY
from memories.extraction.rules.zh_doings import (
    DATED_PLANS,
    EVENTS,
    HABITS,
    NO_LONGER,
    OWN_THINGS,
    PAST_HABITS,
    PLANS,
    SKILLS,
    TASTES,
)
from memories.extraction.rules.zh_life import FAMILY, HOME, WORK
from memories.extraction.rules.zh_pieces import rule, table

PREDICATES = table(
    *NO_LONGER,
    *CONSTRAINTS,
    *HEALTH,
    *IDENTITY,
    *HOME,
    *WORK,
    *FAMILY,
    *TASTES,
    *SKILLS,
    *DATED_PLANS,
    *HABITS,
    *PLANS,
    *EVENTS,
    *PAST_HABITS,
    *OWN_THINGS,
)

_ALWAYS = r"(?:以后|今后|往后|从现在起|从今以后|从今天起|每次|一直|永远|始终|之后|接下来|都)"

# fmt: off
# What a person asks of the assistant for good.
INSTRUCTIONS = table(
    rule("style", "preference", 0.75, 0.85,
         r"(?:请|麻烦)(?:你|您)?(?P<x>用(?:中文|英文|英语|汉语|普通话|粤语|日语|法语|德语|西班牙语|韩语|俄语)"
         r"(?:来)?(?:回答|回复|跟我说话?|和我说话?|跟我聊|和我聊)(?:我)?)$", say="希望助手{x}"),
    rule("style", "preference", 0.75, 0.85,
         r"(?:以后|往后)?(?:请|麻烦)?(?:你|您)?(?P<x>(?:给|跟|对|和)我(?:讲|说|解释|聊|写|回|"
         r"推荐|列|报)[^，。]{0,6}(?:的时候|时|话|题)"
         r"(?:先|请|都|要|尽量|最好|直接|慢|别|不要|用)[^，。了吗]{1,16})$", say="希望助手{x}"),
    rule("style", "preference", 0.75, 0.85,
         r"(?P<x>(?:数字|数据|表格|图表|金额|日期|单位|代码示例|代码|示例|例子|举例子?|回答|答案|"
         r"输出|解释|文字|字|公文|稿子)(?:请|都|要|给我|统一|一律|尽量|里|最好|别|不要|不能)+"
         r"(?:用|写|按|保留|带|加|给|太|超过|配|出现)[^，。了吗]{1,16})$", say="希望助手{x}"),
    rule("style", "preference", 0.7, 0.85,
         r"(?:请|麻烦)?(?:你|您)?(?P<x>多(?:给我|跟我|用|举|"
         r"打)+[^，。了吗]{0,8}(?:例子|比方|比喻|图|表格|口语))$", say="希望助手{x}"),
    rule("taboo", "constraint", 0.8, 0.85,
         r"(?:请|麻烦)?(?:你|您)?(?:跟|给|对|和)我(?:讲|说|聊|推荐|解释|"
         r"发)[^，。]{0,8}(?:别|不要|莫|不许)(?P<x>[^，。了吗]{2,16})$", say="不希望助手{x}"),
    rule("undisturbed", "preference", 0.7, 0.85,
         r"(?P<t>(?:每天|工作日|周[一二三四五六日末]|周末|大)?(?:清早|一早|早上|早晨|上午|中午|午休|下午|晚上|半夜|夜里|"
         r"深夜|周末|睡觉|吃饭|上班|开会)(?:的时候|时|时间)?)(?:请|麻烦|千万|都)?(?:别|不要|勿)(?:再|来)?"
         r"(?P<x>叫|吵|找|打扰|催|烦)我$", say="不希望{t}被{x}"),
    rule("taboo", "constraint", 0.8, 0.85,
         r"(?P<t>[^，。我你]{2,10}(?:以后|之后|之前|的时候|期间))?(?:请)?(?:别|"
         r"不要)(?:再)?(?:给|跟|对)我(?P<x>(?:打电话|发消息|发语音|推送|推荐|提|讲|"
         r"说)[^，。了吗]{0,12})$",
         say="{t}不希望助手{x}"),
    rule("birthday", "fact", 0.75, 0.9,
         r"(?:刚好|正好)?(?P<x>今天|明天|后天|[这下]?个?(?:周|星期)[一二三四五六日天]|"
         r"\d{1,2}号)(?:就|正好|刚好)?是我的?(?:[\d一二两三四五六七八九十]+岁)?生日",
         say="生日是{x}", data={"shape": "birthday"}),
    rule("style", "preference", 0.75, 0.85,
         rf"(?:请|麻烦)?(?:你|您)?{_ALWAYS}(?:请|麻烦)?(?:你|您)?(?:都|还是|只|尽量|请|要|跟我|"
         r"对我|给我|和我|就)*(?P<x>(?:用|回答|回复|说|讲|给|先|称呼|叫|写|解释|举|加|直接|"
         rf"简短|简洁|详细|温柔|严肃|站在|以)[^，。]{{1,30}})", say="希望助手{x}"),
    rule("style", "preference", 0.75, 0.85,
         r"(?:请|麻烦)?(?:你的?|您的?)?(?:回答|回复|答案|说话|解释|语气)(?:请|要|尽量|时|"
         r"的时候|能不能|可以|都|得)*(?P<x>(?:简短|简洁|简单|详细|直接|口语|正式|通俗|幽默|"
         r"温柔|专业|精炼|短|委婉|具体|随意|轻松|客观|有条理|分点|一针见血)[^，。]{0,12})",
         say="希望回答{x}"),
    rule("taboo", "constraint", 0.85, 0.85,
         rf"(?:请|麻烦)?(?:你|您)?(?:{_ALWAYS}|千万|绝对|永远|一定)(?:都|请|再也|也)*(?:不要|"
         r"别|不许|不准|禁止|不能)(?:再|总|老|给我|跟我|对我|"
         rf"和我)*(?P<x>[^，。了]{{2,25}})(?:了)?", say="不希望助手{x}"),
    rule("taboo", "constraint", 0.8, 0.85,
         r"(?:请|麻烦)?(?:你|您)?(?:不要|别)(?:再|总是?|老是?|给我|跟我|对我|"
         r"和我)+(?P<x>(?:提起?|说|推荐|用|叫|聊|发|讲|加|问)[^，。了]{1,25})(?:了)?",
         say="不希望助手{x}"),
    rule("taboo", "constraint", 0.8, 0.85,
         r"(?:请|麻烦)?(?:你|您)?(?:回答|回复|说话|解释|写东西|跟我说话|"
         r"聊天)(?:我)?(?:的)?(?:时候?)?(?:请|都|就)?(?:不要|别|少)"
         r"(?:再|总|老)*(?P<v>用|加|说|发|写|带|讲|堆)(?:那么|这么|"
         r"太)?多?(?P<x>(?!我)[^，。了]{2,16})", say="不希望助手{v}太多{x}"),
    rule("taboo", "constraint", 0.8, 0.85,
         r"(?:请|麻烦)?(?:你|您)?(?:不要|别)(?P<x>用(?:表情|emoji|敬语|英文|英语|繁体|"
         r"专业术语|markdown|列表)[^，。了]{0,10}|叫我[^，。了]{1,8})(?:了)?", say="不希望助手{x}"),
    rule("call", "preference", 0.8, 0.9,
         r"(?:你|您|请|往后|今后|平时|以后|可以|就|大家都|朋友们?都?|同事们?都?|家里人都?|他们都?|"
         r"都)*(?:叫|喊|称呼)我(?!一|去|来|起|做|帮|吃|回|怎|什么|别|不|加|写|交|过|该|的|"
         r"们)(?P<x>[^，。吧就的了]{1,10})(?:吧|就行|就好|就可以了?|即可|好了)*$",
         say="希望被称呼为{x}"),
)
# fmt: on
