"""The pieces of grammar that rows of zh.py name in angle brackets."""

from collections.abc import Mapping
from typing import Any

from memories.extraction.rules.rule import Rule, Table, compile_pattern
from memories.extraction.rules.zh_words import (
    CONDITIONS,
    JOBS,
    KIN,
    LANGUAGES,
    MODES,
    PETS,
    RELATIONS,
    STATES,
)

_NO_TASTE = (
    r"(?!你|您|这|那|它|他|她|的|上了|听你|和你|跟你|与你|同你|看你|说话|什么|哪|谁|"
    r"一下|不释手|一个人静|怎么|莫能助|吗|呢|问|死|惨|多少|听到|分享|过$|了$)"
)
PIECES: Mapping[str, str] = {
    "x": r"(?P<x>.{1,40})",
    "object": rf"{_NO_TASTE}(?P<x>.{{1,40}})",
    "liking": rf"(?!(?:{MODES})(?:了|呢|啊|啦)?$){_NO_TASTE}(?P<x>.{{1,40}})",
    "mode": rf"(?:{MODES})",
    "job": rf"(?P<x>[^，。的是]{{0,12}}?的?[^，。的是]{{0,8}}?(?:{JOBS}))(?:了|的|啊|呢|哦|"
    r"呀|哈|吧)*$",
    "condition": rf"(?:{CONDITIONS})",
    "state": rf"(?:{STATES})",
    "kin": rf"(?:{KIN})",
    "pet": rf"(?:{PETS})",
    "relation": rf"(?:{RELATIONS})",
    "language": rf"(?:{LANGUAGES})",
    "number": r"(?:\d+|[一二两三四五六七八九十几]+)",
    "very": r"(?:很|非常|特别|超级?|挺|蛮|比较|十分|相当|真的?|最|尤其|更|都|也|还|一直|"
    r"从小|就|平时|平常|主要|一般|蛮|有点|有些|老|可|贼|巨|不太|不怎么|不是很)*",
    "rhythm": (
        r"每(?:个|隔|一)?(?:天|日|周|星期|礼拜|月|年|晚|早|次|到|逢|半|两|三|"
        r"[一二三四五六日天末])"
        r"|(?:经常|常常|常|通常|一般|总是|总会|总|平时|平常|习惯(?:了|于|性)?|偶尔会|"
        r"周末|工作日|早上|晚上|睡前|饭后|下班后|下班|有空就|闲下来|一有空|空闲时间|"
        r"业余时间|休息时间|闲暇时间|周[一二三四五六日]到)"
    ),
    # 周末想去爬山 is about this weekend: no rhythm.
    "once": (
        r"(?:我们?)?(?:这个?)?(?:周末|早上|上午|中午|下午|傍晚|晚上|夜里|睡前|饭后|下班后?)"
        r"(?:我们?)?(?:还|也|就|又)?(?:想|要|得|打算|准备|计划|约了?)"
    ),
    "plan": r"(?:准备|打算|计划|决定|想要|想|希望|要|将要?|会|得|约了|报了名?|报名了?|"
    r"预约了?|订了|买了|定了)",
    "aim": (
        r"(?:去(?!户外玩|刷)[^看找试问聊睡吃一问尝做]|到.{1,8}(?:旅|玩|定居|工作|留学|读)|学(?:习|会|"
        r"好|完)?(?!一下|到)|买|换(?:个|一?份|工作|手机|车|城市|专业|房)|考(?!虑)|当|"
        r"做(?:一?[个名]|手术|生意|自由|自媒体)|成为|开(?:一?家|店|公司|个|餐|咖啡|"
        r"工作室|花店)|"
        r"搬|移民|留学|出国|创业|辞职|跳槽|转行|转岗|减肥|减重|减到|瘦到?|健身|戒|结婚|"
        r"要(?:个|二胎|孩子)|生(?:个|二胎|孩子)|养(?:一?[只条个])?|写(?:一?[本部篇个]|"
        r"书|小说|论文|完)|读(?:博|研|完|博士|研究生|在职)|参加|报(?:名|考|个)|"
        r"装修|旅[行游]|转码|骑(?:一[次趟圈]|车)|减(?:碳水|脂|糖|盐)|开始减|申请|存(?:钱|够)|攒(?:钱|够)|还(?:完|清)|跑(?:完|马|一?[个场次]|"
        r"半马|全马)|攀登|爬(?:遍|华山|泰山|黄山|珠峰)|登|挑战|环游|自驾|徒步|骑行|"
        r"组(?:个|建)|办|举办|开始(?:学|健身|跑步|写|练|创业|做)|提高|提升|改善|改掉|"
        r"塑造|练(?:习|好|出|成)|完成|实现|拿(?:到|下)|通过|进入|加入|退休|回(?:老家|国)"
        r"|发展|从事|投资|买房|买车|拍摄?(?!手)|录|发布|上线)"
    ),
    "duration": r"[\d一二两三四五六七八九十几好半多]+(?:多|来)?个?(?:年|月|周|星期|天)(?:多|半)"
    r"?(?:了|时间)?",
}


def rule(
    code: str, kind: str, importance: float, confidence: float, pattern: str, **more: Any
) -> Rule:
    return Rule(
        f"zh.{code}", kind, importance, confidence, compile_pattern(pattern, PIECES), **more
    )


def table(*rows: Rule) -> Table:
    return Table(rows)
