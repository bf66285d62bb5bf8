"""Is a clause worth remembering, as what, and if not, why not? A logistic regression in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from memories.extraction.classifier.features import Clause, Vectors, matrix

WEIGHTS = Path(__file__).resolve().parent.parent / "data" / "clauses.npz"
NONE = "none"
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class Judgement:
    """`keep` is the calibrated probability that the clause should be remembered; `kind` what it
    then most likely is, and `why_not` the most likely reason if it should not.
    """

    keep: float
    kind: str
    why_not: str


class Judge(Protocol):
    def judge(self, clauses: Sequence[Clause]) -> list[Judgement]: ...


@dataclass(frozen=True)
class Weights:
    """`table` has a row for each feature and a last one for the bias, a column for each class.

    A class is a kind, or `none:` and a reason. `scaling` holds, for each language, the slope and
    intercept that make the log-odds of keeping honest (Platt, "Probabilistic Outputs for Support
    Vector Machines", 1999).
    """

    classes: tuple[str, ...]
    table: Vectors
    scaling: dict[str, tuple[float, float]]

    @property
    def refused(self) -> list[int]:
        return [at for at, name in enumerate(self.classes) if name.startswith(NONE)]

    @property
    def kept(self) -> list[int]:
        return [at for at, name in enumerate(self.classes) if not name.startswith(NONE)]


class ClauseClassifier:
    """Judges clauses in one batch; `embed` gives the bundled embedder's vectors, row by row."""

    def __init__(self, embed: Embed, *, weights: Weights | None = None) -> None:
        self._embed = embed
        self._weights = weights or load()

    def judge(self, clauses: Sequence[Clause]) -> list[Judgement]:
        if not clauses:
            return []
        vectors = self._embed([clause.text for clause in clauses])
        shares = probabilities(matrix(clauses, vectors), self._weights.table)
        return [
            _judgement(row, clause, self._weights)
            for row, clause in zip(shares, clauses, strict=True)
        ]


def _judgement(shares: Vectors, clause: Clause, weights: Weights) -> Judgement:
    kept, refused = weights.kept, weights.refused
    slope, intercept = weights.scaling[clause.language]
    odds = slope * log_odds(float(shares[kept].sum())) + intercept
    return Judgement(
        keep=float(1 / (1 + np.exp(-odds))),
        kind=weights.classes[kept[int(shares[kept].argmax())]],
        why_not=weights.classes[refused[int(shares[refused].argmax())]].partition(":")[2],
    )


def probabilities(rows: Vectors, table: Vectors) -> Vectors:
    """The softmax of each row's scores."""
    scores = rows @ table[:-1] + table[-1]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Vectors = powers / powers.sum(axis=1, keepdims=True)
    return shares


def log_odds(probability: float) -> float:
    safe = min(1 - 1e-6, max(1e-6, probability))
    return float(np.log(safe / (1 - safe)))


@cache
def load(path: Path = WEIGHTS) -> Weights:
    """The weights that came with the product; `bench/train_clauses.py` writes them."""
    with np.load(path, allow_pickle=False) as stored:
        return Weights(
            classes=tuple(str(name) for name in stored["classes"]),
            table=stored["table"].astype(np.float32),
            scaling={
                str(language): (float(slope), float(intercept))
                for language, (slope, intercept) in zip(
                    stored["languages"], stored["scaling"], strict=True
                )
            },
        )
