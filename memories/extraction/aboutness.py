"""Whether a request to forget is about a memory.

`is_about` is the one place that decides. It compares words only, so it is sure in one case: the
memory says what the request says, word for word, once both are brought into the same form. A word
that turns a statement round ("not", "quit", 「不」) is a word like any other, so statements of
opposite meaning are never the same. A learned judge of pairs can take its place behind `Judge`.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from memcenter.lib import segment
from memories.extraction.arbitrate import LONGEST, read
from memories.extraction.arbitration.statement import CHANGING, FIXED, Statement

SURE = 0.9  # from here on a memory may be forgotten without a question
NEAR = 0.5  # from here on another memory stands too near to do that
PERHAPS = 0.2  # from here on a memory is listed in the question


class Judge(Protocol):
    def is_about(self, request: str, memory: str) -> float:
        """How probable it is that `request` means `memory`, 0-1."""
        ...


_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’.:/@+-][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")
_SPELLED_OUT = (
    (re.compile(r"\bi['’]m\b"), "i am"),
    (re.compile(r"\b(i|we|you|they)['’]ve\b"), r"\1 have"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(r"\bcan(?:['’]t|not)\b"), "can not"),
    (re.compile(r"\b(\w+)n['’]t\b"), r"\1 not"),
)
# Words that only say whose statement it is, or that make a whole sentence of it.
_DROPPED = frozenset(["i", "my", "mine", "the", "user", "user's", "a", "an", "am", "is", "are"])
_THIRD_PERSON = {"has": "have", "does": "do", "goes": "go", "doesn't": "do not"}
# Of one person "likes" is the verb of "I like"; a noun keeps its "s" elsewhere in the sentence.
_VERB = re.compile(r"^(?=.{4,}$)(?!.*(?:ss|us|is)$)(.*?)s$")
_ES = re.compile(r"^(.*(?:sh|ch|x|ss|zz))es$")
_IES = re.compile(r"^(.{2,})ies$")
_OWN = re.compile(r"^(?:我的|我|用户的|用户|本人的|本人|自己的|自己)")
_CHINESE_TAIL = re.compile(
    r"(?:的|这件|那件|这|那)(?:事情|事儿|事|情况|信息|记录|记忆)$|(?:这一点|这点|这条)$"
)
_ENGLISH_TAIL = re.compile(
    r"(?<![\s,])[\s,]++(?:please|thanks|thank you|ok|okay|anymore|any more|right now|now)$"
)
_SLOTS = CHANGING | FIXED


def form(text: str) -> tuple[str, ...]:
    """The words of a statement about the person, whoever says it and in whichever spelling."""
    plain = segment.normalise(text).strip(" \t\r\n.。!！?？,，;；\"'“”「」")
    if _HAN.search(plain):
        plain = _OWN.sub("", plain)
    for shape, written in _SPELLED_OUT:
        plain = shape.sub(written, plain)
    words = [word for word in _WORD.findall(plain) if word not in _DROPPED]
    return tuple(_first_verb(words))


def asked(request: str) -> tuple[str, ...]:
    """The same of what is to be forgotten, without what belongs to the asking."""
    plain = request.strip(" \t\r\n.。!！?？,，;；")
    before = ""
    while plain != before:
        before = plain
        plain = _ENGLISH_TAIL.sub("", _CHINESE_TAIL.sub("", plain, count=1))
    return form(plain or request)


def _first_verb(words: list[str]) -> Iterator[str]:
    """The words with the first ones in the form that goes with "I"."""
    for place, word in enumerate(words):
        yield _of_first_person(word) if place < 2 and word.isascii() else word


def _of_first_person(word: str) -> str:
    if word in _THIRD_PERSON:
        return _THIRD_PERSON[word]
    if match := _IES.match(word):
        return f"{match[1]}y"
    match = _ES.match(word) or _VERB.match(word)
    return match[1] if match else word


# "my boss" is somebody else than who "Is the boss"; 我的老板 tells nothing of 老板.
_POSSESSIVE = re.compile(r"^\s*(?:(?:my|mine)\b|我的|本人的|自己的)", re.IGNORECASE)
_BEING = re.compile(r"^\s*(?:(?:i|user|the user)\s+)?(?:am|is|are|i['’]m)\b", re.IGNORECASE)
_A_MERE_NAME = {True: 1, False: 3}  # so many words of English, or signs of Chinese, name a thing


class SameWords:
    """Sure of what says the same, word for word; of anything that shares a matter, only perhaps."""

    def is_about(self, request: str, memory: str) -> float:
        wanted = asked(request)
        if not wanted:
            return 0.0
        if wanted == form(memory) and not _names_a_thing(request, wanted, memory):
            return 1.0
        return NEAR if shares_matter(request, memory) else 0.0


def _names_a_thing(request: str, wanted: tuple[str, ...], memory: str) -> bool:
    """Whether the request names something that the person has, where the memory tells a state."""
    if not _POSSESSIVE.match(request):
        return False
    is_short = len(wanted) <= _A_MERE_NAME[wanted[0].isascii()]
    return is_short or _BEING.match(memory) is not None


def shares_matter(one: str, other: str) -> bool:
    """Whether two texts share a content word, a concept or the attribute that they tell."""
    if set(segment.terms(one)) & set(segment.terms(other)):
        return True
    ours, theirs = read(one[:LONGEST]), read(other[:LONGEST])
    if ours.slot == theirs.slot and ours.slot in _SLOTS:
        return True
    return bool(_concepts(ours) & _concepts(theirs))


def _concepts(statement: Statement) -> set[str]:
    """What it speaks of, with the parts of compounds: "tea" is in "green tea"."""
    found = statement.words | statement.names
    return {part for concept in found for part in (concept, *concept.split("_")) if part}


def judge() -> Judge:
    return SameWords()
