"""What becomes of a group of similar statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.arbitration.pairs import (
    LONGEST_MERGE,
    BundledConsolidator,
    JoinedStatement,
    Relation,
    join,
)
from tests.pair_reader import FakePairs

TEAS = ["Likes oolong", "Likes matcha", "Likes sencha"]


def consolidate(texts: list[str], *told: tuple[int, int, str]) -> list[JoinedStatement]:
    head = FakePairs()
    for old, new, relation in told:
        head.says(texts[old], texts[new], relation)
    return BundledConsolidator(head).consolidate(texts)


def test_what_can_stand_together_is_joined() -> None:
    assert consolidate(TEAS) == [
        JoinedStatement("Likes oolong; Likes matcha; Likes sencha", (0, 1, 2))
    ]
    assert consolidate(["喜欢乌龙茶。", "喜欢抹茶"]) == [
        JoinedStatement("喜欢乌龙茶；喜欢抹茶", (0, 1))
    ]


def test_what_says_the_same_is_said_once() -> None:
    texts = ["Likes tea", "Is fond of tea", "Likes green tea"]
    assert consolidate(texts, (0, 1, "same"), (0, 2, "refines")) == [
        JoinedStatement("Likes green tea", (0, 1, 2))
    ]


@pytest.mark.parametrize("relation", ["newer", "contradicts", "ended"])
def test_what_conflicts_stays_apart(relation: str) -> None:
    assert consolidate(["Lives in Leeds", "Lives in York"], (0, 1, relation)) == []
    joined = consolidate(TEAS, (0, 2, relation))
    assert joined == [JoinedStatement("Likes oolong; Likes matcha", (0, 1))]


def test_what_would_be_too_long_stays_apart() -> None:
    texts = [f"Likes the {number} very long name of a band that plays jazz" for number in range(12)]
    found = consolidate(texts)
    assert len(found) > 1 and all(len(one.content) <= LONGEST_MERGE for one in found)


def test_a_text_that_was_joined_before_grows_by_what_is_new() -> None:
    assert join(["Likes tea; Likes jazz", "likes jazz.", "Likes chess"]) == (
        "Likes tea; Likes jazz; Likes chess"
    )
    assert join(["Likes tea", "Dislikes tea"]) == "Likes tea; Dislikes tea"
    assert join(["喜欢喝茶", "不喜欢喝茶的人"]) == "喜欢喝茶；不喜欢喝茶的人"


_TEXT = st.one_of(
    st.sampled_from([*TEAS, "Has a cat", "喜欢茶", "不喜欢茶", "; ;", ""]),
    st.text(min_size=1, max_size=40),
)
_TOLD = st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([*Relation]))


@given(st.lists(_TEXT, min_size=8, max_size=8), st.lists(_TOLD, max_size=9))
def test_no_input_is_lost_or_used_twice_and_nothing_is_made_up(
    texts: list[str], told: list[tuple[int, int, str]]
) -> None:
    found = consolidate(texts, *told)
    used = [place for one in found for place in one.inputs]
    assert len(used) == len(set(used))
    for one in found:
        said = "".join(texts[place] for place in one.inputs)
        assert len(one.inputs) >= 2 and one.content.strip()
        assert set(one.content) <= set(said) | set("；; ")
