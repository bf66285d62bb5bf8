from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import Change, Memory, MemoryVersion, Relation
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn, make_version
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db


def of(key: str, memory: Memory, what: str) -> list[dict[str, Any]]:
    path = f"/memory/long_term/{memory.public_id}/{what}"
    found: list[dict[str, Any]] = answer(Api(key).get(path))["results"]
    return found


@pytest.fixture
def moved(alice: User) -> Memory:
    """A memory with two versions, each with its own source."""
    row = make_conversation(alice)
    memory = make_memory(alice, "Lives in Berlin.", turns=[make_turn(row, "I live in Berlin.")])
    turn = make_turn(row, "I moved to Paris.")
    make_version(memory, "Lives in Paris.", change=Change.REPLACED, turns=[turn])
    return memory


def test_versions_have_their_own_texts_and_sources(moved: Memory, alice_key: str) -> None:
    found = of(alice_key, moved, "versions")
    assert [(one["version"], one["content"]) for one in found] == [
        (2, "Lives in Paris."),
        (1, "Lives in Berlin."),
    ]
    quotes = [[source["quote"] for source in one["sources"]] for one in found]
    assert quotes == [["I moved to Paris."], ["I live in Berlin."]]


def test_sources_say_of_which_version_they_are(moved: Memory, alice_key: str) -> None:
    found = of(alice_key, moved, "sources")
    assert [(one["version"], one["quote"]) for one in found] == [
        (2, "I moved to Paris."),
        (1, "I live in Berlin."),
    ]


def test_recalls_say_when_it_was_used(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice is allergic to peanuts.", kind="constraint")
    body = {"message": "What can I eat?"}
    context = answer(Api(alice_key).post("/memory/context", body))
    found = of(alice_key, memory, "recalls")
    assert [one["request_id"] for one in found] == [context["request_id"]]
    assert found[0]["query"] == "What can I eat?" and "relevance" in found[0]["components"]


def test_relations_are_seen_from_both_sides(alice: User, alice_key: str) -> None:
    one, other = make_memory(alice, "Plays chess."), make_memory(alice, "Never plays.")
    Relation.objects.create(user=alice, memory=one, other=other, kind="contradicts", strength=0.8)
    seen = of(alice_key, one, "relations")[0]
    assert (seen["id"], seen["direction"], seen["kind"]) == (other.public_id, "to", "contradicts")
    back = of(alice_key, other, "relations")[0]
    assert (back["id"], back["direction"], back["content"]) == (
        one.public_id,
        "from",
        "Plays chess.",
    )


def test_an_old_version_is_restored_as_a_new_one(moved: Memory, alice_key: str) -> None:
    path = f"/memory/long_term/{moved.public_id}/restore"
    found = answer(Api(alice_key).post(path, {"version": 1}))
    assert (found["content"], found["version"]) == ("Lives in Berlin.", 3)


def test_an_erased_version_is_not_restored(moved: Memory, alice_key: str) -> None:
    MemoryVersion.objects.filter(memory=moved, number=1).update(
        content="", summary="", candidate_text="", erased_at=timezone.now()
    )
    path = f"/memory/long_term/{moved.public_id}/restore"
    error(Api(alice_key).post(path, {"version": 1}), 409, "conflict")


@pytest.mark.parametrize("version", [0, -1, 99, "1", 1.5, True, [1], 2**70])
def test_an_impossible_version_is_named(version: object, moved: Memory, alice_key: str) -> None:
    path = f"/memory/long_term/{moved.public_id}/restore"
    refused(Api(alice_key).post(path, {"version": version}), "version")


@pytest.mark.parametrize("what", ["versions", "sources", "recalls", "relations", "restore"])
def test_a_stranger_learns_nothing_of_its_history(
    what: str, moved: Memory, mallory_key: str
) -> None:
    path = f"/memory/long_term/{moved.public_id}/{what}"
    api = Api(mallory_key)
    error(api.post(path) if what == "restore" else api.get(path), 404, "not_found")


@pytest.mark.parametrize("what", ["versions", "sources"])
def test_a_long_history_takes_as_many_queries(what: str, moved: Memory, alice_key: str) -> None:
    of(alice_key, moved, what)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            of(alice_key, moved, what)
        counts.append(len(queries))
        for number in range(3):
            make_version(moved, f"Lives in city {number}.", change=Change.EDITED)
    assert counts[0] == counts[1]
