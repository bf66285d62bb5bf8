from datetime import UTC, datetime, timedelta
from math import e

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.retrieval.evidence import ScoreWeights, recency, score

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_recency_falls_to_a_share_of_e_in_thirty_days() -> None:
    assert recency(NOW, now=NOW) == 1
    assert recency(NOW - timedelta(days=30), now=NOW) == pytest.approx(1 / e)
    assert recency(NOW + timedelta(days=1), now=NOW) == 1


@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 5_000))
def test_the_parts_add_up_to_the_score(relevance: float, importance: float, days: int) -> None:
    found = score(relevance, since=NOW - timedelta(days=days), importance=importance, now=NOW)
    assert found.total == found.relevance + found.recency + found.importance
    assert 0 <= found.total <= 1 + 1e-9


def test_the_weights_are_those_given() -> None:
    weights = ScoreWeights(relevance=1, recency=0, importance=0)
    assert score(0.4, since=NOW, importance=1, now=NOW, weights=weights).total == 0.4
    assert score(0.5, since=NOW, importance=0.5, now=NOW).total == pytest.approx(0.6)
