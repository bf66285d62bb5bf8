"""Requests to forget, of the set that was written apart from the code: none takes anything else."""

from __future__ import annotations

import pytest

from bench.forget_requests import DATA, Row, read
from memories.forgetting import spoken_requests
from memories.models import Memory
from ops.access import as_user
from ops.models import User
from tests.factories import make_memory

pytestmark = pytest.mark.django_db
EVERY = 7  # a sample: the whole set takes minutes
ROWS = [row for path in sorted(DATA.glob("*.jsonl")) for row in read(path)[::EVERY]]


def test_there_are_requests_in_both_languages() -> None:
    assert {row.language for row in ROWS} == {"en", "zh"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_said_in_a_turn_is_understood_as_a_request(language: str) -> None:
    said = [row.request for row in read(DATA / f"{language}.jsonl")]
    missed = [one for one in said if not spoken_requests.asks_to_forget(one)]
    assert len(missed) <= 0.05 * len(said), missed


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_nothing_but_what_is_meant_is_erased(alice: User, row: Row) -> None:
    memories = [make_memory(alice, content) for content in row.memories]
    asked = spoken_requests.asked_about(row.request)
    with as_user(alice):
        spoken_requests.answer(spoken_requests.find(asked, user=alice), user=alice)
    left = set(Memory.objects.filter(user=alice).values_list("pk", flat=True))
    gone = {place for place, one in enumerate(memories) if one.pk not in left}
    assert gone <= row.wanted
