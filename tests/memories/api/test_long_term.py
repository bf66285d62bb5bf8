from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from memories.models import Memory, MemoryVersion, Project
from memories.models.memory import OF_PROJECTS
from memories.writing import curation
from ops.accounts import users
from ops.models import Operation, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.memories.extraction.readings import statement
from tests.memories.plain_reader import PlainReader
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db
PATH = "/memory/long_term"
_NAMES = """
    id user_id project_key kind content summary data tags importance confidence status pinned
    origin occurred_at valid_from valid_until access_count last_accessed_at version deleted_at
    purge_at created_at updated_at sources
"""
SHAPE = set(_NAMES.split())


def listed(key: str, **query: Any) -> list[str]:
    return [one["content"] for one in answer(Api(key).get(PATH, **query))["results"]]


def test_a_memory_is_written(alice: User, alice_key: str) -> None:
    body = {
        "content": "Alice lives in Berlin.",
        "kind": "PROFILE",
        "tags": ["home"],
        "importance": 0.9,
        "confidence": 0.7,
        "data": {"city": "Berlin"},
        "project_key": "p",
        "occurred_at": "2024-05-01T10:00:00Z",
        "valid_from": 1_714_557_600,
        "valid_until": None,
        "metadata": {"from": "test"},
        "agent_id": "a",
    }
    made = answer(Api(alice_key).post(PATH, body), 201)
    assert SHAPE | {"result"} <= set(made)
    assert made["result"] == "created" and made["kind"] == "preference"
    assert made["valid_from"] == "2024-05-01T10:00:00Z" == made["occurred_at"]
    assert (made["project_key"], made["origin"], made["status"]) == ("p", "api", "active")
    assert (made["importance"], made["confidence"]) == (0.9, 0.7)
    assert made["data"] == {"city": "Berlin"} and made["tags"] == ["home"]
    assert [one["origin"] for one in made["sources"]] == ["api"]
    result = made.pop("result")
    assert (result, made.pop("superseded")) == ("created", [])
    assert answer(Api(alice_key).get(f"{PATH}/{made['id']}")) == made


