"""One natural sentence out of two that tell of the same thing, or none."""

import re

from memories.extraction.arbitration.figures import differ, take_figures

_END = " .。!！;；,，"
_SENTENCES = re.compile(r"(?<=[a-z]{3})[.!?] +[A-Z]|[。！？；;]")
_LONGEST_ENGLISH, _LONGEST_CHINESE = 220, 90  # characters
_TAIL = re.compile(
    r"(?P<by>at|in|with|for|near|since|every|on|by|from|as|to|of|because|during|after|before"
    r"|until)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:and|but|who|which|because|so) ", re.IGNORECASE)
_PREDICATE = re.compile(r"(?:is|was|has|had|can|will|lives|works|likes|loves|goes|plays|\w{3,}s) ")
_OWN = re.compile(r"^(?:用户|我)(?:的)?(?=[\u4e00-\u9fff])")
_PREDICATE_ZH = re.compile(
    r"[今是很有最对不会爱喜已刚在从每正也属住养吃喝跑学]|\d|[一二三四五六七八九十]+岁"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DATED = ("date", "year", "month")


def combine(old: str, new: str) -> str | None:
    """The old text with what the new one adds, each thing said once, as one sentence.

    None where that wouldn't read well: two dated events, two languages, several sentences, or
    words that would stand there twice.
    """
    first, second = old.strip(_END), new.strip(_END)
    if _SENTENCES.search(first) or _SENTENCES.search(second) or _two_events(first, second):
        return None
    chinese = bool(_HAN.search(first))
    if chinese != bool(_HAN.search(second)):
        return None
    text = _in_chinese(first, second) if chinese else _in_english(first, second)
    longest = _LONGEST_CHINESE if chinese else _LONGEST_ENGLISH
    return text if text and len(text) <= longest else None


def _two_events(first: str, second: str) -> bool:
    dates = [
        frozenset(one for one in take_figures(text.lower())[0] if one.startswith(_DATED))
        for text in (first, second)
    ]
    return differ(*dates)


def _in_english(first: str, second: str) -> str | None:
    opening = _shared_opening(first, second)
    rest = second[len(opening) :].strip(" ,")
    if opening and rest:
        tail = _TAIL.match(rest)
        remainder = first[len(opening) :].lower()
        if tail and not re.search(rf"\b{tail['by'].lower()}\b", remainder):
            return f"{first} {rest}"
        if _CLAUSE.match(rest) and " " in opening:
            return f"{first}, {rest}"
    name, _, told = re.sub(r"^(\w+),? the \w+,? ", r"\1 ", second).partition(" ")
    if name[:1].isupper() and first.endswith(f" {name}") and _PREDICATE.match(f"{told} "):
        return f"{first}, who {told}"
    return None


def _in_chinese(first: str, second: str) -> str | None:
    told = _OWN.sub("", second)
    name = re.match(r"[\u4e00-\u9fffA-Za-z]{2,4}?(?=的?[^的])", told)
    for length in (4, 3, 2):
        own, after = told[:length], told[length:]
        if name and own in first and _PREDICATE_ZH.match(after):
            told = after
            break
    else:
        told = _after_the_shared(_OWN.sub("", first), told)
    if not told or _repeats(first, told):
        return None
    return f"{first}，{told}"


def _after_the_shared(first: str, second: str) -> str:
    """What follows the clause with which both begin."""
    clause, comma, rest = second.partition("，")
    return rest if comma and first.startswith(clause) else second


def _repeats(first: str, second: str) -> bool:
    """Whether two characters in a row stand in both: a word would be said twice."""
    pairs = {second[at : at + 2] for at in range(len(second) - 1)}
    return any(_HAN.match(pair) and pair in first for pair in pairs if len(pair) == 2)


def _shared_opening(first: str, second: str) -> str:
    """The words with which both begin, as they stand in the second."""
    shared = 0
    words = second.split(" ")
    for ours, theirs in zip(first.split(" "), words, strict=False):
        if ours.lower().strip(",") != theirs.lower().strip(","):
            break
        shared += 1
    return " ".join(words[:shared])
