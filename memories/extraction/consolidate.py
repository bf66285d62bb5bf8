"""Many statements to fewer: those of a group of similar ones are joined unless they conflict.

What says the same or less is said once; everything else is joined by semicolons. Nothing is said
that no input says, and every input that went in is in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from memories.extraction import pairs
from memories.extraction.arbitrate import LONGEST_MERGE
from memories.extraction.pairs import CONFLICTS, DEFAULT, LONGEST, PairReader, Relation, Thresholds

MOST_RESULTS = 3


@dataclass(frozen=True)
class Joined:
    """One statement made of several: `inputs` are their places in what was given."""

    content: str
    inputs: tuple[int, ...]


class Consolidator(Protocol):
    """Makes fewer statements of a group of similar ones, each of at least two of them.

    An input stands in at most one result; one that stands in none stays as it is. Raises
    `ProviderError`.
    """

    name: str

    def consolidate(self, texts: Sequence[str]) -> list[Joined]: ...


class BundledConsolidator:
    """Joins by the pair head; what conflicts, or would be too long together, stays apart."""

    name = "bundled"

    def __init__(self, reader: PairReader, *, thresholds: Thresholds = DEFAULT) -> None:
        self._reader = reader
        self._thresholds = thresholds

    def consolidate(self, texts: Sequence[str]) -> list[Joined]:
        """`texts` are oldest first. Each is joined to the first group that it fits."""
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
        """How each text stands to each one before it."""
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
    """All that the group says; of two of which one says the other too, only the fuller one."""
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
