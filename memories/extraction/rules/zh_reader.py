"""Reads Chinese: clauses in, statements that the rules took out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from memories.extraction.rules import zh, zh_dates
from memories.extraction.rules.en_clauses import Piece, Sentence
from memories.extraction.rules.masking import SECRET, simplified
from memories.extraction.rules.passing import is_passing
from memories.extraction.rules.rule import Found, Rule
from memories.extraction.rules.zh_clauses import clauses, is_about_another
from memories.extraction.rules.zh_words import PETS, RELATIONS

_OPENER = re.compile(
    r"(?:嗯+|哦+|噢|啊+|哎呀?|唉|诶|喂|嗨|哈喽|你好(?:呀|啊)?|您好|早上好|晚上好|下午好|好(?:的|吧|啊|呀)|是的|对(?:了|啊|呀|的)?(?=[，,、 ]|我|其实|还)|没错|不是(?=[，,]|我)|不对|不|"
    r"其实|另外|此外|还有|顺便(?:说一下|说一句|一提|告诉你)?(?:一件事情?)?|话说(?:回来)?|说起来|说实话|老实说|实话实说|坦白说|不瞒你说|不过|但是?|可是|然而|而且|并且|所以|因为|"
    r"由于|然后|那么?|哈哈+|嘿嘿|嘻嘻|呃|额|介绍一下|自我介绍一下|告诉你(?:一个)?(?:好消息|秘密)?|跟你说|和你说|你知道吗?|要知道|AI伴侣|朋友|亲|当然|确实|的确|"
    r"总之|反正|毕竟|首先|其次|最后|第一|第二|比如说?|例如|虽然|尽管|既然|"
    r"更正一下|纠正一下|说错了|我说错了|搞错了|补充一下|补充一点|备注|背景|"
    r"我(?:觉得|认为|发现|想说(?:的是)?|是说|意思是|记得|知道|承认|得说|要说|必须说|忘了说|忘记说|说过|跟你说过?|告诉过你|真心觉得|感觉)(?=我)|"
    r"谢谢(?:你|您)?(?:的建议)?|忘了说|对了忘了说|悄悄告诉你|好消息是|坏消息是|值得一提的是|事实上|实际上|事实是)[，,、：: !！~]*"
)
_HEDGE = re.compile(r"(?:可能|也许|大概|好像|似乎|应该|或许|说不定|估计|不确定)")
_CORRECTION = re.compile(
    r"不对|不是.{1,14}(?:而)?是|说错|搞错|记错|更正|纠正|其实(?:我|是)|改成|改到|改为|不再|已经不|现在(?:改|换|不)|以前.{1,20}现在|换成|推迟|提前到|取消"
)
_SELF = re.compile(r"(?:我(?:自己|本人|个人|这个人|这人|呢|啊)?|本人|俺|咱(?!们)|在下)(?!们|国|方|的|家|校|觉得|感觉|认为|相信)")
_WE = re.compile(r"(?:我们|咱们|我俩|我们俩|我跟[^，。]{1,6}|我和[^，。]{1,6})(?=一起|都|准备|打算|计划|结婚|养|有|住|要|下|明|去|在|刚|每|是|想|领|买|搬|订|离)")
_RELATIVE = re.compile(
    rf"(?:我|我们|咱们?|俺)(?:家|们家|们)?(?:里)?的?(?:[大小二三]|最好的|亲|前|新|那个|这个|[\d一二三四五六七八九十]+岁的)?(?P<relation>{RELATIONS})"
    r"(?P<name>[A-Z][a-z]+)?(?![们妈爸迷粮])"
)
_OWN = re.compile(
    r"(?:我|我们)(?:家)?的(?P<thing>(?:微信|手机号?码?|电话|邮箱|公司|车|专业|英文名|网名|昵称|小名|外号|预算|论文|研究方向|产品|项目|母校|时区|作息|座右铭|房子|家|"
    r"工资|月薪|房租|婚礼|结婚纪念日|生日|航班|面试|手术|考试|答辩|签证|合同|飞机|高铁|护照|毕业典礼|预产期|截止日期|DDL|ddl))"
)
_PRONOUN = re.compile(r"(?:他|她|它|他们|她们|它们)(?!说|问|告诉|的|觉得|认为|人)")
_PRONOUN_OWN = re.compile(r"(?:他|她|它)的(?=名字|生日|职业|工作|爱好)")
_TIME = re.compile(
    r"(?:(?:自从|自|从|在|到|等|截至)?(?:(?:19|20)\d\d年|前年|去年|今年|明年|后年)?的?(?:(?:上|下|这|本)个?(?:周|星期|礼拜|月)[一二三四五六日天末初底中]?|(?:\d{1,2}|[一二三四五六七八九十]{1,2})月份?(?:(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]|[初底中])?|"
    r"大前天|前天|昨天|昨晚|今天|今晚|今早|明天|明晚|明早|后天|大后天|周[一二三四五六日末]|星期[一二三四五六日天]|(?:\d{1,2}|[一二三四五六七八九十]{1,3})[号日](?!线|楼)|年底|年初|月底|月初|"
    r"[\d一二两三四五六七八九十]+个?(?:年|月|天|周|星期)(?:前|后|以前|以后|之前|之后)|(?:春节|国庆|五一|元旦|中秋|暑假|寒假|春天|夏天|秋天|冬天))?"
    r"(?:的)?(?:早上|上午|中午|下午|傍晚|晚上|凌晨)?(?:[\d一二两三四五六七八九十]+点半?)?(?:的时候|开始|起|之前|前|以来)?)"
)
_ADVERBS = re.compile(
    r"(?:也|还是|还|都|就是|就|真的|其实|确实|的确|一直以来|一直|现在|目前|最近|近来|近期|这几天|这段时间|这阵子|这两天|本来|刚刚|刚|才|已经|终于|主要|基本上|实在|又|可|个人|自己|这个人|本身|"
    r"当然|特别|非常|超级|很|蛮|挺|比较|十分|相当|真|有点|有些|稍微|偶尔也|一共|总共|尤其|主要是|一般都|的话|呢|啊|平时|平常|，|,|、)+"
)
_THINKS_OF_ANOTHER = re.compile(r"(?:知道|觉得|听说|希望|认为|相信|发现|看到|担心|感觉|讨厌|喜欢)[^，]{0,4}[他她它你]|讲述|讲的是")
_DESCRIBES = re.compile(r"(?:名字)?(?:叫|名叫|取名|名字是|名为|是一?[只条个位名部本家款种道]|(?:今年|刚|已经|才)*[\d一二两三四五六七八九十]+(?:岁|个月大)|讲|里面|味道|收藏|特别粘人|很乖|很可爱|品种)")
_BRINGS_UP = re.compile(rf"(?:有|养|生|领养|收养|捡|买)(?:了|过|着)?(?:\d+|[一二两三四五]|几)?[个只条位名对匹](?:[^，。]{{0,8}}的)?(?:[^，。的]{{0,4}}?)(?P<who>(?:{RELATIONS}|{PETS}))$")
_NOTABLE = re.compile(r"面试|考试|手术|婚|领证|生日|毕业|入职|离职|辞职|出生|去世|演唱会|比赛|搬|签约|拿到|通过|升职|确诊|怀孕|答辩|马拉松|offer|录取|买房|买车|上线|发布|截止|机票|航班|飞|高铁|出差|注册|报名|加入|开业|退休|纪念日|体检|预约")
_CUT = re.compile(r"(?:因为|所以|但是?|不过|而且|可是|然后|以至于|以便|毕竟|只是|让我|使我|令我|感觉|觉得|导致|来(?:缓解|充实|丰富)).*")
_FLUFF = re.compile(r"(?:[啊呀哦啦嘛哈呢吧噢喔诶哟哇嘞咯呗滴~～\s、，,.。!！…]|的说|来着|什么的|之类的|等等|等$|真的$|哈哈+|嘿嘿|而已|罢了|的时候$|左右了|吧)+$")
_POINTING = re.compile(r"它|那里|那儿|这里|这儿|这个|那个|这样|那样|这些|那些|这种|那种|这[道本部首家件份次位天点]|那[道本部首家件份次位天边]|[你您]|其中|上述|某[些个种]|什么|怎|这么|那么|此(?!外)|前者|后者|该[公项]|刚才|时候$|我们|咱们|一切|下次|上次|有空|回头|里面|剧情")
_THIRD = re.compile(r"[他她]")
MARK = "[已隐去]"


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


@dataclass(frozen=True)
class _Parsed:
    """Offsets count from the start of the clause. `time` stood before the subject or after it."""

    subject: Subject
    begin: int
    time: str
    inherited: bool = False


def read(sentence: Sentence, setting: Setting) -> Iterator[Found]:
    """All statements of one sentence, in order. A clause without a subject continues the last."""
    folded = replace(sentence, text=simplified(sentence.text))
    subject: Subject | None = None
    corrects = False
    for piece in clauses(folded):
        corrects = corrects or bool(_CORRECTION.search(piece.text))
        offset = piece.start - sentence.start
        said = sentence.text[offset : offset + len(piece.text)]
        if found := _instruction(piece, said, setting, corrects):
            yield found
            continue
        parsed = _parse(piece, subject, setting)
        setting = replace(setting, fresh=_brought_up(piece.text, said))
        subject = _carried(piece.text, parsed, subject)
        if parsed and (found := _statement(piece, said, parsed, setting, corrects)):
            yield found


def introduced(text: str, setting: Setting) -> Setting:
    """`setting` knowing the one person or animal that `text` spoke of last."""
    folded = simplified(text)
    last = setting.known
    for match in re.finditer(rf"(?:我|我们|[只条个])(?:家|们家)?的?[\u4e00-\u9fff]{{0,3}}?(?P<relation>{RELATIONS})(?P<name>[A-Z][a-z]+)?", folded):
        last = Subject(text[match.start("relation") : match.end()])
    return replace(setting, known=last)


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _parse(piece: Piece, last: Subject | None, setting: Setting) -> _Parsed | None:
    text, at = piece.text, 0
    for _ in range(5):
        moved = _skip(_OPENER, text, at)
        if moved == at:
            break
        at = moved
    at = _skip(_HEDGE, text, at)
    start_of_time = at = _skip(re.compile(r"(?:最近|近来|目前|现在|平时|平常)+[，, ]*"), text, at)
    at = _skip(_TIME, text, at)
    time = text[start_of_time:at]
    subject, after = _subject(text, at, last, setting)
    if subject is None:
        return None
    parsed = _after_subject(text, subject, after, time)
    return replace(parsed, inherited=after == at and last is not None)


def _carried(text: str, parsed: _Parsed | None, last: Subject | None) -> Subject | None:
    """Whom the next clause is about if it doesn't say: 我养了一只猫，叫豆豆 goes on about the cat."""
    if parsed is None:
        return None if is_about_another(text) else last
    if _THINKS_OF_ANOTHER.search(text):
        return None
    return parsed.subject


