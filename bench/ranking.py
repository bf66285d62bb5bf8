"""Recall and mean reciprocal rank of search results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RankedQuestion:
    """One question: the wanted ids, and the found ids, best first."""

    group: str
    wanted: frozenset[str]
    found: Sequence[str]

    def recall(self, k: int) -> float:
        return len(self.wanted & set(self.found[:k])) / len(self.wanted)

    @property
    def reciprocal_rank(self) -> float:
        places = (place for place, one in enumerate(self.found, start=1) if one in self.wanted)
        return 1.0 / next(places, float("inf"))


def figures(asked: Sequence[RankedQuestion], *, at: Iterable[int]) -> dict[str, float | int]:
    """Return mean recall at each k and mean reciprocal rank, as fractions."""
    count = max(1, len(asked))
    recalls = {f"recall@{k}": sum(question.recall(k) for question in asked) / count for k in at}
    mrr = sum(question.reciprocal_rank for question in asked) / count
    rounded = {name: round(value, 4) for name, value in {**recalls, "mrr": mrr}.items()}
    return {**rounded, "questions": len(asked)}


def by_group(asked: Iterable[RankedQuestion]) -> Mapping[str, list[RankedQuestion]]:
    groups: dict[str, list[RankedQuestion]] = defaultdict(list)
    for question in asked:
        groups[question.group].append(question)
    return dict(sorted(groups.items()))


def print_table(rows: Mapping[str, Mapping[str, float | int]]) -> None:
    names = list(next(iter(rows.values())))
    print(f"{'':24}" + "".join(f"{name:>12}" for name in names))
    for label, row in rows.items():
        cells = (
            f"{row[name]:>12}" if name == "questions" else f"{100 * row[name]:>12.1f}"
            for name in names
        )
        print(f"{label:24}" + "".join(cells))
