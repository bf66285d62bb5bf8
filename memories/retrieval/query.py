"""Analyse a question once, before anything is searched."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memcenter.lib.text import segment
from memories.retrieval import concepts, dates
from memories.retrieval.concepts import Asked
from memories.retrieval.dates import Date

_WHEN = re.compile(
    r"\b(?:when|what (?:time|date|day|month|year)|which (?:day|month|year)|how long ago)\b"
    r"|什么时候|什麼時候|何时|何時|几点|幾點|几号|幾號|几月|幾月|哪天|哪年|哪一[天年]|多久",
    re.IGNORECASE,
)

_HOW_MANY = re.compile(
    r"\bhow (?:many|much|old|long|far|fast|often|tall|big)\b"
    r"|几|幾|多少|多大|多久|多长|多長|多远|多遠",
    re.IGNORECASE,
)

# A question about the user ("Which car do I have?"); chatter rarely matches both patterns.
_ONES_OWN = re.compile(
    r"\b(?:my|mine|our)\b"
    r"|\b(?:do|did|am|was|have|can|could|should|may|would|will|must) (?:i|we)\b"
    r"|\bi (?:\w+ )?(?:have|do|like|want|own|use|live|work|take|play|need)\b"
    r"|我(?!觉得|想知道|同意|明白|没听懂|说的)"
)
_ASKS = re.compile(r"\?\s*$|吗|什么|哪|谁|几|多少|怎么|多大|多久")

_QUESTION_MARKS = "?？ "


@dataclass(frozen=True)
class Query:
    """An analysed question.

    `terms` are searched; `unusual` has the terms that are rare in the language itself; `named` has
    the speakers that the question names. `dense_text` is embedded: the question without those names
    and without its question mark, so that it resembles the statement it looks for. (Removing the
    stop words too finds less once words and neighbours count as well.)
    """

    text: str
    language: str
    terms: tuple[str, ...]
    dense_text: str
    unusual: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    dates: tuple[Date, ...] = ()
    asks_when: bool = False
    asks_how_many: bool = False
    asks_of_oneself: bool = False
    concepts: tuple[Asked, ...] = ()

    @property
    def sought(self) -> tuple[str, ...]:
        """Return the terms, and the terms that memories use for the question's concepts."""
        kin = sorted({word for one in self.concepts for word in one.words})
        return tuple(dict.fromkeys((*self.terms, *kin)))


def analyse(text: str, *, speakers: Sequence[str] = ()) -> Query:
    plain = segment.normalise(text)
    named = tuple(name for name in dict.fromkeys(speakers) if _names(name, text))
    nameless = _without(text, names=named) or text
    return Query(
        text=text,
        language=segment.language(text),
        terms=tuple(dict.fromkeys(segment.terms(text))),
        dense_text=nameless.rstrip(_QUESTION_MARKS) or text.rstrip(_QUESTION_MARKS) or text,
        unusual=tuple(dict.fromkeys(segment.unusual(nameless))),
        named=named,
        dates=dates.mentioned(text),
        asks_when=_WHEN.search(text) is not None,
        asks_how_many=_HOW_MANY.search(text) is not None,
        asks_of_oneself=all(sign.search(plain) for sign in (_ONES_OWN, _ASKS)),
        concepts=concepts.asked_about(text),
    )


def _names(name: str, text: str) -> bool:
    return bool(name.strip()) and _pattern(name).search(text) is not None


def _without(text: str, *, names: Sequence[str]) -> str:
    for name in names:
        text = _pattern(name).sub(" ", text)
    return " ".join(text.split())


def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for the name as a whole word; Chinese has no gaps between words."""
    bare = re.escape(name.strip())
    if name.isascii():
        bare = rf"\b{bare}(?:['’]s)?\b"
    return re.compile(bare, re.IGNORECASE)
