"""Many memories in one call, each as if it had been written alone."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings
from pytest_django.fixtures import DjangoAssertNumQueries

from memories.models import Memory
from ops.accounts import users
from ops.models import AuditEvent, Delivery, User
from ops.webhooks import create
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db
PATH, ONE = "/memory/long_term/batch", "/memory/long_term"
SECRET = "I work at the bank in Leeds, my login password there is hunter2xyz, and I start at nine."
DIFFERENT = [
    *("Repairs violins", "Sister called Anna", "Allergic to peanuts", "Rides a red bicycle"),
    *("Born in 1980", "Votes green", "Plays chess on Mondays", "Owns two cats", "Sleeps badly"),
    *("Studies Latin", "Fears spiders", "Hates traffic"),
]
LEEDS, YORK = "I live in Leeds.", "I live in York."


def written(key: str, *memories: Any, **named: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(Api(key).post(PATH, {"memories": memories, **named}))[
        "results"
    ]
    return found


def test_each_memory_is_answered_in_its_place(
    alice: User, alice_key: str, pairs: FakePairs
) -> None:
    known = make_memory(alice, "Likes tea", kind="preference")
    pairs.says(LEEDS, YORK, "newer")
    found = written(
        alice_key,
        {"content": LEEDS, "kind": "fact", "tags": ["home"], "metadata": {"row": 1}},
        {"content": "Likes tea", "kind": "preference"},
        {"content": "password: hunter2xyz"},
        {"content": YORK, "kind": "fact"},
    )
    assert [one["status"] for one in found] == ["created", "skipped", "refused", "updated"]
    first, second, third, fourth = found
    assert (first["memory"]["content"], first["memory"]["tags"]) == (LEEDS, ["home"])
    assert first["memory"]["metadata"] == {"row": 1}
    assert second["memory"]["id"] == known.public_id
    assert "memory" not in third and list(third["error"]["fields"]) == ["content"]
    assert (fourth["memory"]["id"], fourth["memory"]["content"]) == (first["memory"]["id"], YORK)
    assert answer(Api(alice_key).get(f"{ONE}/{first['memory']['id']}"))["content"] == YORK


def test_a_memory_is_answered_as_if_it_had_been_written_alone(alice: User, alice_key: str) -> None:
    given = {"content": LEEDS, "kind": "fact", "importance": 0.4, "project_key": "p"}
    [one] = written(alice_key, given)
    found = answer(Api(alice_key).get(f"{ONE}/{one['memory']['id']}"))
    assert one["memory"] == {**found, "result": "created", "superseded": []}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "content"),
        ({"content": " "}, "content"),
        ({"content": LEEDS, "kind": "nonsense"}, "kind"),
        ({"content": LEEDS, "importance": 7}, "importance"),
        ({"content": LEEDS, "tags": ["x" * 51]}, "tags"),
        ({"content": LEEDS, "project_key": "\t"}, "project_key"),
        (
            {"content": LEEDS, "valid_from": 20, "valid_until": 10},
            "valid_until",
        ),
        ("no object", "non_field_errors"),
    ],
)
def test_a_memory_that_is_not_valid_is_refused_by_its_field_and_the_others_are_written(
    alice: User, alice_key: str, wrong: Any, field: str
) -> None:
    first, second = written(alice_key, wrong, {"content": YORK})
    assert (first["status"], second["status"]) == ("refused", "created")
    assert first["error"]["code"] == "invalid"
    assert field in first["error"]["fields"]
    assert [one.content for one in Memory.objects.all()] == [YORK]


def test_a_secret_within_a_text_is_blanked(alice: User, alice_key: str) -> None:
    [one] = written(alice_key, {"content": SECRET})
    assert one["memory"]["redacted"] is True
    assert "hunter2xyz" not in one["memory"]["content"]


@pytest.mark.parametrize("memories", [None, [], "text", [{"content": LEEDS}] * 101])
def test_a_batch_has_one_to_a_hundred_memories(alice: User, alice_key: str, memories: Any) -> None:
    refused(Api(alice_key).post(PATH, {"memories": memories}), "memories")
    assert not Memory.objects.exists()


def test_nothing_is_written_while_memory_is_off(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    for content in (LEEDS, "password: hunter2xyz"):
        error(Api(alice_key).post(PATH, {"memories": [{"content": content}]}), 409, "memory_off")
    assert not Memory.objects.exists()


def test_a_repeated_call_with_the_same_key_is_answered_as_before(
    alice: User, alice_key: str
) -> None:
    body, once = {"memories": [{"content": LEEDS}]}, {"Idempotency-Key": "rows 1 to 100"}
    first = Api(alice_key).call("post", PATH, body, headers=once)
    again = Api(alice_key).call("post", PATH, body, headers=once)
    assert answer(again) == answer(first)
    assert again["Idempotency-Replayed"] == "true"
    assert answer(first)["results"][0]["status"] == "created"


def test_a_batch_counts_as_a_heavy_call(alice: User, alice_key: str, settings: Settings) -> None:
    settings.RATE_LIMIT_HEAVY = 1
    written(alice_key, {"content": LEEDS})
    error(Api(alice_key).post(PATH, {"memories": [{"content": YORK}]}), 429, "rate_limited")
    answer(Api(alice_key).post(ONE, {"content": YORK}), 201)


def test_a_stranger_writes_nothing_of_somebody_else(alice: User, mallory_key: str) -> None:
    body = {"user_id": "alice", "memories": [{"content": LEEDS}]}
    error(Api(mallory_key).post(PATH, body), 404, "not_found")
    assert not Memory.objects.exists()


def test_one_event_of_the_audit_log_and_one_call_of_a_webhook_for_each(
    alice: User, alice_key: str
) -> None:
    create(user=alice, url="https://93.184.216.34/", events=["memory.created"])
    found = written(alice_key, {"content": LEEDS}, {"content": "Likes tea"})
    ids = [one["memory"]["id"] for one in found]
    event = AuditEvent.objects.get(action="memory.created")
    assert event.details == {"ids": ids, "count": 2}
    assert [one.body["memory_id"] for one in Delivery.objects.order_by("pk")] == ids


def test_a_new_memory_costs_five_statements(
    alice: User, alice_key: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """Settings, the lock and the state of the space, what is known, and the new rows."""
    written(alice_key, {"content": LEEDS})
    texts = list(DIFFERENT)
    for count in (2, 10):
        told = [texts.pop() for _ in range(count)]
        with django_assert_max_num_queries(10 + 5 * count):
            written(alice_key, *({"content": one} for one in told))
