from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.boosting import Options, Ranking, boost
from memories.retrieval import rerank
from memories.retrieval.rerank import Floats, Forest

NAMES = ("near", "word", "noise")


def rankings(count: int = 30, *, seed: int = 0) -> list[Ranking]:
    """Right is what is near and has the word: no weighted sum of the two says so alone."""
    lot = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        table = lot.random((40, len(NAMES)))
        table[0] = (0.9, 0.9, 0.5)
        right = (table[:, 0] > 0.7) & (table[:, 1] > 0.7)
        made.append(Ranking(table, right, np.zeros(len(table))))
    return made


def one_by_one(forest: Forest, row: Floats) -> float:
    total = 0.0
    for features, thresholds, leaves in zip(
        forest.feature, forest.threshold, forest.values[-1], strict=True
    ):
        leaf = 0
        for feature, threshold in zip(features, thresholds, strict=True):
            leaf = 2 * leaf + int(row[feature] > threshold)
        total += leaves[leaf]
    return total


OPTIONS = Options(trees=12, least=5)
FOREST = boost(rankings(), names=NAMES, options=OPTIONS)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.floats(-1, 2), min_size=3, max_size=3), max_size=6))
def test_what_the_features_add_is_what_the_trees_say(rows: list[list[float]]) -> None:
    table = np.array(rows).reshape(-1, len(NAMES))
    shares = FOREST.shares(table)
    assert shares.shape == table.shape
    assert shares.sum(axis=1) == pytest.approx([one_by_one(FOREST, row) for row in table])


def test_a_feature_that_no_tree_asks_about_adds_nothing() -> None:
    asked = set(FOREST.feature.ravel().tolist())
    shares = FOREST.shares(rankings(1)[0].table)
    for column in set(range(len(NAMES))) - asked:
        assert not shares[:, column].any()
    assert shares.any()


def test_trees_learn_what_a_sum_cannot_say() -> None:
    found = []
    for one in rankings(10, seed=1):
        scores = FOREST.shares(one.table).sum(axis=1)
        best = np.argsort(-scores, kind="stable")[: int(one.right.sum())]
        found += one.right[best].tolist()
    assert np.mean(found) >= 0.85


def test_the_same_questions_give_the_same_trees() -> None:
    again = boost(rankings(), names=NAMES, options=OPTIONS)
    assert (again.feature == FOREST.feature).all() and (again.threshold == FOREST.threshold).all()
    for one, other in zip(again.values, FOREST.values, strict=True):
        assert (one == other).all()


def test_no_trees_are_grown_where_nothing_tells_right_from_wrong() -> None:
    alike = Ranking(np.ones((20, 3)), np.arange(20) < 3, np.zeros(20))
    forest = boost([alike] * 5, names=NAMES, options=OPTIONS)
    assert not forest.shares(alike.table).any()


def test_kept_trees_are_the_same_when_read_again(tmp_path: Path) -> None:
    path = tmp_path / "trees.npz"
    rerank.save(FOREST, path)
    read = rerank.load(path)
    assert read.names == NAMES and read.depth == OPTIONS.depth
    table = rankings(1)[0].table
    assert (read.shares(table) == FOREST.shares(table)).all()