def test_what_is_known_already_is_skipped(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    body = {"content": "I live in Berlin.", "kind": "fact"}
    first = answer(api.post(PATH, body), 201)
    again = answer(api.post(PATH, body), 200)
    assert (again["result"], again["id"]) == ("skipped", first["id"])


def test_a_secret_is_refused_by_its_field(alice: User, alice_key: str) -> None:
    refused(Api(alice_key).post(PATH, {"content": "password: hunter2xyz"}), "content")
    assert not Memory.objects.exists()


def test_writing_conflicts_while_memory_is_off(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    error(Api(alice_key).post(PATH, {"content": "I play chess."}), 409, "memory_off")


def test_what_programs_write_waits_when_it_must_be_confirmed(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"confirm_before_remembering": True})
    made = answer(Api(alice_key).post(PATH, {"content": "I play chess."}), 201)
    assert (made["result"], made["status"]) == ("created", "candidate")
    assert listed(alice_key) == [] and listed(alice_key, status="candidate") == ["I play chess."]


BAD: list[tuple[str, object]] = [
    ("content", None),
    ("content", ""),
    ("content", "  "),
    ("content", 7),
    ("content", ["x"]),
    ("content", {"a": 1}),
    ("content", "x" * 8_001),
    ("content", "a\x00b"),
    ("kind", "gossip"),
    ("kind", 7),
    ("kind", ["fact"]),
    ("tags", "home"),
    ("tags", [7]),
    ("tags", [""]),
    ("tags", ["x" * 51]),
    ("tags", ["x"] * 21),
    ("tags", {"home": 1}),
    ("importance", 1.1),
    ("importance", -1),
    ("importance", "high"),
    ("importance", True),
    ("importance", 10**40),
    ("confidence", 2),
    ("data", []),
    ("data", "text"),
    ("data", {"a": "x" * 20_000}),
    ("metadata", 7),
    ("project_key", 7),
    ("project_key", "x" * 101),
    ("occurred_at", "yesterday"),
    ("occurred_at", 10**30),
    ("occurred_at", [2024]),
    ("valid_from", "0001-01-01T00:00:00+14:00"),
    ("valid_until", {}),
    ("summary", 7),
    ("agent_id", "x" * 201),
    ("run_id", 7),
]


@pytest.mark.parametrize(("field", "value"), BAD)
def test_a_bad_field_is_named_and_nothing_is_written(
    field: str, value: object, alice: User, alice_key: str
) -> None:
    refused(Api(alice_key).post(PATH, {"content": "I play chess.", field: value}), field)
    assert not Memory.objects.exists()


def test_validity_must_not_end_before_it_begins(alice: User, alice_key: str) -> None:
    body = {"content": "I play chess.", "valid_from": "2025-01-01", "valid_until": "2024-01-01"}
    refused(Api(alice_key).post(PATH, body), "valid_until")


def test_the_list_has_what_is_in_use(alice: User, mallory: User, alice_key: str) -> None:
    for status in ("active", "disabled", "candidate", "superseded", "archived"):
        make_memory(alice, status, status=status)
    binned = make_memory(alice, "binned")
    curation.recycle(user=alice, memory=binned)
    make_memory(mallory, "hers")
    assert listed(alice_key) == ["disabled", "active"]
    assert listed(alice_key, status="candidate") == ["candidate"]
    assert listed(alice_key, status="archived") == ["archived"]
    assert listed(alice_key, status="deleted") == ["binned"]


def test_every_filter_narrows_the_list(alice: User, alice_key: str) -> None:
    project = Project.objects.create(user=alice, key="p")
    make_memory(
        alice,
        "Chess on Sundays.",
        kind="skill",
        tags=["game"],
        pinned=True,
        project=project,
        created_at="2024-01-01T00:00Z",
    )
    make_memory(alice, "Tea.", kind="preference")
    for query in (
        {"query": "chess"},
        {"kind": "skill"},
        {"kind": "skill,task"},
        {"tag": "game"},
        {"pinned": "true"},
        {"project_key": "p"},
        {"to": "2025-01-01T00:00:00Z"},
    ):
        assert listed(alice_key, **query) == ["Chess on Sundays."], query
    assert listed(alice_key, **{"from": "2025-01-01"}) == ["Tea."]
    assert listed(alice_key, origin="import") == []
    assert listed(alice_key, kind="", query="") == ["Tea.", "Chess on Sundays."]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "gossip"),
        ("kind", "fact,gossip"),
        ("status", "gone"),
        ("origin", "nowhere"),
        ("pinned", "perhaps"),
        ("sort", "content"),
        ("sort", "user__password"),
        ("from", "yesterday"),
        ("to", "9999-12-31T23:59:59-12:00"),
        ("query", "x" * 1_001),
        ("limit", "0"),
    ],
)
def test_a_bad_filter_is_named(field: str, value: str, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get(PATH, **{field: value}), field)


def test_one_memory_shows_where_it_came_from(alice: User, alice_key: str) -> None:
    turn = make_turn(make_conversation(alice), "I play chess.")
    other = make_memory(alice, "Alice never plays chess.")
    memory = make_memory(alice, "Alice plays chess.", turns=[turn], conflicts_with=other)
    found = answer(Api(alice_key).get(f"{PATH}/{memory.public_id}"))
    assert set(found) >= SHAPE
    source = found["sources"][0]
    assert source["conversation_id"] == turn.conversation.public_id
    assert source["user_message_id"] == turn.user_message.public_id
    assert source["assistant_message_id"] == turn.assistant_message.public_id
    assert (source["quote"], source["origin"]) == ("I play chess.", "extracted")
    assert found["conflicts_with"] == [other.public_id]


