"""Reads Chinese: clauses in, statements that the rules took out."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from memories.extraction.rules import zh, zh_dates
from memories.extraction.rules.en_clauses import Piece, Sentence
from memories.extraction.rules.masking import SECRET, simplified, traditional
from memories.extraction.rules.passing import is_passing
from memories.extraction.rules.rule import OPEN, Found, Rule, guarded_as
from memories.extraction.rules.vague import tells_nothing
from memories.extraction.rules.zh_clauses import clauses
from memories.extraction.rules.zh_dialect import dated_plainly, standard
from memories.extraction.rules.zh_frames import FRAMES
from memories.extraction.rules.zh_general import open_parse, speaks_of_nobody, without_me
from memories.extraction.rules.zh_giving_up import given_up
from memories.extraction.rules.zh_grammar import (
    HEDGE,
    OPENER,
    Parsed,
    Setting,
    Subject,
    carried,
    moved_on,
    parse,
)
from memories.extraction.rules.zh_readings import readings
from memories.extraction.rules.zh_wording import is_complete, sentence_of, trimmed

_CORRECTION = re.compile(
    r"不对|不是.{1,14}(?:而)?是|说错|搞错|记错|更正|纠正|其实(?:不是|早就|已经)|"
    r"改成|改到|改为|不再|已经不|现在(?:改|换|不)|以前.{1,20}现在|换成|推迟|提前到|"
    r"取消|(?:之前|上次|刚才|以前)(?:跟你|和你)?说(?:过|的)?我"
)
_MOVED = re.compile(r"^我(?:已经|最近|刚刚?)?搬[到去](?!这|那)[\u4e00-\u9fff]{2,6}了$")
_NEW_HOME = re.compile(r"(?:现在|如今)我?住在?|搬[到去]了?[\u4e00-\u9fff]{2}")
_LEFT_HOME = re.compile(r"(?<![\u4e00-\u9fff])我?(?:已经)?不(?:再)?住(?:在)?[\u4e00-\u9fff]{2,8}了")
# 之前跟你说我单身，现在有对象了: what was told before says nothing any more.
_TOLD_BEFORE = re.compile(
    r"(?:我)?(?:之前|上次|以前|刚才|刚刚|前面|先前|上回)(?:我)?(?:跟|和|对|同)?(?:你|您)?"
    r"(?:说|讲|提|告诉)(?:你)?(?:过)?(?:的)?|不是(?!吧|吗)"
)
# 吃素三年了 is true of the day that it was said on.
_SPAN = re.compile(r"[\d一二两三四五六七八九十几多半]个?(?:年|月|周|星期|天)多?了?$")
_NOTABLE = re.compile(
    r"面试|考试|手术|婚|领证|生日|毕业|入职|离职|辞职|出生|去世|演唱会|比赛|搬|签约|"
    r"拿到|通过|升职|确诊|怀孕|答辩|马拉松|offer|录取|买房|买车|上线|发布|截止|机票|"
    r"航班|飞|高铁|出差|注册|报名|加入|开业|退休|纪念日|体检|预约"
)


def read(sentence: Sentence, setting: Setting) -> Iterator[Found]:
    """All statements of one sentence, in order. A clause without a subject continues the last."""
    folded = replace(sentence, text=standard(sentence.text))
    subject: Subject | None = None
    corrects, opening, before_it = False, True, ""
    for piece in clauses(folded):
        corrects = corrects or _is_correction(piece, folded)
        if _is_old_home(piece, folded):
            continue
        offset = piece.start - sentence.start
        said = sentence.text[offset : offset + len(piece.text)]
        if setting.rules and (found := _instruction(piece, said, setting, corrects)):
            yield found
            continue
        who = subject.label if subject else ""
        text, before_it = given_up(piece.text, before_it, who=who), piece.text
        if setting.rules and text and (found := _read_as(text, piece, setting, corrects)):
            yield found
            continue
        if setting.rules and (
            told := list(_roundabout(piece, said, setting, corrects, bare=subject is None))
        ):
            yield from told
            setting = moved_on(setting, piece.text, said)
            subject, opening = Subject(), False
            continue
        here = replace(setting, opening=opening)
        parsed = parse(piece, subject, here)
        opening = opening and parsed is None and _says_nothing_yet(piece)
        before, subject = subject, carried(piece.text, parsed, subject)
        setting = moved_on(setting, piece.text, said)
        if found := _by_rules(piece, said, parsed, before, here, corrects):
            yield found
        elif found := _open(piece, said, parsed or open_parse(piece.text, before, here), here):
            yield replace(found, corrects=corrects)


def _by_rules(
    piece: Piece,
    said: str,
    parsed: Parsed | None,
    last: Subject | None,
    setting: Setting,
    corrects: bool,
) -> Found | None:
    """What a particular rule takes, else a general shape."""
    if not setting.rules:
        return None
    if parsed and (found := _statement(piece, said, parsed, setting, corrects)):
        return found
    return _general(piece, said, last, setting, corrects)


def _says_nothing_yet(piece: Piece) -> bool:
    """Whether what follows still opens the message: after a greeting, or a covered secret."""
    told = OPENER.fullmatch(piece.text) or _TOLD_BEFORE.match(piece.text)
    return told is not None or SECRET in piece.text or speaks_of_nobody(piece.text)


def _general(
    piece: Piece, said: str, last: Subject | None, setting: Setting, corrects: bool
) -> Found | None:
    """What no particular rule takes, by the general frames."""
    text, said = without_me(piece.text, said)
    parsed = open_parse(text, last, setting, topical=text != piece.text)
    if parsed is None or len(text) - parsed.begin < 2:
        return None
    told, who = replace(piece, text=text), "other" if parsed.subject.label else "self"
    for rules in (zh.PREDICATES, FRAMES):
        for taken in rules.matching(text[parsed.begin :], who=who):
            if parsed.inherited and not taken[0].inherits:
                continue
            if found := _found(taken, said, parsed, told, setting, corrects):
                return replace(found, end=piece.start + len(piece.text))
    return None


def _open(piece: Piece, said: str, parsed: Parsed | None, setting: Setting) -> Found | None:
    """The clause only worded, for the classifier to judge."""
    if parsed is None or len(piece.text) - parsed.begin < 2:
        return None
    match = OPEN.pattern.match(piece.text[parsed.begin :])
    return _found((OPEN, match), said, parsed, piece, setting, False) if match else None


def _roundabout(
    piece: Piece, said: str, setting: Setting, corrects: bool, *, bare: bool
) -> Iterator[Found]:
    for text in readings(piece.text, said, bare=bare):
        if found := _read_as(text, piece, setting, corrects):
            yield found


def _read_as(text: str, piece: Piece, setting: Setting, corrects: bool) -> Found | None:
    """What `text` says, where it stands for the clause."""
    told = replace(piece, text=simplified(text))
    parsed = parse(told, None, setting)
    taken = parsed and _statement(told, text, parsed, setting, corrects)
    found = taken or _general(told, text, None, setting, corrects)
    return found and replace(found, start=piece.start, end=piece.end)


def _instruction(piece: Piece, said: str, setting: Setting, corrects: bool) -> Found | None:
    for taken in zh.INSTRUCTIONS.matching(piece.text, who="self"):
        if found := _found(taken, said, Parsed(Subject(), 0, ""), piece, setting, corrects):
            return found
    return None


def _statement(
    piece: Piece, said: str, parsed: Parsed, setting: Setting, corrects: bool
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
    parsed: Parsed,
    piece: Piece,
    setting: Setting,
    corrects: bool,
) -> Found | None:
    rule, match = taken
    predicate = _worded(rule, match, said[parsed.begin :])
    predicate = dated_plainly(predicate)
    text = predicate if rule.timeless else parsed.time.replace("，", "") + predicate
    past = _is_past(rule, predicate)
    text, when = (
        (text, None) if rule.timeless else zh_dates.resolve(text, today=setting.today, past=past)
    )
    if (rule.dated and when is None) or not is_complete(text):
        return None
    if when is not None and not _in_its_time(rule, when, setting.today, text):
        return None
    if tells_nothing(guarded_as(rule), text, language="zh", named=bool(parsed.subject.label)):
        return None
    if is_passing(guarded_as(rule), text, when=when, today=setting.today, notable=_NOTABLE):
        return None
    if parsed.subject.label and "我" in text:
        return None
    if rule.data.get("shape") == "birthday":
        text = f"生日是{when.month}月{when.day}日" if when else text
    if rule.data.get("shape") == "age" and when is None:
        text = f"{setting.today.year}年{text}"
    if rule.data.get("lasts") and when is None and _SPAN.search(simplified(text)):
        text = f"{text}（截至{setting.today.year}年{setting.today.month}月）"
    content = sentence_of(text, _as_written(parsed.subject, said), setting.speaker)
    return Found(
        rule,
        content,
        piece.start,
        piece.start + len(said),
        "zh",
        when=when,
        hedged=bool(HEDGE.search(piece.text[: parsed.begin + 1])),
        corrects=corrects or bool(rule.data.get("corrects")),
    )


def _as_written(subject: Subject, said: str) -> Subject:
    """Named in the characters that the person writes."""
    return subject if simplified(said) == said else Subject(traditional(subject.label))


def _in_its_time(rule: Rule, when: date, today: date, text: str) -> bool:
    """A plan lies ahead, what happened lies behind; a month counts as its first day.

    「今天不喝咖啡了」 is over tomorrow, 「从今天起不喝酒了」 isn't.
    """
    if rule.data.get("shape") == "lasting":
        return when < today - timedelta(days=6) or "起" in text
    if rule.data.get("shape") == "future":
        return when >= today.replace(day=1)
    if rule.data.get("shape") == "long_past":
        return when < today - timedelta(days=6)
    return rule.data.get("shape") != "past_only" or when <= today


def _worded(rule: Rule, match: re.Match[str], said: str) -> str:
    say = rule.say if simplified(said) == said else traditional(rule.say)
    if not rule.say or rule.data.get("shape") == "as_said":
        return trimmed(said[match.start() : match.end()])
    groups = {
        name: trimmed(said[match.start(name) : match.end(name)]) if match[name] else ""
        for name in match.re.groupindex
    }
    return say.format(**groups)


def _is_correction(piece: Piece, sentence: Sentence) -> bool:
    if _CORRECTION.search(piece.text) or _MOVED.search(piece.text):
        return True
    if _NEW_HOME.search(piece.text) and _LEFT_HOME.search(sentence.text):
        return True
    before = sentence.text[: piece.start - sentence.start]
    if re.search(r"不是[^，。]{1,14}[，,]\s*$", before) and re.match(
        r"(?:而|我|应该)*是", piece.text
    ):
        return True
    return bool(
        re.match(r"(?:但|而|不过)?(?:现在|如今)", piece.text)
        and re.search(r"以前|之前|原来|曾经|本来", before)
    )


def _is_old_home(piece: Piece, sentence: Sentence) -> bool:
    """现在住在上海，不住杭州了: the second half only says that the first is new."""
    return bool(_LEFT_HOME.fullmatch(piece.text) and _NEW_HOME.search(sentence.text))


def _is_past(rule: Rule, predicate: str) -> bool:
    if rule.kind == "task":
        return False
    if "了" in predicate[:6]:
        return True
    ahead = re.match(r"(?:要|准备|打算|快|马上|即将|就要)", predicate)
    return rule.kind == "event" and ahead is None and re.search("[了过]", predicate) is not None
