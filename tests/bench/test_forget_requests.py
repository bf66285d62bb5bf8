"""Requests to forget, of the sets that were written apart from the code: none takes another one."""

from __future__ import annotations

import pytest

from bench.forget_requests import DATA, Row, read
from memories.forgetting import spoken_requests
from memories.models import Memory
from ops.access import as_user
from ops.accounts import users
from tests.factories import make_memory

EVERY = 40  # a sample: `bench/forget_requests.py` asks them all, which takes minutes
SAMPLE = [row for path in sorted(DATA.glob("*.jsonl")) for row in read(path)[::EVERY]]
# The sets of which the figures of the present state are told, and the fewest memories beside the
# meant ones: `NEAR` of them in each of `REQUESTS` requests.
TOLD = ("seventh", "eighth", "ninth")
NEAR, REQUESTS = 8, 150
FORGOTTEN = {"en": 3, "zh": 3}  # of the sample at least, so that none wrong says something


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_told_sets_have_enough_requests_that_stand_among_enough_others(language: str) -> None:
    rows = [row for name in TOLD for row in read(DATA / f"{name}_{language}.jsonl")]
    among = [row for row in rows if len(row.memories) - len(row.wanted) >= NEAR]
    assert len({(row.request, tuple(row.memories)) for row in among}) >= REQUESTS
    for row in among:
        assert len(set(row.memories)) == len(row.memories), row.name
        assert row.wanted <= set(range(len(row.memories))), row.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_said_in_a_turn_is_understood_as_a_request(language: str) -> None:
    said = [row.request for row in read(DATA / f"{language}.jsonl")]
    missed = [one for one in said if not spoken_requests.asks_to_forget(one)]
    assert len(missed) <= 0.05 * len(said), missed


@pytest.mark.django_db
@pytest.mark.usefixtures("learned_pairs")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_but_what_is_meant_is_erased(language: str) -> None:
    rows = [row for row in SAMPLE if row.language == language]
    gone = {row.name: erased(row) for row in rows}
    wrong = {row.name: gone[row.name] - row.wanted for row in rows if gone[row.name] - row.wanted}
    assert not wrong
    assert sum(bool(one) for one in gone.values()) >= FORGOTTEN[language]


def erased(row: Row) -> set[int]:
    """The memories, by their places in the row, that its person has no more after the request."""
    person = users.find_or_create(row.name)
    memories = [make_memory(person, content) for content in row.memories]
    asked = spoken_requests.requests_of_api_text(row.request)
    with as_user(person):
        spoken_requests.answer(spoken_requests.find(asked, user=person), user=person)
    left = set(Memory.objects.filter(user=person).values_list("pk", flat=True))
    return {place for place, one in enumerate(memories) if one.pk not in left}
