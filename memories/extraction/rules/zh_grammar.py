"""Just enough Chinese grammar: who a clause is about, when, and where its predicate begins."""

import re
from dataclasses import dataclass, replace
from datetime import date

from memories.extraction.rules.en_clauses import Piece
from memories.extraction.rules.masking import simplified
from memories.extraction.rules.zh_clauses import is_about_another
from memories.extraction.rules.zh_words import PETS, RELATIONS

OPENER = re.compile(
    r"(?:嗯+|哦+|噢|啊+|哎呀?|唉|诶|喂|嗨|哈喽|你好(?:呀|啊)?|您好|早上好|晚上好|"
    r"下午好|好(?:的|吧|啊|呀)|是的|对(?:了|啊|呀|的)?(?=[，,、 ]|我|其实|还)|没错|"
    r"不是(?=[，,]|我)|不对|不(?=[，, 我])|"
    r"其实|另外|此外|还有|顺便(?:说一下|说一句|一提|告诉你)?(?:一件事情?)?|"
    r"话说(?:回来)?|说起来|说实话|老实说|实话实说|坦白说|不瞒你说|不过|但是?|可是|"
    r"然而|而且|并且|所以|因为|"
    r"由于|然后|那么?|哈哈+|嘿嘿|嘻嘻|呃|额|介绍一下|自我介绍一下|告诉你(?:一个)"
    r"?(?:好消息|秘密)?|跟你说|和你说|你知道吗?|要知道|AI伴侣|朋友|亲|当然|确实|"
    r"的确|"
    r"总之|反正|毕竟|首先|其次|最后|第一|第二|比如说?|例如|虽然|尽管|既然|"
    r"准确(?:地|的|来)?说|严格(?:来|地)?说|确切(?:地|来)?说|具体(?:来)?说|你(?:弄|搞|记)错了|更正一下|纠正一下|说错了|我说错了|搞错了|补充一下|补充一点|备注|背景|"
    r"我(?:觉得|认为|发现|想说(?:的是)?|是说|意思是|记得|知道|承认|得说|要说|必须说|"
    r"忘了说|忘记说|说过|跟你说过?|告诉过你|真心觉得|感觉)(?=我)|"
    r"谢谢(?:你|您)?(?:的建议)?|忘了说|对了忘了说|悄悄告诉你|好消息是|坏消息是|"
    r"值得一提的是|事实上|实际上|事实是)[，,、：: !！~]*"
)
HEDGE = re.compile(r"(?:可能|也许|大概|好像|似乎|应该|或许|说不定|估计|不确定)")
_SELF = re.compile(
    r"(?:我(?:自己|本人|个人|这个人|这人|呢|啊)?|本人|俺|咱(?!们)|在下)(?!们|国|方|"
    r"的|家|校|觉得|感觉|认为|相信)"
)
_WE = re.compile(
    r"(?:我们|咱们|我俩|我们俩|我[跟和与](?:我的?)?[^，。在合]{1,6}?)(?=一起|都|准备|"
    r"打算|计划|结婚|养|有|住|要|下|明|去|在(?!一起)|刚|每|是|想|领|买|搬|订|离|上|"
    r"去|昨|今|刚|正|从|也|已|又|这|周)"
)
_RELATIVE = re.compile(
    r"(?:我|我们|咱们?|俺)(?:家|们家|们)?(?:里)?的?(?:[大小二三]|最好的|亲|前|新|"
    rf"那个|这个|[\d一二三四五六七八九十]+岁的)?(?P<relation>{RELATIONS})"
    r"(?P<name>[A-Z][a-z]+|[^\x00-\x7f的了是在也都就还又很不没有说要会想去来从上对爱喜今明后刚已才马被把跟和给让到住做当叫养得，。、！？]"
    r"{2}(?=今年|明年|去年|刚|已经|才|马上|快|在|上))?(?![们妈爸迷粮])"
)
_OWN = re.compile(
    r"(?:我|我们)(?:家)?的(?P<thing>(?:微信|手机号?码?|电话|邮箱|公司|车|专业|"
    r"英文名|网名|昵称|小名|外号|预算|论文|研究方向|产品|项目|母校|时区|作息|座右铭|"
    r"房子|家|"
    r"工资|月薪|房租|婚礼|结婚纪念日|生日|航班|面试|手术|考试|答辩|签证|合同|飞机|"
    r"高铁|护照|毕业典礼|预产期|截止日期|deadline|DDL|ddl))"
)
_PRONOUN = re.compile(r"(?:他|她|它|他们|她们|它们)(?!说|问|告诉|的|觉得|认为|人)")
_PRONOUN_OWN = re.compile(r"(?:他|她|它)的(?=名字|生日|职业|工作|爱好)")
_YEAR = r"(?:(?:19|20)\d\d年|前年|去年|今年|明年|后年)"
_UNIT = (
    r"(?:(?:上上|下下|上|下|这|本)个?(?:周|星期|礼拜|"
    r"月)(?:[一二三四五六日天末初底中])?(?:(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
    r"[日号])?|"
    r"(?:\d{1,2}|[一二三四五六七八九十]{1,2})月份?(?:(?:\d{1,2}|"
    r"[一二三四五六七八九十]{1,3})[日号]|[初底中])?|"
    r"大前天|前天|昨天|昨晚|今天|今晚|今早|明天|明晚|明早|大后天|后天|(?:周|星期|"
    r"礼拜)[一二三四五六日天](?!到|都|一般|经常|通常|常|总|会)|"
    r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})[号日](?!线|楼)|年底|年初|月底|月初|"
    r"(?:\d+|[一二两三四五六七八九十]+)个?(?:年|月|天|周|星期)(?:以前|以后|之前|"
    r"之后|前|后)|春节|国庆|五一|元旦|中秋|暑假|寒假|过年)"
)
_PART = (
    r"(?:早上|上午|中午|下午|傍晚|晚上|凌晨)?(?:(?:\d+|[一二两三四五六七八九十]+)点半?)?"
    r"(?:的时候|开始|起|之前|以来)?"
)
_TIME = re.compile(
    rf"(?:自从|自|从|在|到|等|截至)?(?:{_YEAR}的?(?:{_UNIT})?|{_UNIT})的?{_PART}|"
    r"以前|从前|原来|小时候"
)
_ADVERBS = re.compile(
    r"(?:打小就?|自小就?|一向|向来|历来|早就|早已|压根|也|还是|还|都|就是|就|真的|其实|确实|的确|一直以来|一直|现在|目前|最近|"
    r"近来|近期|这几天|这段时间|这阵子|这两天|本来|刚刚|刚|才|已经|终于|主要|基本上|"
    r"实在|又|可|个人|自己|这个人|本身|"
    r"当然|特别|非常|超级|很|蛮|挺|比较|十分|相当|真|有点|有些|稍微|偶尔也|一共|"
    r"总共|尤其|主要是|一般都|的话|呢|啊|平时|平常|，|,|、)+"
)
_THINKS_OF_ANOTHER = re.compile(
    r"(?:知道|觉得|听说|希望|认为|相信|发现|看到|担心|感觉|讨厌|"
    r"喜欢)[^，]{0,4}[他她它你]|讲述|讲的是"
)
_A_THING = re.compile(r"一?[家本部位道件款种所座首]|《|一个")
_DESCRIBES = re.compile(
    r"(?:名字)?(?:叫|名叫|取名|名字是|名为|是一?[只条个位名部本家款种道]|(?:今年|刚|"
    r"已经|才)*[\d一二两三四五六七八九十]+(?:岁|个月大)|讲|里面|味道|收藏|特别粘人|"
    r"很乖|很可爱|品种)"
)
_BRINGS_UP = re.compile(
    r"(?:有|养|生|领养|收养|捡|买)(?:了|过|着)?(?:\d+|[一二两三四五]|"
    r"几)?[个只条位名对匹](?"
    rf":[^，。]{{0,8}}的)?(?:[^，。的]{{0,4}}?)(?P<who>(?:{RELATIONS}|{PETS}))$"
)


