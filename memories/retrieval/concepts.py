"""The concepts that a question is about ("my profession"), and the words memories use for them.

"What's my profession?" and "Is a nurse" share no word and little meaning for the embedder. The list
of everyday concepts in `data/concepts.txt`, in both languages, says that a nurse is a profession.
It widens the search terms; it never decides alone (see `evidence.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memcenter.lib.text import segment

_WORDS = re.compile(r"[\u3040-\u9fff]+|[^\W\u3040-\u9fff]+")
_FILE = Path(__file__).parent / "data" / "concepts.txt"


@dataclass(frozen=True)
class Concept:
    """`asked` has the phrases that identify a question (`_spaced`), `words` the related terms."""

    name: str
    asked: tuple[str, ...]
    words: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """A concept that a question is about, with the terms of memories in every language."""

    name: str
    words: frozenset[str]


def asked_about(text: str) -> tuple[Asked, ...]:
    """Return the concepts of a question, in the order of the list."""
    plain = _spaced(segment.normalise(text))
    names = {one.name: None for one in _concepts() if any(said in plain for said in one.asked)}
    return tuple(Asked(name, _words()[name]) for name in names)


def matched(concepts: Sequence[Asked], terms: Sequence[str]) -> float:
    """Return the share of the concepts that a text with these terms is about, 0-1."""
    if not concepts or not terms:
        return 0.0
    found = frozenset(terms)
    return sum(not found.isdisjoint(one.words) for one in concepts) / len(concepts)


@cache
def _concepts() -> tuple[Concept, ...]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(_read(line) for line in lines if line and not line.startswith("#"))


@cache
def _words() -> dict[str, frozenset[str]]:
    words: dict[str, frozenset[str]] = {}
    for one in _concepts():
        words[one.name] = words.get(one.name, frozenset()) | one.words
    return words


def _read(line: str) -> Concept:
    name, _, rest = line.partition(":")
    asked, _, said = rest.partition("|")
    phrases = [segment.normalise(phrase.strip()) for phrase in asked.split(",")]
    return Concept(
        name=name.strip(),
        asked=tuple(_spaced(phrase) if phrase.isascii() else phrase for phrase in phrases),
        words=frozenset(term for word in said.split() for term in _terms(word)),
    )


def _spaced(plain: str) -> str:
    """Put a space on either side of each word, so that English phrases match whole words only.

    Chinese has no gaps between words, and often none around a Latin word (做PPT), which is a word
    of its own. (Substring search takes a tenth of the time of patterns.)
    """
    return f" {' '.join(_WORDS.findall(plain))} "


def _terms(word: str) -> list[str]:
    """Return the terms of a word; for a long Chinese word only the whole, not its pieces."""
    found = segment.terms(word)
    return [word] if word in found else found
