"""mem0's filters, over one person's memories."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from foundation.errors import Invalid
from memcenter.compat.mem0 import filters
from memories.models import Memory
from ops.models import User
from tests.factories import make_memory

EARLY, LATE = datetime(2026, 1, 10, 8, tzinfo=UTC), datetime(2026, 3, 10, 8, tzinfo=UTC)


@pytest.fixture
def two(alice: User) -> list[Memory]:
    tea = make_memory(
        alice,
        "Likes green tea",
        agent_id="cook",
        tags=["food", "drinks"],
        metadata={"source": "chat", "level": 2},
        occurred_at=EARLY,
        valid_until=LATE,
        created_at=EARLY,
    )
    chess = make_memory(alice, "Plays chess, 国际象棋", run_id="r1", created_at=LATE)
    return [tea, chess]


def found(given: Any) -> str:
    """T for the tea, C for the chess."""
    rows = Memory.objects.filter(filters.query(filters.parse(given), user_name="alice"))
    return "".join("T" if "tea" in one.content else "C" for one in rows.order_by("pk"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "TC"),
        ({"user_id": "alice"}, "TC"),
        ({"user_id": "mallory"}, ""),
        ({"user_id": {"ne": "mallory"}}, "TC"),
        ({"user_id": {"ne": "alice"}}, ""),
        ({"user_id": {"in": ["mallory", "alice"]}}, "TC"),
        ({"user_id": "*"}, "TC"),
        ({"agent_id": "cook"}, "T"),
        ({"agent_id": "*"}, "T"),
        ({"agent_id": None}, "C"),
        ({"agent_id": {"ne": "cook"}}, "C"),
        ({"run_id": ["r1", "r2"]}, "C"),
        ({"run_id": {"gt": "r0"}}, "C"),
        ({"agent_id": {"contains": "oo"}}, "T"),
        ({"agent_id": {"contains": "OO"}}, ""),
        ({"agent_id": {"icontains": "OO"}}, "T"),
        ({"text": {"contains": "象棋"}}, "C"),
        ({"text": "Likes green tea"}, "T"),
        ({"text": {"icontains": "GREEN"}}, "T"),
        ({"keywords": "GREEN"}, "T"),
        ({"keywords": {"in": ["green", "象棋"]}}, "TC"),
        ({"created_at": {"gte": "2026-01-10", "lt": "2026-01-11"}}, "T"),
        ({"created_at": "2026-01-10"}, "T"),
        ({"created_at": {"gt": "2026-01-10"}}, "C"),
        ({"created_at": {"lte": "2026-01-10"}}, "T"),
        ({"created_at": {"lt": "2026-01-10"}}, ""),
        ({"created_at": {"eq": "2026-01-10T08:00:00Z"}}, "T"),
        ({"created_at": {"gt": EARLY.timestamp()}}, "C"),
        ({"created_at": {"lte": "2026-01-10T08:00:00"}}, "T"),
        ({"created_at": {"in": ["2026-01-10", "2026-03-10"]}}, "TC"),
        ({"updated_at": {"gte": "2026-01-01"}}, "TC"),
        ({"timestamp": "*"}, "T"),
        ({"timestamp": None}, "C"),
        ({"expiration_date": {"ne": None}}, "T"),
        ({"expiration_date": "2026-03-10"}, "T"),
        ({"categories": "food"}, "T"),
        ({"categories": ["food", "sport"]}, "T"),
        ({"categories": {"contains": "drinks"}}, "T"),
        ({"categories": {"contains": ["drinks", "sport"]}}, ""),
        ({"categories": {"icontains": "FOO"}}, "T"),
        ({"categories": {"ne": "food"}}, "C"),
        ({"categories": "*"}, "T"),
        ({"metadata": {"source": "chat"}}, "T"),
        ({"metadata": {"contains": {"level": 2}}}, "T"),
        ({"metadata": {"eq": {"level": 3}}}, ""),
        ({"metadata": {"ne": {"source": "chat"}}}, "C"),
        ({"metadata": {"in": [{"level": 2}, {"level": 3}]}}, "T"),
        ({"metadata": "*"}, "T"),
        ({"AND": [{"user_id": "alice"}, {"agent_id": "cook"}]}, "T"),
        ({"OR": [{"agent_id": "cook"}, {"run_id": "r1"}]}, "TC"),
        ({"OR": [{"user_id": "mallory"}, {"run_id": "r1"}]}, "C"),
        ({"OR": [{"user_id": "alice"}, {"run_id": "r1"}]}, "TC"),
        ({"NOT": [{"agent_id": "cook"}]}, "C"),
        ({"NOT": {"agent_id": "cook"}}, "C"),
        ({"NOT": [{"agent_id": "cook"}, {"run_id": "r1"}]}, ""),
        ({"NOT": [{"user_id": "alice"}]}, ""),
        ({"NOT": [{"user_id": "mallory"}]}, "TC"),
        ({"user_id": "alice", "agent_id": "cook"}, "T"),
        ({"AND": [{"OR": [{"text": {"contains": "tea"}}]}, {"NOT": [{"run_id": "*"}]}]}, "T"),
        ({"AND": []}, "TC"),
    ],
    ids=str,
)
def test_each_operator_finds_what_it_says(two: list[Memory], given: Any, expected: str) -> None:
    assert found(given) == expected


def test_memories_are_found_by_their_ids(two: list[Memory]) -> None:
    tea, chess = (one.public_id for one in two)
    assert found({"memory_ids": [tea]}) == "T"
    assert found({"memory_ids": {"in": [tea, chess]}}) == "TC"
    assert found({"memory_ids": {"ne": tea}}) == "C"


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "alice",
        {"who": "alice"},
        {"user_id": {}},
        {"user_id": {"like": "a"}},
        {"user_id": {"gt": "a"}},
        {"user_id": {"in": "alice"}},
        {"user_id": True},
        {"user_id": ""},
        {"agent_id": ["a", {}]},
        {"agent_id": "a\x00"},
        {"created_at": "soon"},
        {"created_at": {"gt": None}},
        {"created_at": {"gt": 1e300}},
        {"created_at": {"contains": "2026"}},
        {"categories": {"gt": "a"}},
        {"metadata": "red"},
        {"metadata": {"gt": {}}},
        {"memory_ids": {"contains": "mem_"}},
        {"AND": "alice"},
        {"AND": [{"user_id": "a"}] * 201},
    ],
    ids=lambda wrong: str(wrong)[:40],
)
def test_what_cant_be_read_is_refused(wrong: Any) -> None:
    with pytest.raises(Invalid):
        filters.parse(wrong)


def test_a_filter_of_endless_depth_is_refused() -> None:
    deep: dict[str, Any] = {"user_id": "alice"}
    for _ in range(50):
        deep = {"AND": [deep]}
    with pytest.raises(Invalid):
        filters.parse(deep)


def test_whom_a_not_leaves_out_is_not_named() -> None:
    tree = filters.parse({"AND": [{"user_id": {"in": ["a", "b"]}}, {"NOT": [{"user_id": "c"}]}]})
    assert filters.values_required(tree, "user_id") == ["a", "b"]
    assert not filters.has_entity(filters.parse({"NOT": [{"user_id": "c"}]}))
    assert not filters.has_entity(filters.parse({"user_id": {"ne": "c"}}))


def test_a_date_of_expiry_is_shown_as_it_was_given() -> None:
    assert filters.render_expiry(filters.read_expiry("2026-12-31")) == "2026-12-31"
    assert (
        filters.render_expiry(filters.read_expiry("2026-12-31T12:00:00Z"))
        == "2026-12-31T12:00:00+00:00"
    )
    assert filters.render_expiry(filters.read_expiry(None)) is None