@dataclass(frozen=True)
class Subject:
    """Who or what a predicate is said of; an empty label is the speaker."""

    label: str = ""


@dataclass(frozen=True)
class Setting:
    today: date
    speaker: str = ""
    known: Subject | None = None
    fresh: Subject | None = None  # what the clause just before brought up
    thing: bool = False  # the clause just before brought up a thing: 一本书
    opening: bool = True  # nothing was said yet in this sentence
    rules: bool = True  # False: clauses are only worded, for the classifier


@dataclass(frozen=True)
class Parsed:
    """Offsets count from the start of the clause. `time` stood before the subject or after it."""

    subject: Subject
    begin: int
    time: str
    inherited: bool = False


def introduced(text: str, setting: Setting) -> Setting:
    """`setting` knowing the one person or animal that `text` spoke of last."""
    folded = simplified(text)
    last = setting.known
    for match in re.finditer(
        r"(?:(?:我|我们|[只条个])(?:家|们家)?的?[\u4e00-\u9fff]{0,3}?|"
        r"^(?=(?:老公|老婆|儿子|女儿|闺女|男朋友|女朋友|媳妇|对象|妈妈|爸爸|婆婆|弟弟|妹妹|哥哥|姐姐)(?:的|最近|今年|"
        rf"昨天|刚|在|是|要|也|总|老|有)))(?P<relation>{RELATIONS})(?P<name>[A-Z][a-z]+)"
        r"?",
        folded,
    ):
        last = Subject(text[match.start("relation") : match.end()])
    return replace(setting, known=last)


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def parse(piece: Piece, last: Subject | None, setting: Setting) -> Parsed | None:
    text, at = piece.text, 0
    for _ in range(5):
        moved = _skip(OPENER, text, at)
        if moved == at:
            break
        at = moved
    at = _skip(HEDGE, text, at)
    start_of_time = at = _skip(re.compile(r"(?:最近|近来|目前|现在|平时|平常)+[，, ]*"), text, at)
    at = _skip(_TIME, text, at)
    time = text[start_of_time:at]
    subject, after = _subject(text, at, last, setting)
    if subject is None:
        return None
    parsed = _after_subject(text, subject, after, time)
    return replace(parsed, inherited=after == at and last is not None)


