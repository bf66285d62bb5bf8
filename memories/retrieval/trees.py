"""Small regression trees over features, evaluated together, with each feature's contribution."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Forest:
    """Oblivious trees: all nodes of a level have the same test, so a leaf is a binary number.

    (The weak learner of CatBoost, Prokhorenkova et al. 2018.) `feature` and `threshold` are trees x
    depth: the column that a level tests, and the value above which a row goes right. `values` has
    an array for each level, trees x 2**level: the tree's mean prediction for the rows that reach
    that node; the last level has its leaves. The roots predict 0.
    """

    names: tuple[str, ...]
    feature: Places
    threshold: Floats
    values: tuple[Floats, ...]

    @property
    def depth(self) -> int:
        return len(self.values) - 1

    def shares(self, table: Floats) -> Floats:
        """Return each column's share of each row's sum over all trees; exact, shaped as `table`.

        Each step down a tree changes its prediction; the change is attributed to the column that
        the step tests (Saabas, "Interpreting random forests", 2014).
        """
        trees = np.arange(self.feature.shape[0])
        right = table[:, self.feature] > self.threshold
        node = np.zeros((len(table), trees.size), dtype=np.int64)
        said = np.zeros(node.shape)
        shares = np.zeros(table.shape)
        for level in range(self.depth):
            node = 2 * node + right[:, :, level]
            now = self.values[level + 1][trees, node]
            shares += (now - said) @ self._asks(level)
            said = now
        return shares

    def _asks(self, level: int) -> Floats:
        """Return trees x columns: 1 where this level of the tree tests the column."""
        return np.eye(len(self.names))[self.feature[:, level]]


def load(path: Path) -> Forest:
    """Load a forest written by `save`; only arrays are read."""
    with np.load(path, allow_pickle=False) as file:
        levels = sum(name.startswith("level") for name in file.files)
        return Forest(
            names=tuple(file["names"].tolist()),
            feature=file["feature"].astype(np.int64),
            threshold=file["threshold"].astype(np.float64),
            values=tuple(file[f"level{level}"].astype(np.float64) for level in range(levels)),
        )


def save(forest: Forest, path: Path) -> None:
    arrays: dict[str, Any] = {f"level{level}": one for level, one in enumerate(forest.values)}
    arrays |= {"feature": forest.feature, "threshold": forest.threshold}
    np.savez(path, names=np.array(forest.names), **arrays)
