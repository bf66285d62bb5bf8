""" "Remember that …" is always taken: by a rule where one fits, otherwise as it was said."""

import re
from datetime import date

from memories.extraction.rules import en_dates, zh_dates
from memories.extraction.rules.en_grammar import parse_clause
from memories.extraction.rules.en_wording import ours, sentence, stands_alone, trimmed
from memories.extraction.rules.masking import COVER, simplified
from memories.extraction.rules.rule import Found, Rule, compile_pattern

_ANYTHING = compile_pattern(".*", {})
# The first that fits says what kind of statement a remembered sentence is.
_KINDS = (
    (
        "constraint",
        r"allerg|intoleran|never |must ?n[o']t|do(?:es)?n't (?:eat|drink)|can't (?:eat|"
        r"have)|avoid|过敏|過敏|不能|不吃|不喝|忌|禁止|不许|不要|别",
    ),
    (
        "preference",
        r"prefer|favou?rite|\b(?:like|love|hate|dislike|enjoy)s?\b|answer|repl(?:y|ies)|"
        r"喜欢|喜歡|讨厌|討厭|偏好|最爱|习惯用|回答",
    ),
    (
        "task",
        r"\b(?:deadline|due|meeting|appointment|interview|exam|flight|need to|needs to|"
        r"have to|has to|by (?:mon|tue|wed|thu|fri|sat|sun))|截止|会议|面试|考试|预约|"
        r"航班|要去|要交|提醒",
    ),
    (
        "pattern",
        r"\bevery (?:day|week|morning|night|month|year)|usually|always|每天|每周|每个|"
        r"总是|通常",
    ),
)


# Why to remember it, and what follows some other day, is no part of it.
_AFTERTHOUGHT = re.compile(
    r"[，,；;。]\s*(?:省得|免得|以免|以防|不然|否则|别再|到时候|下次|改天|回头|因为|我[老总经怕]|"
    r"谢谢|拜托).*$"
    r"|[,;.]?\s(?:so (?:that )?(?:i|we|you) (?:don't|won't|can|stop|never)|in case i|"
    r"because i (?:always|keep)|"
    r"next time|i (?:always|keep) (?:forget|los))\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_SHORTEST_CHINESE = 4


def _own_words(text: str, before: str) -> str:
    """`text` without its afterthought; a bare name with what was said of it just before."""
    kept = _AFTERTHOUGHT.sub("", text).strip(" ,，。;；")
    if not kept or not re.fullmatch(rf"[\u4e00-\u9fff]{{1,{_SHORTEST_CHINESE - 1}}}", kept):
        return kept
    told = re.search(rf"{re.escape(kept)}[，,]\s*([^，,。！？!?\n]{{3,30}})", before)
    return kept + told[1] if told else ""


def _kind(text: str) -> str:
    for kind, pattern in _KINDS:
        if re.search(pattern, text, re.IGNORECASE):
            return kind
    return "fact"


def as_said(
    what: str, *, start: int, today: date, language: str, todo: bool, before: str = ""
) -> Found | None:
    """A memory of a sentence that no rule understands, in the third person where that is safe."""
    text = what.split(COVER)[0].strip(" \t\r\n,，.。!！:：;；")
    told = _own_words(text, before)
    if len(told) < 2:
        return None
    words, when = (_chinese if language == "zh" else _english)(told, today, todo)
    rule = Rule("explicit", "task" if todo or when else _kind(text), 0.9, 0.9, _ANYTHING)
    begin = start + what.index(text)
    return Found(rule, words, begin, begin + len(text), language, when=when)


def _english(text: str, today: date, todo: bool) -> tuple[str, date | None]:
    dated, when = en_dates.resolve(text, today=today, past=False)
    if todo:
        return f"Needs to {ours(dated)}", when
    parsed = parse_clause(dated, known=None, names=frozenset())
    if parsed is not None:
        predicate = trimmed(ours(parsed.predicate))
        if stands_alone(predicate) and len(predicate) * 2 > len(dated):
            return sentence(predicate, subject=parsed.subject, speaker=""), when
    return dated[:1].upper() + dated[1:], when


def _chinese(text: str, today: date, todo: bool) -> tuple[str, date | None]:
    dated, when = zh_dates.resolve(text, today=today, past=False)
    folded = simplified(dated)
    if folded.startswith("我") and not folded.startswith(("我们", "我家", "我和", "我跟")):
        dated = dated[1:].removeprefix("的")
    return re.sub(r"我(?!们)", "自己", dated), when