def carried(text: str, parsed: Parsed | None, last: Subject | None) -> Subject | None:
    """Whom the next clause is about, if it doesn't say."""
    if parsed is None:
        return None if is_about_another(text) else last
    if _THINKS_OF_ANOTHER.search(text):
        return None
    return parsed.subject


def _after_subject(text: str, subject: Subject, at: int, time: str) -> Parsed:
    for _ in range(3):
        moved = _skip(HEDGE, text, _skip(_ADVERBS, text, at))
        late = _skip(_TIME, text, moved)
        time, at_next = time + text[moved:late], late
        if at_next == at:
            break
        at = at_next
    return Parsed(subject, at, time)


def _subject(
    text: str, at: int, last: Subject | None, setting: Setting
) -> tuple[Subject | None, int]:
    if match := _OWN.match(text, at):
        return Subject(), match.start("thing")
    if re.compile(r"(?:我|俺|咱)们?(?=家(?:就|住|里)?[在住])").match(text, at):
        return Subject(), text.index("家", at)
    if match := _RELATIVE.match(text, at):
        return Subject(_full(match["relation"]) + (match["name"] or "")), match.end()
    if match := _WE.match(text, at):
        return Subject(), match.end()
    if match := _SELF.match(text, at):
        return Subject(), match.end()
    if match := re.compile(
        r"我(?:家|的)(?:里)?(?=养|有|在|名字|生日|性格|爱好|工作|职业|专业|老家|家乡|是?开[^，]{1,8}的|是?[种做卖][^，]{1,8}的|"
        r"身高|体重|血型|星座|兴趣|目标|梦想|理想|愿望|特长|偶像|口味|全名|业余)"
    ).match(text, at):
        return Subject(), match.end()
    for pattern in (_PRONOUN_OWN, _PRONOUN):
        if setting.known and (match := pattern.match(text, at)):
            return setting.known, match.end()
    if last is not None and not is_about_another(text[at:]):
        return (_of_new(last, text[at:], setting), at)
    said_when = _TIME.search(text[:at]) is not None
    bare = setting.opening and last is None and _subjectless(text[at:], dated=said_when)
    return (Subject(), at) if bare else (None, at)


def _full(relation: str) -> str:
    """我妈 is my 妈妈, which reads better alone."""
    return relation * 2 if len(relation) == 1 and relation in "爸妈哥姐弟妹" else relation


def _of_new(last: Subject, rest: str, setting: Setting) -> Subject | None:
    """A clause that names or describes what the clause before brought up: a pet, a child."""
    if last.label or not _DESCRIBES.match(rest):
        return last
    return setting.fresh or (None if setting.thing else last)


def _subjectless(rest: str, *, dated: bool) -> bool:
    """Chinese drops "I" at the start of a chat message: 对花生过敏，不吃香菜。"""
    if dated and re.match(r"要(?!不|是)|得|有[个场一]|需要|准备|打算|去(?:做|参加|面试)", rest):
        return True
    return bool(
        re.match(
            r"一[吃喝碰闻]|(?:也|还|最|很|平时|一般|就)*(?:喜欢(?!你)|不喜欢|讨厌|不吃|"
            r"对[^，。你这那]{1,12}过敏|住在|叫我|本人|养了|打算去|计划去|不能吃|正在(?:学|"
            r"准备)|在备考)",
            rest,
        )
    )


def moved_on(setting: Setting, text: str, said: str) -> Setting:
    """The setting after a clause: whom and what it brought up."""
    return replace(
        introduced(said, setting),
        fresh=_brought_up(text, said),
        thing=_A_THING.search(text) is not None,
    )


def _brought_up(text: str, said: str) -> Subject | None:
    match = _BRINGS_UP.search(text)
    return Subject(said[match.start("who") : match.end("who")]) if match else None
