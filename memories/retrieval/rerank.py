"""Rerank the best messages with trees, which use feature interactions that the sum can't."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import trees
from memories.retrieval.fusion import scaled
from memories.retrieval.query import Query
from memories.retrieval.trees import Forest

Floats = NDArray[np.float64]

LOOKED_AT = 200  # as many as the trees were trained on; also bounds the cost
SHARPNESS = 8.0  # the trees' scores are in eighths of the scaled sum
_TREES = Path(__file__).parent / "data" / "message_trees.npz"


QUESTION = "question_kind"  # the trees' contribution due to the kind of question, as one part


@dataclass(frozen=True)
class SecondLook:
    """The result of reranking.

    `total` is the scaled sum plus what the trees `added`, by feature; 0 for messages that were not
    reranked.
    """

    total: Floats
    added: Mapping[str, Floats]


def second_look(
    features: Mapping[str, Floats],
    *,
    weighed: Floats,
    asked: Mapping[str, float],
    forest: Forest | None = None,
) -> SecondLook:
    """Reorder the best messages by the weighted sum; the others keep their order below them.

    `features` (with `standing`) and `asked` have the values that the forest tests; the bundled
    forest is used unless one is given.
    """
    forest = forest or learned()
    best = np.argsort(-weighed, kind="stable")[:LOOKED_AT]
    columns = [features[name][best] if name in features else asked[name] for name in forest.names]
    table = np.stack([np.broadcast_to(column, best.shape) for column in columns], axis=1)
    shares = forest.shares(table) / SHARPNESS
    added: dict[str, Floats] = {}
    for name, share in zip(forest.names, shares.T, strict=True):
        part = added.setdefault(name if name in features else QUESTION, np.zeros(weighed.size))
        part[best] += share
    total = scaled(weighed)
    rest = np.ones(weighed.size, dtype=bool)
    rest[best] = False
    total[best] += shares.sum(axis=1)
    if rest.any():
        total[rest] -= max(0.0, float(total[rest].max() - total[best].min()))
    return SecondLook(total, added)


def kind_of(query: Query) -> dict[str, float]:
    """Return the features of the question itself, the same for all messages."""
    return {
        "names": float(len(query.named)),
        "words": float(len(query.terms)),
        "asks_when": float(query.asks_when),
        "asks_how_many": float(query.asks_how_many),
        "dates": float(len(query.dates)),
        "chinese": float(query.language == "zh"),
    }


def standing(weighed: Floats) -> dict[str, Floats]:
    """Return the result of the weighted sum as features: the scaled sum, and the rank score."""
    place = np.empty(weighed.size)
    place[np.argsort(-weighed, kind="stable")] = np.arange(weighed.size)
    return {"sum": scaled(weighed), "place": 1 / (1 + place / 10)}


@cache
def learned() -> Forest:
    """Return the bundled forest, trained by `bench/train_ranking.py`."""
    return trees.load(_TREES)
