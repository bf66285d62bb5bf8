"""Join the statements of a similar group unless they conflict.

A statement that says the same as another or less is dropped; the others are joined by semicolons.
The result says nothing that no input says, and includes every input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from memories.extraction.arbitration import pairs
from memories.extraction.arbitration.pairs import (
    CONFLICTS,
    DEFAULT,
    LONGEST,
    PairReader,
    Relation,
    Thresholds,
)
from memories.extraction.arbitration.verdicts import LONGEST_MERGE

MOST_RESULTS = 3


@dataclass(frozen=True)
class Joined:
    """A statement made of several; `inputs` are their indexes."""

    content: str
    inputs: tuple[int, ...]


class Consolidator(Protocol):
    """Make fewer statements of a similar group, each from at least two of them.

    An input belongs to at most one result; the others stay unchanged. Raises `ProviderError`.
    """

    name: str

    def consolidate(self, texts: Sequence[str]) -> list[Joined]: ...


class BundledConsolidator:
    """Join by the pair head; statements that conflict or would be too long together stay apart."""

    name = "bundled"

    def __init__(self, reader: PairReader, *, thresholds: Thresholds = DEFAULT) -> None:
        self._reader = reader
        self._thresholds = thresholds

    def consolidate(self, texts: Sequence[str]) -> list[Joined]:
        """Join each text (oldest first) to the first group that it fits."""
        related = self._relations(texts)
        groups: list[list[int]] = []
        for place, text in enumerate(texts):
            if len(text) > LONGEST or not pairs.fold(text):
                continue
            for group in groups:
                fits = all(related[one, place] not in CONFLICTS for one in group)
                if fits and len(_text([*group, place], texts, related)) <= LONGEST_MERGE:
                    group.append(place)
                    break
            else:
                groups.append([place])
        return [
            Joined(_text(group, texts, related), tuple(group)) for group in groups if len(group) > 1
        ]

    def _relations(self, texts: Sequence[str]) -> dict[tuple[int, int], Relation]:
        """Return the relation of each text to each text before it."""
        places = [
            (old, new)
            for old, new in combinations(range(len(texts)), 2)
            if max(len(texts[old]), len(texts[new])) <= LONGEST
        ]
        found = pairs.read(
            self._reader,
            [(texts[old], texts[new]) for old, new in places],
            thresholds=self._thresholds,
        )
        return {place: one.relation for place, one in zip(places, found, strict=True)}


def _text(
    group: Sequence[int], texts: Sequence[str], related: dict[tuple[int, int], Relation]
) -> str:
    """Return the joined text; of two statements with the same meaning only the fuller one."""
    left = list(group)
    for old, new in combinations(group, 2):
        if old not in left or new not in left:
            continue
        if related[old, new] is Relation.SAME:
            left.remove(new)
        elif related[old, new] is Relation.REFINES:
            full = pairs.fuller(texts[old], texts[new])
            if full is not None:
                left.remove(old if full == texts[new] else new)
    return pairs.join(texts[one] for one in left)
