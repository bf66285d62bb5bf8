"""Chinese clauses that no particular rule takes: whom they are about, and the part that says it.

`open_parse` sees more subjects than zh_grammar.parse does: kin without 我 (儿子在军校), one's own
things and groups (我们班, 店里, 老家), a topic before 我 (绘本我偏向买硬壳的), and clauses that
leave the speaker out. A clause that begins with anybody else's name is nobody's statement here.
"""

import re

from memories.extraction.rules.zh_frames import IDLE, WEIGHS
from memories.extraction.rules.zh_grammar import Parsed, Setting, Subject
from memories.extraction.rules.zh_pos import begins_with_noun, begins_with_predicate
from memories.extraction.rules.zh_words import BARE_KIN, OWN_GROUPS, OWN_THINGS

_LEAD = re.compile(
    r"(?:(?:嗯+|哦+|啊|哎呀?|对了?|其实|不过|但是?|而且|所以|然后|只是|只不过|关键是?|主要是|"
    r"就是|另外|反正|说实话|另|话说|算了|我(?:是说|的意思是|想说的?是)(?=我)|因为|毕竟|"
    r"我收回前面那句)[，, ]*)*(?:是(?=喜欢|爱|在|住|"
    r"做|对|想|要|怕|不(?!是)))?"
)
_TIME = re.compile(
    r"(?:(?:大前天|前天|昨天|昨晚|今天|今晚|今早|明天|明晚|明早|后天|大后天|去年|前年|今年|明年|"
    r"后年|"
    r"(?:上|下|这|本|当)个?(?:学期|季度|半年|年|月|周|星期|礼拜)[一二三四五六日天初底中头]?|"
    r"[一二三四五六日\d]+(?:月|月份)|(?:周|星期|礼拜)[一二三四五六日天]|"
    r"\d{1,2}[号日]|国庆|五一|元旦|春节|中秋|端午|圣诞|暑假|寒假|过年|年底|年初|月底|月初|年前|"
    r"年后|开春|入冬|立秋|霜降|腊月|正月|最近|目前|现在|现|以前|早年|原来|本来|平时|平常|从小|"
    r"打小|小时候)"
    r"(?:底|初|末|头|份|前|后|之前|以前|之后|春上|秋上|冬天|夏天|春天|秋天|的时候|那年|"
    r"[一二三四五六七八九十\d]{1,3}[号日]|早上|上午|中午|下午|晚上|凌晨|"
    r"[\d一二三四五六七八九十]+点半?|，)*)+"
)
_RELATION = re.compile(
    rf"(?:(?:我|我们|咱们|俺)(?:们)?(?:家|屋)?(?:里)?的?(?:那个?|这个?|只)?)?(?:[大小二三]|最好的|"
    rf"前|亲|同宿舍的|隔壁床的)?"
    rf"(?P<who>(?:{BARE_KIN})(?:(?<=[徒室舍同])[友])?)(?P<name>(?:阿|小|"
    rf"老)[\u4e00-\u9fff](?=[也在是就都跟])|[A-Z][a-z]+)?"
    r"(?![们妈爸迷粮节费问亲之间]|的(?!名字|生日|时候)|说|讲|问|告诉|觉得|认为|常说|总说|老说|"
    r"老是|画|骂|夸|劝|笑|怎|为|不让|让|叫我|给我|跟我|对我|催)"
)
_GROUP = re.compile(rf"(?:我|我们|咱们?|俺们?)?(?:这|那)?(?:{OWN_GROUPS})(?![的人])")
_OUR_GROUP = re.compile(r"(?:我们|咱们?|俺们?|我)(?P<group>[班村组店科厂队])(?:里)?(?![长主的])")
_THING = re.compile(rf"(?:我|我们|我这|自己|家里)?(?:的)?(?={OWN_THINGS})")
_TOPIC_SELF = re.compile(
    rf"(?P<topic>(?!(?:{BARE_KIN})|不过|但|而|可是|所以|因为|如果|其实|虽然|反正|谢|哈|嗯|对|是|"
    rf"好|没|别|让|给|帮|他|她|它|这|那|有人|谁|听|看来|感觉|觉得|说|老师|老板|朋友|同事|人家|"
    rf"别人|"
    r"今天|昨天|刚)[^，。我你他她它]{2,12}?)(?<![给对跟让帮和被比叫把向问像])(?:我|俺|咱)(?!们|的|爸|妈|爹|家|觉|感|认|想|就想|"
    r"要是|说|也想|知|怎|该|能不能|可以|国|去|来|是|也是)"
)
_SELF = re.compile(
    r"(?:我|俺|咱|本人)(?:自己|本人|个人|这人|这个人|这边|呢|啊|这)?(?!们|国|方|校|的|觉|感|认|"
    r"相信|建议|怀疑|猜|想问|想知|想说|说|知道|听说|以为|希望|求|服|靠|去|擦|倒|就想问|们)"
)
_ADVERBS = re.compile(
    r"(?:也|还|都|就|真的?|其实|确实|一直|现在|目前|最近|刚刚?|才|已经|终于|主要|又|可|个人|特别|"
    r"非常|超级?|很|挺|蛮|比较|相当|贼|老|太|有点|偶尔|总共|尤其|平时|平常|整|那|这|至今|向来|"
    r"反倒|本来|倒|仲|好)+(?=[^，。的]{2})"
)


