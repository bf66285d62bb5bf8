"""LambdaMART (Burges 2010) with oblivious trees, in numpy, for `train_ranking.py`.

Sized for a few hundred questions: 90,000 rows and 100 trees take about half a minute. Each tree is
grown on a sample of the questions and of the columns. The seed is fixed, so the same input gives
the same trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.rerank import Forest

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """Training options. Only the order of the first `counted` rows of a question counts."""

    trees: int = 100
    depth: int = 3
    rate: float = 0.05
    ridge: float = 5.0
    bins: int = 24
    least: int = 40  # minimum number of rows on either side of a split
    counted: int = 20
    questions: float = 0.8  # share of questions used for each tree
    columns: float = 0.6  # share of columns used for each tree
    seed: int = 1


@dataclass(frozen=True)
class Ranking:
    """The candidates of one question: features, relevance labels and initial scores."""

    table: Floats
    right: NDArray[np.bool_]
    start: Floats


@dataclass(frozen=True)
class _Rows:
    """The rows of all rankings in one table; each value is a bin number."""

    bins: Places
    edges: Sequence[Floats]
    slices: Sequence[slice] = ()


@dataclass(frozen=True)
class _Tree:
    feature: list[int]
    edge: list[int]
    threshold: list[float]
    values: list[Floats]


def boost(rankings: Sequence[Ranking], *, names: Sequence[str], options: Options) -> Forest:
    """Fit trees whose sum, added to the initial scores, improves NDCG."""
    rows = _binned(np.vstack([ranking.table for ranking in rankings]), rankings, options)
    score = np.concatenate([ranking.start for ranking in rankings])
    trees: list[_Tree] = []
    rng = np.random.default_rng(options.seed)
    for _ in range(options.trees):
        pull, weight = _lambdas(rankings, rows.slices, score, options)
        sampled = rng.random(len(rankings)) < options.questions
        drawn = np.repeat(sampled, [len(ranking.table) for ranking in rankings])
        columns = rng.permutation(len(names))[: max(1, int(options.columns * len(names)))]
        tree = _grow(_only(rows, drawn), pull[drawn], weight[drawn], columns, options)
        if tree is None:
            break
        trees.append(tree)
        score += tree.values[-1][_leaves(tree, rows)]
    shape = (len(trees), options.depth)
    return Forest(
        names=tuple(names),
        feature=np.array([tree.feature for tree in trees], dtype=np.int64).reshape(shape),
        threshold=np.array([tree.threshold for tree in trees]).reshape(shape),
        values=tuple(
            np.array([tree.values[level] - tree.values[0] for tree in trees]).reshape(-1, 2**level)
            for level in range(options.depth + 1)
        ),
    )


def _binned(table: Floats, rankings: Sequence[Ranking], options: Options) -> _Rows:
    steps = np.linspace(0, 1, options.bins + 1)[1:-1]
    edges = [np.unique(np.quantile(column, steps)) for column in table.T]
    bins = [np.searchsorted(edge, column) for edge, column in zip(edges, table.T, strict=True)]
    ends = np.cumsum([len(one.table) for one in rankings]).tolist()
    slices = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return _Rows(np.stack(bins, axis=1), edges, slices)


def _lambdas(
    rankings: Sequence[Ranking], slices: Sequence[slice], score: Floats, options: Options
) -> tuple[Floats, Floats]:
    """Return the negative gradient and the second derivative for each row."""
    pull, weight = np.zeros_like(score), np.zeros_like(score)
    for one, part in zip(rankings, slices, strict=True):
        pull[part], weight[part] = _of_one(one.right, score[part], options)
    return pull, weight


def _of_one(right: NDArray[np.bool_], score: Floats, options: Options) -> tuple[Floats, Floats]:
    place = np.empty(score.size, dtype=np.int64)
    place[np.argsort(-score, kind="stable")] = np.arange(score.size)
    worth = 1 / np.log2(2 + place)
    ahead = score[right][:, None] - score[~right]
    first = place < options.counted
    swapped = np.abs(worth[right][:, None] - worth[~right])
    swapped = swapped * (first[right][:, None] | first[~right]) / _ideal(right, options)
    # A swap counts less if the scores differ much. This and `norm` are LightGBM's normalisation.
    swapped = swapped / (0.01 + np.abs(ahead))
    wrong = 1 / (1 + np.exp(np.clip(ahead, -50, 50)))
    slope, bend = wrong * swapped, wrong * (1 - wrong) * swapped
    whole = 2 * slope.sum()
    norm = np.log2(1 + whole) / whole if whole > 0 else 0.0
    pull, weight = np.empty_like(score), np.empty_like(score)
    pull[right], pull[~right] = slope.sum(axis=1), -slope.sum(axis=0)
    weight[right], weight[~right] = bend.sum(axis=1), bend.sum(axis=0)
    return pull * norm, weight * norm


def _ideal(right: NDArray[np.bool_], options: Options) -> float:
    return float((1 / np.log2(2 + np.arange(min(int(right.sum()), options.counted)))).sum())


def _only(rows: _Rows, drawn: NDArray[np.bool_]) -> _Rows:
    return _Rows(rows.bins[drawn], rows.edges)


def _leaves(tree: _Tree, rows: _Rows) -> Places:
    leaf = np.zeros(len(rows.bins), dtype=np.int64)
    for column, edge in zip(tree.feature, tree.edge, strict=True):
        leaf = 2 * leaf + (rows.bins[:, column] > edge)
    return leaf


def _grow(
    rows: _Rows, pull: Floats, weight: Floats, columns: Places, options: Options
) -> _Tree | None:
    """Grow one tree. Return None if no split has a positive gain."""
    leaf = np.zeros(pull.size, dtype=np.int64)
    feature: list[int] = []
    edges: list[int] = []
    for level in range(options.depth):
        gain, column, edge = max(
            _best_split(rows, int(column), leaf, 2**level, pull, weight, options)
            for column in columns
        )
        if gain <= 0:
            return None
        feature.append(column)
        edges.append(edge)
        leaf = 2 * leaf + (rows.bins[:, column] > edge)
    threshold = [float(rows.edges[one][edge]) for one, edge in zip(feature, edges, strict=True)]
    return _Tree(feature, edges, threshold, _values(leaf, pull, weight, options))


def _best_split(
    rows: _Rows,
    column: int,
    leaf: Places,
    leaves: int,
    pull: Floats,
    weight: Floats,
    options: Options,
) -> tuple[float, int, int]:
    """Find the best edge at which to split all leaves of a level by this column.

    Return the gain (-1 if no split is possible), the column, and the index of the edge.
    """
    keys = leaf * options.bins + rows.bins[:, column]

    def below(values: Floats | None) -> Floats:
        sums = np.bincount(keys, values, minlength=leaves * options.bins)
        upto: Floats = sums.reshape(leaves, options.bins).cumsum(axis=1).astype(float)
        return upto

    pulls, weights, counts = below(pull), below(weight), below(None)
    gain = _gain(pulls, weights, ridge=options.ridge).sum(axis=0)
    least = np.minimum(counts, counts[:, -1:] - counts)
    possible = ((least >= options.least) | (counts[:, -1:] < 2 * options.least)).any(axis=0)
    gain = np.where(possible, gain, -1.0)[: rows.edges[column].size]
    if not gain.size:
        return -1.0, column, 0
    best = int(gain.argmax())
    return float(gain[best]), column, best


def _gain(pulls: Floats, weights: Floats, *, ridge: float) -> Floats:
    whole, heavy = pulls[:, -1:], weights[:, -1:]
    left = pulls**2 / (weights + ridge)
    other = (whole - pulls) ** 2 / (heavy - weights + ridge)
    gain: Floats = left + other - whole**2 / (heavy + ridge)
    return gain


def _values(leaf: Places, pull: Floats, weight: Floats, options: Options) -> list[Floats]:
    """Return the values of the nodes, one array per level from the root to the leaves."""
    size = 2**options.depth
    pulls, weights = np.bincount(leaf, pull, size), np.bincount(leaf, weight, size)
    leaf_values = options.rate * pulls / (weights + options.ridge)
    rows = np.bincount(leaf, minlength=size).astype(float)
    levels = [leaf_values]
    while levels[0].size > 1:
        pairs, counts = levels[0].reshape(-1, 2), rows.reshape(-1, 2)
        total = counts.sum(axis=1)
        mean = (pairs * counts).sum(axis=1) / np.maximum(total, 1)
        levels.insert(0, np.where(total > 0, mean, pairs.mean(axis=1)))
        rows = total
    return levels
