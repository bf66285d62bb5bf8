"""Analyse a question before the search: find its terms, dates and concepts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.text import segment

Floats = NDArray[np.float64]

_MONTHS = "january february march april may june july august september october november december"
_READ = 8_000  # maximum number of characters that are analysed; also the API's limit for a query
_NUMBER = {name: number for number, name in enumerate(_MONTHS.split(), 1)}
_NUMBER |= {name[:3]: number for name, number in _NUMBER.items()} | {"sept": 9}
_CHINESE = dict(zip("一二三四五六七八九", range(1, 10), strict=True))

_MONTH = "|".join(sorted(_NUMBER, key=len, reverse=True))
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_CHINESE_NUMBER = "[0-3]?\\d|[一二三四五六七八九十]{1,3}"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?!\d)",
        rf"\b(?P<month>{_MONTH})\.? {_DAY}(?:,? {_YEAR})?",
        rf"\b{_DAY}(?: of)? (?P<month>{_MONTH})\b\.?(?:,? {_YEAR})?",
        rf"\b(?P<month>{_MONTH})\b\.?,? {_YEAR}",
        rf"\b(?:in|since|during|last|this|of|mid|early|late) (?P<month>{_MONTH})\b",
        rf"(?:{_YEAR}年)?(?P<month>{_CHINESE_NUMBER})月(?:份|(?P<day>{_CHINESE_NUMBER})[日号]?)?",
        rf"\b(?:in|of|during|since) {_YEAR}|{_YEAR.replace('year', 'year2')}年(?!\d)",
    )
)


@dataclass(frozen=True)
class Date:
    """A day, a month or a year; parts that the text doesn't mention are None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def holds(self, moment: datetime) -> bool:
        """Return whether the moment is on this day, or in this month or year."""
        return all(
            wanted is None or wanted == actual
            for wanted, actual in (
                (self.year, moment.year),
                (self.month, moment.month),
                (self.day, moment.day),
            )
        )


def mentioned_dates(text: str) -> tuple[Date, ...]:
    """Return the dates in a text; each passage is parsed by the first pattern that matches it."""
    dates: list[Date] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            year = parts.get("year") or parts.get("year2")
            date = Date(
                year=int(year) if year else None,
                month=_number(parts.get("month")),
                day=_number(parts.get("day")),
            )
            if 1 <= (date.month or 1) <= 12 and 1 <= (date.day or 1) <= 31:
                dates.append(date)
        text = pattern.sub(" ", text)
    return tuple(dict.fromkeys(dates))


def matches_date(dates: Sequence[Date], moments: Sequence[datetime | None]) -> Floats:
    """Return 1 for each moment that is within one of the dates, otherwise 0."""
    hit = [at is not None and any(date.holds(at) for date in dates) for at in moments]
    return np.array(hit, dtype=float)


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdigit():
        return int(text)
    if (month := _NUMBER.get(text.lower())) is not None:
        return month
    tens, ten, ones = text.rpartition("十")
    return (_CHINESE.get(tens, 1) * 10 if ten else 0) + _CHINESE.get(ones, 0)


_WORDS = re.compile(r"[\u3040-\u9fff]+|[^\W\u3040-\u9fff]+")
_FILE = Path(__file__).parent / "data" / "concepts.txt"


@dataclass(frozen=True)
class Concept:
    """A concept, with the phrases that ask about it and the terms of texts that are about it.

    English phrases in `asked` have spaces around each word (see `_spaced`).
    """

    name: str
    asked: tuple[str, ...]
    words: frozenset[str]


@dataclass(frozen=True)
class AskedConcept:
    """A concept that a question asks about, with the terms for it in every language."""

    name: str
    words: frozenset[str]


def asked_about(text: str) -> tuple[AskedConcept, ...]:
    """Return the concepts that a question asks about, in the order of `concepts.txt`."""
    plain = _spaced(segment.normalise(text))
    names = {
        concept.name: None
        for concept in _concepts()
        if any(said in plain for said in concept.asked)
    }
    return tuple(AskedConcept(name, _words()[name]) for name in names)


def only_names_a_concept(text: str) -> bool:
    """Return whether a text consists only of a phrase that asks about a concept."""
    plain = _spaced(segment.normalise(text)).strip()
    return any(plain == said.strip() for concept in _concepts() for said in concept.asked)


def matched_concepts(concepts: Sequence[AskedConcept], terms: Sequence[str]) -> float:
    """Return the share (0-1) of the concepts that a text with these terms is about."""
    if not concepts or not terms:
        return 0.0
    found = frozenset(terms)
    return sum(not found.isdisjoint(concept.words) for concept in concepts) / len(concepts)


@cache
def _concepts() -> tuple[Concept, ...]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(_concept(line) for line in lines if line and not line.startswith("#"))


@cache
def _words() -> dict[str, frozenset[str]]:
    words: dict[str, frozenset[str]] = {}
    for concept in _concepts():
        words[concept.name] = words.get(concept.name, frozenset()) | concept.words
    return words


