"""Rerank the best messages with decision trees, which take feature interactions into account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.query import Query
from memories.retrieval.signals import scale_scores

Floats = NDArray[np.float64]

LOOKED_AT = 200  # messages that are reranked, the same number as in training
SHARPNESS = 8.0  # divisor of the trees' scores when they are added to the weighted sum
_TREES = Path(__file__).parent / "data" / "message_trees.npz"


QUESTION = "question_kind"  # name of the joint contribution of all question features


@dataclass(frozen=True)
class RerankResult:
    """The result of reranking.

    `total` is the scaled weighted sum plus the contributions of the decision trees. `added` holds
    these contributions by feature; they are 0 for messages that were not reranked.
    """

    total: Floats
    added: Mapping[str, Floats]


def rerank_best(
    features: Mapping[str, Floats],
    *,
    weighed: Floats,
    asked: Mapping[str, float],
    forest: Forest | None = None,
) -> RerankResult:
    """Rerank the `LOOKED_AT` messages with the highest weighted sums (`weighed`).

    All other messages keep their order and rank below these messages. `features` (including those
    of `rank_features`) and `asked` (those of the question) hold the values that the forest tests.
    The bundled forest is used unless `forest` is given.
    """
    forest = forest or bundled_forest()
    best = np.argsort(-weighed, kind="stable")[:LOOKED_AT]
    columns = [features[name][best] if name in features else asked[name] for name in forest.names]
    table = np.stack([np.broadcast_to(column, best.shape) for column in columns], axis=1)
    shares = forest.shares(table) / SHARPNESS
    added: dict[str, Floats] = {}
    for name, share in zip(forest.names, shares.T, strict=True):
        part = added.setdefault(name if name in features else QUESTION, np.zeros(weighed.size))
        part[best] += share
    total = scale_scores(weighed)
    rest = np.ones(weighed.size, dtype=bool)
    rest[best] = False
    total[best] += shares.sum(axis=1)
    if rest.any():
        total[rest] -= max(0.0, float(total[rest].max() - total[best].min()))
    return RerankResult(total, added)


def question_features(query: Query) -> dict[str, float]:
    """Return the features of the question, which are the same for all messages."""
    return {
        "names": float(len(query.named)),
        "words": float(len(query.terms)),
        "asks_when": float(query.asks_when),
        "asks_how_many": float(query.asks_how_many),
        "dates": float(len(query.dates)),
        "chinese": float(query.language == "zh"),
    }


def rank_features(weighed: Floats) -> dict[str, Floats]:
    """Return two features of each message: its scaled weighted sum and `1 / (1 + rank / 10)`."""
    place = np.empty(weighed.size)
    place[np.argsort(-weighed, kind="stable")] = np.arange(weighed.size)
    return {"sum": scale_scores(weighed), "place": 1 / (1 + place / 10)}


@cache
def bundled_forest() -> Forest:
    """Return the bundled forest, trained by `bench/train_ranking.py`."""
    return load(_TREES)


Places = NDArray[np.int64]


@dataclass(frozen=True)
class Forest:
    """Oblivious decision trees, in which all nodes of a level have the same test.

    The path to a leaf is therefore a binary number. CatBoost also uses such trees (Prokhorenkova et
    al. 2018). `feature` and `threshold` have the shape (trees, depth): the column that a level
    tests, and the value above which a row takes the right branch. `values` holds an array of shape
    (trees, 2**level) for each level: the tree's mean prediction for the rows that reach a node. The
    last level contains the leaves; the roots predict 0.
    """

    names: tuple[str, ...]
    feature: Places
    threshold: Floats
    values: tuple[Floats, ...]

    @property
    def depth(self) -> int:
        return len(self.values) - 1

    def shares(self, table: Floats) -> Floats:
        """Return how much each column contributes to each row's prediction; shaped like `table`.

        Each step down a tree changes its prediction; the change is attributed to the column that
        the step tests (Saabas, "Interpreting random forests", 2014). The contributions add up
        exactly to the prediction of all trees.
        """
        trees = np.arange(self.feature.shape[0])
        right = table[:, self.feature] > self.threshold
        node = np.zeros((len(table), trees.size), dtype=np.int64)
        said = np.zeros(node.shape)
        shares = np.zeros(table.shape)
        for level in range(self.depth):
            node = 2 * node + right[:, :, level]
            now = self.values[level + 1][trees, node]
            shares += (now - said) @ self._tested_columns(level)
            said = now
        return shares

    def _tested_columns(self, level: int) -> Floats:
        """Return an array (trees, columns) with 1 for the column that a tree tests in `level`."""
        return np.eye(len(self.names))[self.feature[:, level]]


def load(path: Path) -> Forest:
    """Load a forest written by `save`; no objects are unpickled."""
    with np.load(path, allow_pickle=False) as file:
        levels = sum(name.startswith("level") for name in file.files)
        return Forest(
            names=tuple(file["names"].tolist()),
            feature=file["feature"].astype(np.int64),
            threshold=file["threshold"].astype(np.float64),
            values=tuple(file[f"level{level}"].astype(np.float64) for level in range(levels)),
        )


def save(forest: Forest, path: Path) -> None:
    arrays: dict[str, Any] = {f"level{level}": values for level, values in enumerate(forest.values)}
    arrays |= {"feature": forest.feature, "threshold": forest.threshold}
    np.savez(path, names=np.array(forest.names), **arrays)