def test_another_text_becomes_a_version(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    changes = {"content": "Alice lives in Paris.", "tags": ["home"], "pinned": True}
    found = answer(Api(alice_key).patch(f"{PATH}/{memory.public_id}", changes))
    assert (found["content"], found["version"]) == ("Alice lives in Paris.", 2)
    assert found["tags"] == ["home"] and found["pinned"] is True
    assert MemoryVersion.objects.filter(memory=memory).count() == 2


def test_other_changes_make_no_version(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.", valid_from="2024-01-01T00:00Z")
    changes = {"status": "disabled", "importance": 1, "kind": "PROFILE", "valid_from": None}
    found = answer(Api(alice_key).patch(f"{PATH}/{memory.public_id}", changes))
    assert (found["status"], found["importance"], found["kind"]) == ("disabled", 1.0, "preference")
    assert found["valid_from"] is None and found["version"] == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[
            (name, value)
            for name, value in BAD
            if name not in ("project_key", "agent_id", "run_id")
        ],
        ("kind", None),
        ("status", "candidate"),
        ("status", 1),
        ("pinned", "yes"),
        ("pinned", None),
    ],
)
def test_a_bad_change_is_named_and_nothing_is_changed(
    field: str, value: object, alice: User, alice_key: str
) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    before = Memory.objects.values().get(pk=memory.pk)
    refused(Api(alice_key).patch(f"{PATH}/{memory.public_id}", {field: value}), field)
    assert Memory.objects.values().get(pk=memory.pk) == before


