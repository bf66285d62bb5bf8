"""Whether a model's statement is supported by what was said: its figures, its names, its words.

A plain check, not an understanding: each figure and each name of the statement must stand in the
quotation, elsewhere in what the person said of late, or in the day that the rules made of it. A
name is an English word with a capital that doesn't begin the statement (or begins it as the one
who is spoken of), a Latin word in a Chinese statement, and what the Chinese segmenter tags as a
person, a place or an organisation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import rjieba

from memcenter.lib import segment
from memories.extraction.languages import language_of

_FIGURES = re.compile(r"\d+")
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMERALS = "一二三四五六七八九十"
_CAPITAL = re.compile(r"(?<![\w.'’-])[A-Z][\w-]*")
_OF_WHOM = re.compile(
    r"(?:['’]s\b| (?:is|was|has|had|will|can|likes|loves|lives|works|moved|plays|goes)\b)"
)
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9-]+")
_NAMES = ("nr", "ns", "nt")
_CALENDAR = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?"
    r"|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|[ap]m|i|user",
    re.IGNORECASE,
)


def is_supported(content: str, *, known: str) -> bool:
    """Whether all figures and names of `content`, and any of its words, stand in `known`."""
    said = segment.normalise(known).casefold()
    return (
        _figures(content) <= _figures(known) | _spelled(known)
        and not set(segment.terms(content)).isdisjoint(segment.terms(known))
        and all(segment.normalise(name).casefold() in said for name in _names(content))
    )


def _names(content: str) -> Iterator[str]:
    return _chinese(content) if language_of(content) == "zh" else _english(content)


def _english(content: str) -> Iterator[str]:
    for found in _CAPITAL.finditer(content):
        begins = found.start() == 0 or content[: found.start()].rstrip()[-1:] in ".!?:"
        if begins and not _OF_WHOM.match(content, found.end()):
            continue
        if not _CALENDAR.fullmatch(found[0]):
            yield found[0]


def _chinese(content: str) -> Iterator[str]:
    yield from _LATIN.findall(content)
    for word, tag in rjieba.tag(content):
        if tag in _NAMES and len(word) > 1 and not word.isascii():
            yield word


def _figures(text: str) -> set[int]:
    return {int(one) for one in _FIGURES.findall(text) if len(one) < 20}


def _spelled(text: str) -> set[int]:
    """What stands there in words: "two" and 两 for a 2."""
    words = set(text.casefold().replace("两", "二").split())
    signs = set(text.replace("两", "二"))
    english = {value for value, word in enumerate(_NUMBERS, start=1) if word in words}
    return english | {value for value, sign in enumerate(_NUMERALS, start=1) if sign in signs}