def open_parse(
    text: str, last: Subject | None, setting: Setting, *, topical: bool = False
) -> Parsed | None:
    """Whom `text` is about and where its predicate begins, or None.

    `topical`: the topic was moved behind 我 (`without_me`).
    """
    if IDLE.search(text) or WEIGHS.search(text):
        return None
    if topical:
        return Parsed(Subject(), _end(_SELF_SIGN, text, _end(_LEAD, text, 0)), "")
    at = _end(_LEAD, text, 0)
    begin = at
    at = _end(_TIME, text, at)
    found = _subject(text, at, last, setting)
    if found is None:
        return None
    subject, after, inherited = found
    time = text[begin:at]
    moved = _end(_ADVERBS, text, after)
    late = _end(_TIME, text, moved)
    if late > moved:
        time, moved = time + text[moved:late], _end(_ADVERBS, text, late)
    return Parsed(subject, moved, time.strip("，, "), inherited)


# Taken for nouns by the segmenter.
_VERBS = re.compile(r"偏|喜|爱|最|更|认|惯|习|讨|受|只|不|就|都|必|一般|从|坚|宁|情|吃|喝")


def _names_another(rest: str) -> bool:
    return begins_with_noun(rest) and not _VERBS.match(rest)


def without_me(text: str, said: str) -> tuple[str, str]:
    """绘本我偏向买硬壳的 as 我绘本偏向买硬壳的, in both spellings: the predicate has the topic."""
    match = _TOPIC_SELF.match(text, _end(_LEAD, text, 0))
    if match is None or _names_another(text[match.end() :]):
        return text, said
    at = match.start("topic")
    return tuple(  # type: ignore[return-value]
        one[:at] + "我" + one[at : match.end("topic")] + one[match.end() :] for one in (text, said)
    )


_SELF_SIGN = re.compile("我")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _subject(
    text: str, at: int, last: Subject | None, setting: Setting
) -> tuple[Subject, int, bool] | None:
    if match := _RELATION.match(text, at):
        who = match["who"]
        label = who * 2 if len(who) == 1 and who in "爸妈哥姐弟妹" else who
        return Subject(label + (match["name"] or "")), match.end(), False
    if match := _OUR_GROUP.match(text, at):
        return Subject(match["group"] + "里"), match.end(), False
    if _GROUP.match(text, at) or _THING.match(text, at):
        return Subject(), _after_me(text, at), False
    if match := _SELF.match(text, at):
        after = _end(_TIME, text, _end(_ADVERBS, text, match.end()))
        return None if begins_with_noun(text[after:]) else (Subject(), match.end(), False)
    return _left_out(text, at, last, setting)


# 我们家从来不吃羊肉 is said of all of us: without 我们 its 家 would hang in the air.
_OUR_HOUSEHOLD = re.compile(
    r"(?:我|咱|俺)们家(?:里)?(?=从|不|没|都|每|一般|只|也|平时|平常|常|总|天天|很少|很|最|爱|喜欢|吃|喝)"
)


def _after_me(text: str, at: int) -> int:
    """店里雇了两个小工 keeps its 店里, 我膝盖不行 loses its 我."""
    whole = _end(_OUR_HOUSEHOLD, text, at)
    if whole > at:
        return whole
    return _end(re.compile(r"(?:我们?俩?|咱们?俩?|俺们?)的?(?=[^们])"), text, at)


def _left_out(
    text: str, at: int, last: Subject | None, setting: Setting
) -> tuple[Subject, int, bool] | None:
    rest = text[_end(_ADVERBS, text, at) :]
    if len(rest) < 2 or not (begins_with_predicate(rest) or _own_shape(rest)):
        return None
    if last is not None:
        return last, at, True
    return (Subject(), at, True) if setting.opening else None


def speaks_of_nobody(text: str) -> bool:
    """搬走了: whoever it is about, what follows is still about the speaker."""
    return len(text) <= 8 and begins_with_predicate(text) and WEIGHS.search(text) is None


_OWN_SHAPE = re.compile(
    r"[^，。你他她我]{0,8}(?:期中|期末|考试|面试|答辩|家长会|婚礼|手术|体检|年会|发布会|演出|"
    r"比赛|截止|到期)|[^，。你他她]{0,6}(?:过敏|文化|出身|学历|一枚|党龄|工龄|近视|后?人$|单身|"
    r"在读)|[\d一二三四五六七八九十]+(?:岁|后)|[二三四五六七八]十[一二三四五六七八九]?$|"
    r"[06789]\d|双非|体重|身高|坐标|周[一二三四五六日]|"
    r"每|逢|天天|早上|晚上|中午|周末"
)


def _own_shape(rest: str) -> bool:
    return _OWN_SHAPE.match(rest) is not None