def test_deleting_forgets_it_now(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    api = Api(alice_key)
    accepted = answer(api.delete(f"{PATH}/{memory.public_id}"), 202)
    assert accepted["status"] == "accepted"
    assert Operation.objects.get(public_id=accepted["op_id"]).kind == "forget_memory"
    error(api.get(f"{PATH}/{memory.public_id}"), 404)


def test_deleting_may_put_it_into_the_bin_and_it_comes_back(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    api = Api(alice_key)
    binned = answer(api.delete(f"{PATH}/{memory.public_id}", recycle="true"))
    assert binned["deleted_at"] and binned["purge_at"] and listed(alice_key) == []
    assert answer(api.get(f"{PATH}/{memory.public_id}"))["deleted_at"]
    assert answer(api.post(f"{PATH}/{memory.public_id}/restore"))["deleted_at"] is None
    assert listed(alice_key) == ["Alice lives in Berlin."]


@pytest.mark.parametrize("query", [{"recycle": "maybe"}, {"recyle": "true"}, {"cascade": "true"}])
def test_a_doubtful_deletion_deletes_nothing(
    query: dict[str, str], alice: User, alice_key: str
) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    refused(Api(alice_key).delete(f"{PATH}/{memory.public_id}", **query), next(iter(query)))
    assert listed(alice_key) == ["Alice lives in Berlin."] and not Operation.objects.exists()


def test_a_body_of_a_deletion_counts_like_its_query(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    path = f"{PATH}/{memory.public_id}"
    refused(Api(alice_key).call("delete", path, {"recyle": True}), "recyle")
    assert not Operation.objects.exists()


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_a_stranger_finds_nothing(
    method: str, alice: User, mallory: User, mallory_key: str, product_key: str
) -> None:
    memory = make_memory(alice, "Alice lives in Berlin.")
    path, body = f"{PATH}/{memory.public_id}", {"pinned": True} if method == "patch" else None
    error(Api(mallory_key).call(method, path, body), 404, "not_found")
    error(Api(product_key).call(method, path, body, user_id="mallory"), 404, "not_found")
    memory.refresh_from_db()
    assert not memory.pinned and memory.hidden_at is None and memory.deleted_at is None


def test_a_long_list_with_sources_takes_as_many_queries(alice: User, alice_key: str) -> None:
    row = make_conversation(alice)
    api, counts = Api(alice_key), []
    make_memory(alice, "the first", turns=[make_turn(row, "It is so.")])
    answer(api.get(PATH))
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            answer(api.get(PATH))
        counts.append(len(queries))
        for number in range(5):
            make_memory(alice, f"memory {number}", turns=[make_turn(row, f"It is {number}.")])
    assert counts[0] == counts[1]


def test_a_number_of_more_than_64_bits_comes_back(alice: User, alice_key: str) -> None:
    body = {"content": "Counts atoms", "data": {"atoms": 1e40, "by": [-(1e30)]}}
    made = answer(Api(alice_key).post("/memory/long_term", body), 201)
    for one in (made, answer(Api(alice_key).get(f"/memory/long_term/{made['id']}"))):
        assert one["data"] == {"atoms": 1e40, "by": [-(1e30)]} and one["created_at"].endswith("Z")


@pytest.mark.parametrize("kind", sorted(OF_PROJECTS))
def test_a_memory_of_a_project_names_it_or_means_the_default(
    alice_key: str, settings: Settings, kind: str
) -> None:
    """Without a project it would be in the prompts of every chat."""
    body = {"content": "Ship the parser before the search page", "kind": kind}
    assert refused(Api(alice_key).post("/memory/long_term", body), "project_key")
    assert not Memory.objects.exists()

    settings.DEFAULT_PROJECT = "General Works"
    answer(Api(alice_key).post("/memory/long_term", body), 201)
    assert Memory.objects.get().project == Project.objects.get(key="general-works")


BROKE = ["Divorce lawyer", "Wedding singer on weekends", "Doesn't miss a single rehearsal"]


@pytest.mark.parametrize("text", BROKE)
def test_texts_that_once_broke_it_are_written_and_learned(alice_key: str, text: str) -> None:
    api = Api(alice_key)
    for known in ("Married to Sam", "Sings at weddings", "Misses rehearsals"):
        answer(api.post("/memory/long_term", {"content": known}), 201)
    assert api.post("/memory/long_term", {"content": text}).status_code in (200, 201)
    turn = {"conversation_id": "c1", "user_message": text, "assistant_message": "Noted."}
    op_id = answer(api.post("/turns", turn), 201)["op_ids"][0]
    worker.drain()
    assert answer(api.get(f"/memory/ops/{op_id}"))["status"] == "succeeded"
    assert not Operation.objects.exclude(status="succeeded").exists()


def test_a_written_text_gets_its_topic_and_its_data(
    alice_key: str, plain_reader: PlainReader
) -> None:
    text = "My sister Zofia pays €900 rent since 2019"
    plain_reader.hears(text, statement(text, text, topic="money"))
    found = answer(Api(alice_key).post(PATH, {"content": text}), 201)
    assert found["tags"] == ["money"]
    assert found["data"] == {
        "since": "2019-01-01",
        "amounts": ["€900"],
        "names": ["Zofia"],
        "relation": "sister",
    }


def test_given_tags_and_data_stand(alice_key: str, plain_reader: PlainReader) -> None:
    text = "Pays €900 rent"
    plain_reader.hears(text, statement(text, text, topic="money"))
    body = {"content": text, "tags": ["flat"], "data": {"a": 1}}
    found = answer(Api(alice_key).post(PATH, body), 201)
    assert (found["tags"], found["data"]) == (["flat"], {"a": 1})


def test_an_edit_that_conflicts_waits_beside_what_it_contradicts(
    alice: User, alice_key: str, pairs: FakePairs
) -> None:
    leeds = make_memory(alice, "Lives in Leeds")
    edited = make_memory(alice, "Plays the cello")
    pairs.says("Lives in Leeds", "Lives in York", "newer")
    path = f"{PATH}/{edited.public_id}"
    assert answer(Api(alice_key).patch(path, {"content": "Lives in York"}))["status"] == "candidate"
    edited.refresh_from_db()
    leeds.refresh_from_db()
    assert (edited.content, edited.conflicts_with) == ("Lives in York", leeds)
    assert (leeds.content, leeds.status) == ("Lives in Leeds", "active")


def test_an_edit_that_says_the_same_as_before_or_more_conflicts_with_nothing(
    alice: User, alice_key: str, pairs: FakePairs
) -> None:
    make_memory(alice, "Plays the cello well")
    edited = make_memory(alice, "Plays the cello")
    pairs.says("Plays the cello", "Plays the cello daily", "contradicts")
    path = f"{PATH}/{edited.public_id}"
    changed = answer(Api(alice_key).patch(path, {"content": "Plays the cello daily"}))
    assert changed["status"] == "active"