def _concept(line: str) -> Concept:
    name, _, rest = line.partition(":")
    asked, _, said = rest.partition("|")
    phrases = [segment.normalise(phrase.strip()) for phrase in asked.split(",")]
    return Concept(
        name=name.strip(),
        asked=tuple(_spaced(phrase) if phrase.isascii() else phrase for phrase in phrases),
        words=frozenset(term for word in said.split() for term in _terms(word)),
    )


def _spaced(plain: str) -> str:
    """Put spaces around each word, so that a substring search for a phrase matches whole words.

    A Latin word within Chinese text, as in 做PPT ("make slides"), is separated as well, but
    consecutive Chinese characters aren't. A substring search takes a tenth of the time of regular
    expressions.
    """
    return f" {' '.join(_WORDS.findall(plain))} "


def _terms(word: str) -> list[str]:
    """Return the terms of a word; a long Chinese word that is itself a term isn't split."""
    found = segment.terms(word)
    return [word] if word in found else found


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
_ABOUT_USER = re.compile(
    r"\b(?:my|mine|our)\b"
    r"|\b(?:do|did|am|was|have|can|could|should|may|would|will|must) (?:i|we)\b"
    r"|\bi (?:\w+ )?(?:have|do|like|want|own|use|live|work|take|play|need)\b"
    r"|我(?!觉得|想知道|同意|明白|没听懂|说的)"
)
_ASKS = re.compile(r"\?\s*$|吗|什么|哪|谁|几|多少|怎么|多大|多久")

# Questions that name the subject of the wanted memories, such as "What do you know about Theo?"
_SUBJECT = re.compile(
    r"(?:\b(?:know|remember|learn(?:ed|t)?|stored?|saved?|got) about|\btell me (?:\w+ )?about)"
    r"\s+(?P<en>[^?.!,;]{2,60})"
    r"|(?:知道|记得|了解)(?P<zh>[\u4e00-\u9fff]{1,8}?)的?(?:哪些|什么|多少|(?:一些)?事)"
    r"|(?:说说|讲讲|关于)(?P<about>[\u4e00-\u9fff]{1,8}?)(?:的|[,，。？?]|$)",
    re.IGNORECASE,
)
_NO_SUBJECT = frozenset(["me", "myself", "us", "我", "我们", "自己"])

_QUESTION_MARKS = "?？ "


def subject_of(text: str) -> tuple[str, ...]:
    """Return the terms of the subject in a question like "What do you know about Theo?".

    The tuple is empty if the subject is the user, or if the question isn't of this form.
    """
    found = _SUBJECT.search(text)
    subject = next((words for words in found.groups() if words), "") if found else ""
    if not subject or subject.strip().lower() in _NO_SUBJECT:
        return ()
    return tuple(dict.fromkeys(segment.terms(subject)))


@dataclass(frozen=True)
class Query:
    """An analysed question.

    `terms` are the words to search for, and `unusual` the words that are rare in the language.
    `named` holds the speakers whom the question names. `asks_of_oneself` is True if the user asks
    about themselves. `subject` holds the terms of "Theo" in "What do you know about Theo?".
    `dense_text` is the text to embed: the question without the names in `named` and without its
    question mark, so that it resembles a statement with the answer. Its stop words are kept,
    because hybrid ranking finds less without them.
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
    subject: tuple[str, ...] = ()
    concepts: tuple[AskedConcept, ...] = ()

    @property
    def sought(self) -> tuple[str, ...]:
        """Return the terms of the question, and the terms that memories use for its concepts."""
        related = sorted({word for concept in self.concepts for word in concept.words})
        return tuple(dict.fromkeys((*self.terms, *related)))


def analyse(text: str, *, speakers: Sequence[str] = ()) -> Query:
    """Analyse a question, but no more than its first 8,000 characters."""
    whole, text = text, text[:_READ]
    plain = segment.normalise(text)
    named = tuple(name for name in dict.fromkeys(speakers) if _is_named(name, text))
    nameless = _without_names(text, names=named) or text
    return Query(
        text=whole,
        language=segment.language(text),
        terms=tuple(dict.fromkeys(segment.terms(text))),
        dense_text=nameless.rstrip(_QUESTION_MARKS) or text.rstrip(_QUESTION_MARKS) or text,
        unusual=tuple(dict.fromkeys(segment.unusual(nameless))),
        named=named,
        dates=mentioned_dates(text),
        asks_when=_WHEN.search(text) is not None,
        asks_how_many=_HOW_MANY.search(text) is not None,
        asks_of_oneself=all(sign.search(plain) for sign in (_ABOUT_USER, _ASKS)),
        subject=subject_of(text),
        concepts=asked_about(text),
    )


def _is_named(name: str, text: str) -> bool:
    return bool(name.strip()) and _pattern(name).search(text) is not None


def _without_names(text: str, *, names: Sequence[str]) -> str:
    for name in names:
        text = _pattern(name).sub(" ", text)
    return " ".join(text.split())


def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that finds the name in a text; an ASCII name must be a whole word."""
    bare = re.escape(name.strip())
    if name.isascii():
        bare = rf"\b{bare}(?:['’]s)?\b"
    return re.compile(bare, re.IGNORECASE)
