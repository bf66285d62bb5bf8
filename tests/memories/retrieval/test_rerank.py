from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.retrieval import rerank
from memories.retrieval.query import analyse
from memories.retrieval.rerank import Floats, Forest
from memories.retrieval.signals import scale_scores
from memories.retrieval.weights import MessageWeights

ASKED = rerank.question_features(analyse("When did Ann adopt the dog?", speakers=["Ann"]))


def forest(name: str, *, adds: float, above: float = 0.5) -> Forest:
    """One tree of one level: `adds` where the feature is above."""
    leaves = np.array([[-adds, adds]])
    return Forest((name,), np.array([[0]]), np.array([[above]]), (np.zeros((1, 1)), leaves))


def features_of(weighed: Floats, **more: Floats) -> dict[str, Floats]:
    return {**rerank.rank_features(weighed), **more}


def test_trees_change_the_order_of_the_best() -> None:
    weighed, told = np.array([0.9, 0.8, 0.1]), np.array([0.0, 1.0, 0.0])
    looked = rerank.rerank_best(
        features_of(weighed, told=told), weighed=weighed, asked=ASKED, forest=forest("told", adds=1)
    )
    assert np.argsort(-looked.total).tolist() == [1, 0, 2]
    assert looked.total == pytest.approx(scale_scores(weighed) + looked.added["told"])


def test_what_is_not_looked_at_again_stays_below_in_its_order() -> None:
    weighed = np.linspace(1, 0, rerank.LOOKED_AT + 30)
    told = (np.arange(weighed.size) % 2).astype(float)
    looked = rerank.rerank_best(
        features_of(weighed, told=told), weighed=weighed, asked=ASKED, forest=forest("told", adds=9)
    )
    best, rest = looked.total[: rerank.LOOKED_AT], looked.total[rerank.LOOKED_AT :]
    assert best.min() >= rest.max()
    assert (np.diff(rest) < 0).all()
    assert not looked.added["told"][rerank.LOOKED_AT :].any()


def test_what_the_kind_of_question_adds_is_one_part() -> None:
    weighed = np.array([0.9, 0.1])
    looked = rerank.rerank_best(
        features_of(weighed), weighed=weighed, asked=ASKED, forest=forest("asks_when", adds=1)
    )
    assert list(looked.added) == [rerank.QUESTION]


def test_the_products_own_trees_ask_about_nothing_that_is_not_given() -> None:
    known = {one.name for one in fields(MessageWeights)} | set(ASKED)
    known |= set(rerank.rank_features(np.zeros(1)))
    assert set(rerank.bundled_forest().names) == known


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(-2, 2), max_size=12))
def test_the_order_of_messages_does_not_matter(scores: list[float]) -> None:
    weighed = np.unique(np.array(scores).round(6))
    turned = np.random.default_rng(len(scores)).permutation(weighed.size)
    names = [name for name in rerank.bundled_forest().names if name not in ASKED]
    values = {name: np.linspace(0, 1, weighed.size) for name in names}
    here = rerank.rerank_best(values | rerank.rank_features(weighed), weighed=weighed, asked=ASKED)
    there = rerank.rerank_best(
        {name: one[turned] for name, one in values.items()} | rerank.rank_features(weighed[turned]),
        weighed=weighed[turned],
        asked=ASKED,
    )
    assert there.total == pytest.approx(here.total[turned])
