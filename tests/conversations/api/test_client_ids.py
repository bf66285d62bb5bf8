"""The client's own id of a message works in every call that takes the id of a message."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from conversations.models import Message
from memories.models import Memory
from ops.models import Operation, User
from ops.queue import worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.memcenter.rest.test_schema import generated, operations

pytestmark = pytest.mark.django_db

# Names of messages as clients of all kinds make them.
IDS = ("m-1", "a/b", "甲 乙", "100%?#&+", "a//b;c=d", ".m", "x" * 200)
# The calls that name a message that is there already; the tests below make each of them.
NAMING = {
    ("/api/v1/messages/{message_id}", "get", "message_id"),
    ("/api/v1/messages/{message_id}", "delete", "message_id"),
    ("/api/v1/feedback", "post", "message_id"),
    ("/api/v1/memory/forget", "post", "message_id"),
    ("/api/v1/memory/forget", "post", "message_ids"),
    ("/api/v1/memory/flush", "post", "messages.message_id"),
}
# Those that give a new message its name.
GIVING = {
    ("/api/v1/turns", "post", "user_message_id"),
    ("/api/v1/turns", "post", "assistant_message_id"),
    ("/api/v1/conversations/{conversation_id}/messages", "post", "message_id"),
}


def fields(schema: dict[str, Any], node: Any, before: str = "") -> set[str]:
    """The dotted names of all fields of a request body."""
    if "$ref" in node:
        node = schema["components"]["schemas"][node["$ref"].rsplit("/", 1)[-1]]
    found = set()
    for name, one in node.get("properties", {}).items():
        found |= {f"{before}{name}", *fields(schema, one, f"{before}{name}.")}
    if isinstance(node.get("items"), dict):
        found |= fields(schema, node["items"], before)
    return found


def test_these_are_all_calls_that_take_the_id_of_a_message() -> None:
    schema = generated()
    found = set()
    for path, method, one in operations(schema):
        names = {parameter["name"] for parameter in one.get("parameters", [])}
        for body in one.get("requestBody", {}).get("content", {}).values():
            names |= fields(schema, body["schema"])
        found |= {(path, method, name) for name in names if "message_id" in name}
    assert found == NAMING | GIVING


def say(api: Api, conversation: str, question: str, reply: str, text: str) -> dict[str, Any]:
    said = {
        "user_id": "alice",
        "conversation_id": conversation,
        "user_message": text,
        "assistant_message": "I see.",
        "user_message_id": question,
        "assistant_message_id": reply,
    }
    told: dict[str, Any] = answer(api.post("/turns", said), 201)
    return told


@pytest.mark.parametrize("name", IDS)
def test_a_message_is_read_rated_and_deleted_by_it(
    name: str, alice: User, product_key: str
) -> None:
    api = Api(product_key)
    say(api, "c1", name, "reply", "I play chess.")
    path = f"/messages/{quote(name, safe='')}"

    assert answer(api.get(path, user_id="alice"))["external_id"] == name
    assert answer(api.get(f"{path}/", user_id="alice"))["external_id"] == name
    rated = {"user_id": "alice", "message_id": name, "rating": "positive"}
    assert answer(api.post("/feedback", rated))["id"] == name
    answer(api.delete(path, user_id="alice", cascade="true"), 202)

    error(api.get(path, user_id="alice"), 404, "not_found")
    assert not Message.objects.exists()


@pytest.mark.parametrize("name", IDS)
def test_a_message_is_forgotten_by_it(name: str, alice: User, product_key: str) -> None:
    api = Api(product_key)
    say(api, "c1", name, "reply", "I play chess.")
    body = {"scope": "message", "conversation_id": "c1", "message_id": name, "user_id": "alice"}

    op_id = answer(api.post("/memory/forget", body), 202)["op_id"]
    worker.drain()

    assert answer(api.get(f"/memory/ops/{op_id}", user_id="alice"))["status"] == "succeeded"
    assert [one.external_id for one in Message.everything.all()] == ["reply"]


def test_chosen_messages_are_forgotten_by_it(alice: User, product_key: str) -> None:
    api = Api(product_key)
    say(api, "c1", "q1", "r1", "I play chess.")
    say(api, "c1", "q2", "r2", "I play the oboe.")
    say(api, "c1", "q3", "r3", "I live in Porto.")
    memory = make_memory(alice, "Plays chess")
    own = Message.objects.get(external_id="q2").public_id
    body = {
        "scope": "memory",
        "user_id": "alice",
        "memory_ids": [memory.public_id],
        "message_ids": ["q1", own],
    }

    op_id = answer(api.post("/memory/forget", body), 202)["op_id"]

    assert answer(api.post("/memory/forget", body), 202)["op_id"] == op_id
    assert {one.external_id for one in Message.objects.all()} == {"q3", "r3"}
    assert not Memory.objects.filter(pk=memory.pk).exists()
    worker.drain()
    assert {one.external_id for one in Message.everything.all()} == {"q3", "r3"}


def test_the_conversation_of_chosen_messages_is_named_where_several_have_the_id(
    alice: User, product_key: str
) -> None:
    api = Api(product_key)
    say(api, "c1", "q", "r", "I play chess.")
    say(api, "c2", "q", "r", "I play the oboe.")
    body = {"scope": "memory", "user_id": "alice", "message_ids": ["q"]}

    refused(api.post("/memory/forget", body), "conversation_id")
    first = answer(api.post("/memory/forget", {**body, "conversation_id": "c2"}), 202)["op_id"]
    assert {one.conversation.external_id for one in Message.objects.all()} == {"c1"}
    other = answer(api.post("/memory/forget", body), 202)["op_id"]

    assert other != first and not Message.objects.exists()


def test_a_conversation_goes_with_chosen_messages_only(alice: User, product_key: str) -> None:
    body = {"scope": "memory", "user_id": "alice", "conversation_id": "c1"}
    for given in ({"memory_ids": ["mem_1"]}, {"about": "tea"}, {"memory_id": "mem_1"}):
        refused(Api(product_key).post("/memory/forget", {**body, **given}), "conversation_id")
    assert not Operation.objects.exists()


def test_what_was_said_under_a_name_again_is_forgotten_anew(alice: User, product_key: str) -> None:
    api = Api(product_key)
    body = {"scope": "memory", "user_id": "alice", "message_ids": ["q"]}
    say(api, "c1", "q", "r", "I play chess.")
    first = answer(api.post("/memory/forget", body), 202)["op_id"]
    say(api, "c1", "q", "r", "I play chess.")

    assert answer(api.post("/memory/forget", body), 202)["op_id"] != first
    assert not Message.objects.exists()


@pytest.mark.parametrize("name", IDS)
def test_a_flush_reads_the_recorded_message_that_has_it(
    name: str, alice: User, product_key: str
) -> None:
    api = Api(product_key)
    conversation = "c" * 200
    say(api, conversation, name, "reply", "I am allergic to peanuts.")
    body = {
        "user_id": "alice",
        "conversation_id": conversation,
        "stage": "candidates",
        "messages": [{"role": "user", "content": "as recorded", "message_id": name}],
    }

    [found] = answer(api.post("/memory/flush", body))["candidates"]

    said = Message.objects.get(external_id=name)
    assert found["source"]["message_id"] == said.public_id
    assert found["source"]["quote"] in said.content