def _after_subject(text: str, subject: Subject, at: int, time: str) -> _Parsed:
    for _ in range(3):
        moved = _skip(_HEDGE, text, _skip(_ADVERBS, text, at))
        late = _skip(_TIME, text, moved)
        time, at_next = time + text[moved:late], late
        if at_next == at:
            break
        at = at_next
    return _Parsed(subject, at, time)


def _subject(
    text: str, at: int, last: Subject | None, setting: Setting
) -> tuple[Subject | None, int]:
    if match := _OWN.match(text, at):
        return Subject(match["thing"]), match.end()
    if match := _RELATIVE.match(text, at):
        return Subject(match["relation"] + (match["name"] or "")), match.end()
    if match := _WE.match(text, at):
        return Subject(), match.end()
    if match := _SELF.match(text, at):
        return Subject(), match.end()
    if match := re.compile(r"我(?:家|的)(?:里)?(?=养|有|在|名字|生日|性格|爱好|工作|职业|专业|老家|家乡|身高|体重|血型|星座|兴趣|目标|梦想|理想|愿望|特长|偶像|口味|全名|业余)").match(text, at):
        return Subject(), match.end()
    for pattern in (_PRONOUN_OWN, _PRONOUN):
        if setting.known and (match := pattern.match(text, at)):
            return setting.known, match.end()
    if last is not None and not is_about_another(text[at:]):
        return (_of_new(last, text[at:], setting), at)
    return (Subject(), at) if _subjectless(text[at:]) else (None, at)


