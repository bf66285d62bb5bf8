import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.retrieval import signals


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_scaled_scores_keep_their_order_within_zero_and_one(scores: list[float]) -> None:
    given_scores = np.array(scores, dtype=float)
    scaled = signals.scale_scores(given_scores)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    order = np.argsort(given_scores, kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


def test_scores_that_are_all_alike_tell_nothing() -> None:
    assert signals.scale_scores(np.array([3.0, 3.0])).tolist() == [0, 0]
    assert signals.scale_scores(np.array([3.0]), alike=1.0).tolist() == [1]


def test_standardised_values_are_cut_at_the_limit() -> None:
    values = np.array([0.0] * 30 + [1000.0])
    assert signals.standardise(values).max() == 2
    assert not signals.standardise(np.array([5.0, 5.0])).any()


def test_each_member_gets_the_mean_of_its_groups_best_scores() -> None:
    scores = np.array([1.0, 9.0, 2.0, 3.0, 4.0, 7.0])
    groups = np.array([0, 1, 0, 0, 0, 2])
    means = signals.best_mean_of_group(scores, groups=groups)
    assert means.tolist() == [3, 9, 3, 3, 3, 7]
    empty = signals.best_mean_of_group(np.array([]), groups=np.array([], dtype=np.int64))
    assert empty.size == 0
