"""A pair head that says what a test tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memories.extraction.arbitration.pairs import Relation


def shares(relation: str, share: float = 0.95) -> dict[str, float]:
    """`share` for one relation; the others have the rest in equal parts."""
    rest = (1 - share) / (len(Relation) - 1)
    return {one.value: share if one == relation else rest for one in Relation}


class FakePairs:
    """Two texts are unrelated, and no request is about a memory, unless it was told otherwise.

    Like the learned one, it is never quite sure that a request isn't about a memory.

    A text that only goes on where another one ends refines it. `share` is how sure it is of what
    it wasn't told.
    """

    def __init__(self, *, share: float = 0.95) -> None:
        self._share = share
        self.told: dict[tuple[str, str], Mapping[str, float]] = {}
        self.meant: dict[str, float] = {}
        self.asked: list[tuple[str, str]] = []

    def says(self, old: str, new: str, relation: str, share: float = 0.95) -> None:
        self.told[old, new] = shares(relation, share)

    def means(self, memory: str, share: float = 0.95) -> None:
        """Whatever is asked to be forgotten is about this memory."""
        self.meant[memory] = share

    def relations(self, pairs: Sequence[tuple[str, str]], /) -> list[Mapping[str, float]]:
        self.asked += pairs
        return [self.told.get(pair) or self._untold(*pair) for pair in pairs]

    def _untold(self, old: str, new: str) -> Mapping[str, float]:
        goes_on = bool(old.strip()) and new.startswith(old)
        return shares("refines" if goes_on else "unrelated", self._share)

    def probability_request_means(self, request: str, memory: str, /) -> float:
        return self.meant.get(memory, 0.005)
