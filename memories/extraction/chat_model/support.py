"""Check that the words, numbers and names of a model's statement were said.

A plain check, not understanding: each number and name must occur in the quotation, in another
recent message of the person, or in the date that was computed from it. A name is a capitalised
English word that doesn't begin the statement (or begins it as its subject), a Latin word in a
Chinese statement, and what the Chinese segmenter tags as a person, a place or an organisation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

import rjieba

from memcenter.lib.text import segment
from memories.extraction.word_tables import compiled
from memories.extraction.wording.dates import dates_in
from memories.extraction.wording.languages import language_of

_FIGURE = re.compile(r"\d+")
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMERALS = "一二三四五六七八九十"
_CAPITAL = re.compile(r"(?<![\w.'’-])[A-Z][\w-]*")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9-]+")
_NAMES = ("nr", "ns", "nt")
_P = compiled("support")


def is_supported(content: str, *, known: str) -> bool:
    """Tell whether all numbers and names of `content`, and any of its words, occur in `known`."""
    said = segment.normalise(known).casefold()
    return (
        figures(content) <= figures(known) | _spelled(known)
        and not set(segment.terms(content)).isdisjoint(segment.terms(known))
        and all(segment.normalise(name).casefold() in said for name in _names(content))
    )


def _names(content: str) -> Iterator[str]:
    return _chinese(content) if language_of(content) == "zh" else _english(content)


def _english(content: str) -> Iterator[str]:
    for found in _CAPITAL.finditer(content):
        begins = found.start() == 0 or content[: found.start()].rstrip()[-1:] in ".!?:"
        if begins and not _P["of_whom"].match(content, found.end()):
            continue
        if not _P["calendar"].fullmatch(found[0]):
            yield found[0]


def _chinese(content: str) -> Iterator[str]:
    yield from _LATIN.findall(content)
    for word, tag in rjieba.tag(content):
        if tag in _NAMES and len(word) > 1 and not word.isascii():
            yield word


def days_named(text: str, *, spoken_at: datetime) -> list[date]:
    """Return the first and the last date that a text names."""
    found = dates_in(text, spoken_at=spoken_at, language=language_of(text))
    return [day for one in found for day in (one.first, one.last)]


def figures(text: str) -> set[int]:
    """Return the whole numbers in a text except those that nobody reads as numbers."""
    return {int(one) for one in _FIGURE.findall(text) if len(one) < 20}


def _spelled(text: str) -> set[int]:
    """Return numbers written as words: "two" and 两 for 2."""
    words = set(text.casefold().replace("两", "二").split())
    signs = set(text.replace("两", "二"))
    english = {value for value, word in enumerate(_NUMBERS, start=1) if word in words}
    return english | {value for value, sign in enumerate(_NUMERALS, start=1) if sign in signs}