def _of_new(last: Subject, rest: str, setting: Setting) -> Subject | None:
    """A clause that names or describes what the clause before brought up: a pet, a child."""
    if last.label or not _DESCRIBES.match(rest):
        return last
    return setting.fresh


def _subjectless(rest: str) -> bool:
    """Chinese drops "I" at the start of a chat message: 对花生过敏，不吃香菜。"""
    return bool(re.match(r"(?:也|还|最|很|平时|一般|就)*(?:喜欢(?!你)|不喜欢|讨厌|不吃|对[^，。你这那]{1,12}过敏|住在|叫我|本人|养了|打算去|计划去|不能吃|正在(?:学|准备)|在备考)", rest))


def _instruction(piece: Piece, said: str, setting: Setting, corrects: bool) -> Found | None:
    for taken in zh.INSTRUCTIONS.matching(piece.text, who="self"):
        if found := _found(taken, said, _Parsed(Subject(), 0, ""), piece, setting, corrects):
            return found
    return None


def _statement(
    piece: Piece, said: str, parsed: _Parsed, setting: Setting, corrects: bool
) -> Found | None:
    predicate = piece.text[parsed.begin :]
    if len(predicate) < 2:
        return None
    who = "other" if parsed.subject.label else "self"
    for taken in zh.PREDICATES.matching(predicate, who=who):
        if parsed.inherited and not taken[0].inherits:
            continue
        if found := _found(taken, said, parsed, piece, setting, corrects):
            return found
    return None


