"""How one statement stands to another, and one text that says both.

A pair head reads (known, new) and gives a share to each relation. This module turns the shares
into one relation and knows nothing of memories: `arbitrate`, `consolidate` and `aboutness` decide
what follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memcenter.lib import segment

LONGEST = 400  # characters; what is longer is a document and is not read as a statement


class Relation(StrEnum):
    """How a new statement stands to a known one."""

    SAME = "same"  # it says the same, or less
    NEWER = "newer"  # it gives a newer value of the same thing
    CONTRADICTS = "contradicts"  # both cannot hold, and nothing says which one does
    REFINES = "refines"  # it says the same more precisely
    ENDED = "ended"  # it says that the known one no longer holds
    UNRELATED = "unrelated"  # both may hold


CONFLICTS = (Relation.NEWER, Relation.CONTRADICTS, Relation.ENDED)


class PairReader(Protocol):
    """The pair head of the learned reader."""

    def relations(self, pairs: Sequence[tuple[str, str]], /) -> Sequence[Mapping[str, float]]:
        """The share of each relation for each (known, new); the shares of a pair sum to 1."""
        ...

    def about(self, request: str, memory: str, /) -> float:
        """How probable it is that a request to forget means the memory, 0-1."""
        ...


@dataclass(frozen=True)
class Thresholds:
    """The shares from which a relation counts. `newer` and `ended` overwrite what is known."""

    same: float = 0.5
    refines: float = 0.5
    contradicts: float = 0.5
    unrelated: float = 0.5
    newer: float = 0.6
    ended: float = 0.6
    despite: float = 0.9  # from here on the head outweighs a number or a negation that differs
    sure: float = 0.6  # below this a chat model is asked, where there is one


@dataclass(frozen=True)
class Reading:
    """The relation of one pair. `share` is the share that the head itself gave to it."""

    relation: Relation
    share: float


DEFAULT = Thresholds()


def read(
    reader: PairReader, pairs: Sequence[tuple[str, str]], *, thresholds: Thresholds = DEFAULT
) -> list[Reading]:
    """The relation of each pair (known, new); the head is asked once for all of them."""
    if not pairs:
        return []
    found = reader.relations(pairs)
    return [
        _reading(old, new, shares, thresholds)
        for (old, new), shares in zip(pairs, found, strict=True)
    ]


def _reading(old: str, new: str, shares: Mapping[str, float], thresholds: Thresholds) -> Reading:
    given = {one: float(shares.get(one, 0.0)) for one in Relation}
    for one in _doubtful(old, new):
        if given[one] <= thresholds.despite:
            given[Relation.UNRELATED] += given[one]
            given[one] = 0.0
    relation = _likeliest(given, thresholds)
    return Reading(relation, float(shares.get(relation, 0.0)))


def _likeliest(shares: Mapping[Relation, float], thresholds: Thresholds) -> Relation:
    """Relations that mean much the same to a person count together where none is sure."""
    best = max(Relation, key=lambda one: shares[one])
    if shares[best] >= getattr(thresholds, best):
        return best
    if sum(shares[one] for one in CONFLICTS) >= thresholds.contradicts:
        return Relation.CONTRADICTS
    if shares[Relation.SAME] + shares[Relation.REFINES] >= thresholds.refines:
        return Relation.REFINES
    return Relation.UNRELATED


_FIGURE = re.compile(r"\d+")
_DENIED = re.compile(
    r"n['’]t\b|\b(?:not?|never|neither|without|cannot|nunca|jamás|sin|nicht|kein\w{0,2}|nie|ohne"
    r"|ne|pas|jamais|sans)\b|n['’](?=[aeiouhéê])|不|没|未|无|(?<![特分区级性辨个告])别(?![人墅名])"
    r"|ない|なかった|ません|なく",
    re.IGNORECASE,
)


def _doubtful(old: str, new: str) -> tuple[Relation, ...]:
    """The relations that are unlikely between two texts whose numbers or negations differ."""
    plain = [segment.normalise(text) for text in (old, new)]
    if bool(_DENIED.search(plain[0])) != bool(_DENIED.search(plain[1])):
        return (Relation.SAME, Relation.REFINES)
    figures = [set(_FIGURE.findall(text)) for text in plain]
    return (Relation.SAME,) if figures[0] != figures[1] else ()


_END = " \t\r\n.。!！;；,，"
_PIECES = re.compile(r"；|; ")
_HAN = re.compile(r"[\u3400-\u9fff]")


def fold(text: str) -> str:
    """The text without what two writings of it may differ in: case, width, space, its last sign."""
    return " ".join(segment.normalise(text).split()).strip(_END)


def fuller(old: str, new: str) -> str | None:
    """The one of the two that has all the words of the other; None where neither does."""
    theirs, ours = set(segment.terms(old)), set(segment.terms(new))
    if theirs <= ours:
        return new
    return old if ours <= theirs else None


def join(texts: Iterable[str]) -> str:
    """One text that says what all of these say, each thing once, joined by semicolons."""
    given = [text.strip() for text in texts if text.strip()]
    if len(given) < 2:
        return "".join(given)
    pieces = [piece.strip(_END) for text in given for piece in _PIECES.split(text)]
    said = {fold(piece): piece for piece in reversed(pieces) if piece}
    words = {folded: _words(folded) for folded in said}
    kept = [
        piece
        for folded, piece in reversed(said.items())
        if not any(_goes_on(words[folded], other) for other in words.values())
    ]
    chinese = bool(kept) and all(_HAN.search(piece) for piece in kept)
    return ("；" if chinese else "; ").join(kept)


def _words(folded: str) -> list[str]:
    return [word for word in segment.words(folded) if any(map(str.isalnum, word))]


def _goes_on(words: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the other text begins with these words and says more."""
    return 0 < len(words) < len(other) and list(other[: len(words)]) == list(words)