def _found(
    taken: tuple[Rule, re.Match[str]],
    said: str,
    parsed: _Parsed,
    piece: Piece,
    setting: Setting,
    corrects: bool,
) -> Found | None:
    rule, match = taken
    predicate = _worded(rule, match, said[parsed.begin :])
    text = predicate if rule.timeless else parsed.time.replace("，", "") + predicate
    past = _is_past(rule, predicate)
    text, when = (text, None) if rule.timeless else zh_dates.resolve(text, today=setting.today, past=past)
    if (rule.dated and when is None) or not _is_complete(text):
        return None
    if is_passing(rule.kind, text, when=when, today=setting.today, notable=_NOTABLE):
        return None
    if rule.data.get("shape") == "age" and when is None:
        text = f"{setting.today.year}年{text}"
    content = _sentence(text, parsed.subject, setting.speaker)
    return Found(
        rule, content, piece.start, piece.start + len(said), "zh", when=when,
        hedged=bool(_HEDGE.search(piece.text[: parsed.begin + 1])),
        corrects=corrects or bool(rule.data.get("corrects")),
    )  # fmt: skip


def _worded(rule: Rule, match: re.Match[str], said: str) -> str:
    if not rule.say or rule.data.get("shape") == "as_said":
        return _trimmed(said[match.start() : match.end()])
    groups = {
        name: _trimmed(said[match.start(name) : match.end(name)]) if match[name] else ""
        for name in match.re.groupindex
    }
    return rule.say.format(**groups)


def _trimmed(text: str) -> str:
    text = _CUT.sub("", text)
    text = re.sub(r"^(?:也|还|都|就|很|非常|特别|超级|挺|蛮|比较|十分|真的|一直|其实|的)+(?=[^，]{2})", "", text)
    return _FLUFF.sub("", text)


def _brought_up(text: str, said: str) -> Subject | None:
    match = _BRINGS_UP.search(text)
    return Subject(said[match.start("who") : match.end("who")]) if match else None


def _is_past(rule: Rule, predicate: str) -> bool:
    return rule.kind == "event" and not re.match(r"(?:要|准备|打算|快|马上|即将|就要)", predicate) or "了" in predicate[:6]


def _is_complete(text: str) -> bool:
    if not 2 <= len(text) <= 90 or _POINTING.search(text) or zh_dates.LEFT_OVER.search(text):
        return False
    third = _THIRD.search(text)
    return third is None or bool(re.search(RELATIONS, text[: third.start()]))


def _sentence(text: str, subject: Subject, speaker: str) -> str:
    text = text.replace("我的", "自己的").replace("我", "自己")
    text = re.sub(f"{SECRET}+", MARK, text)
    if subject.label:
        return f"{speaker}的{subject.label}{text}" if speaker else f"{subject.label}{text}"
    return f"{speaker}{text}"
