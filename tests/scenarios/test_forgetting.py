"""Forgotten through REST: gone from every answer and from everywhere on the product's side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.live import Product
from tests.scenarios.caller import Caller, until
from tests.scenarios.stored import places_holding

EVERYTHING = "memory,message,episode,summary,note"
QUESTION = "What am I allergic to? 我对什么过敏？"


@dataclass(frozen=True)
class Told:
    """What the user said, and the recalls that used it."""

    turn: dict[str, Any]
    memory_id: str
    trace_ids: tuple[str, ...]


def allergic(caller: Caller, word: str) -> Told:
    """A turn about `word`, learned, recalled by two requests."""
    turn = caller.tell(f"I'm allergic to {word} nuts.", conversation="allergies")
    memory = next(
        row for row in caller.get("/memory/long_term")["results"] if word in row["content"]
    )
    context = caller.post("/memory/context", message=QUESTION, conversation_id="allergies")
    assert word in context["block"]
    search = caller.get("/search", query="allergic", types=EVERYTHING)
    assert word in str(search["results"])
    return Told(turn, memory["id"], (context["request_id"], search["request_id"]))


def forget(caller: Caller, scope: str, **what: Any) -> Any:
    return caller.ask(
        "POST", "/memory/forget", body={"user_id": caller.user_id, "scope": scope, **what}
    )


def by_memory(caller: Caller, told: Told) -> Any:
    return forget(caller, "memory", memory_id=told.memory_id)


def by_message(caller: Caller, told: Told) -> Any:
    return forget(caller, "message", message_id=told.turn["assistant_message_id"], cascade=True)


def by_conversation(caller: Caller, told: Told) -> Any:
    return forget(caller, "conversation", conversation_id="allergies")


def by_clearing(caller: Caller, told: Told) -> Any:
    body = {"user_id": caller.user_id, "conversation_id": "allergies"}
    return caller.ask("POST", "/clear", body=body)


NAMES = [
    "amber barley cedar copper autumn ember olive hazel juniper linden maple pebble silver russet"
    " willow winter",
    "cliff dale field ford castle church grove haven hill ridge spring vale wood stone water"
    " bridge",
    "berry hurst gate ham house land ling fold side light ton ville wick worth park field",
]  # no name put together of them is taken for a secret
PARTS_OF_A_NAME = [each.split() for each in NAMES]
SCOPES = [by_memory, by_message, by_conversation, by_clearing]


@pytest.fixture
def word(ana: Caller) -> str:
    """Nuts that nobody else is allergic to, by a name that can be spoken and is no password."""
    signs = [int(sign, 16) for sign in ana.user_id.removeprefix("ana-")]
    return "".join(parts[sign] for parts, sign in zip(PARTS_OF_A_NAME, signs, strict=False))


@pytest.mark.parametrize("by", SCOPES)
def test_forgotten_is_found_by_no_request_from_the_moment_it_is_accepted(
    ana: Caller, word: str, by: Callable[[Caller, Told], Any]
) -> None:
    told = allergic(ana, word)
    accepted = by(ana, told)
    assert accepted.status == 202 and accepted.body["status"] == "accepted"
    assert_not_shown(ana, told, word, memory_only=by is by_memory)
    ana.finished([accepted.body["op_id"]])
    assert_not_shown(ana, told, word, memory_only=by is by_memory)
    assert_not_traced(ana, told, memory_only=by is by_memory)


@pytest.mark.parametrize("by", SCOPES[1:])
def test_forgotten_with_what_was_said_lies_nowhere(
    ana: Caller, product: Product, word: str, by: Callable[[Caller, Told], Any]
) -> None:
    told = allergic(ana, word)
    assert places_holding(product, word)
    accepted = by(ana, told)
    ana.finished([accepted.body["op_id"]])
    assert places_holding(product, word) == set()
    receipt = ana.get(f"/memory/ops/{accepted.body['op_id']}/receipt")
    assert receipt["erased"] and word not in str(receipt)


@pytest.mark.parametrize("by", SCOPES)
def test_a_receipt_says_that_no_residue_was_found(
    ana: Caller, word: str, by: Callable[[Caller, Told], Any]
) -> None:
    accepted = by(ana, allergic(ana, word))
    ana.finished([accepted.body["op_id"]])
    scan = ana.get(f"/memory/ops/{accepted.body['op_id']}/receipt")["scan"]
    assert scan.get("residue") == 0 and scan["places"]


def test_a_forgotten_memory_leaves_the_turn_it_came_from(
    ana: Caller, product: Product, word: str
) -> None:
    told = allergic(ana, word)
    accepted = by_memory(ana, told)
    ana.finished([accepted.body["op_id"]])
    held = places_holding(product, word)
    assert "conversations_message" in held
    assert not {place for place in held if place.startswith("memories_memory")}
    receipt = ana.get(f"/memory/ops/{accepted.body['op_id']}/receipt")
    assert receipt["kept"] == ["messages"]


def test_a_forgotten_statement_is_not_learned_again_from_the_same_turn(
    ana: Caller, word: str
) -> None:
    turn = {"user_message_id": "u-1", "assistant_message_id": "a-1", "conversation": "allergies"}
    ana.tell(f"I'm allergic to {word} nuts.", **turn)
    (memory,) = ana.get("/memory/long_term")["results"]
    ana.finished([forget(ana, "memory", memory_id=memory["id"]).body["op_id"]])
    ana.tell(f"I'm allergic to {word} nuts.", **turn)
    assert ana.memories() == []
    ana.tell(f"I'm allergic to {word} nuts.", conversation="anew")
    assert ana.memories() == [f"I'm allergic to {word} nuts"]


def test_a_cleared_conversation_stays_empty(ana: Caller, word: str) -> None:
    told = allergic(ana, word)
    ana.finished([by_clearing(ana, told).body["op_id"]])
    left = ana.get("/conversations/allergies")
    assert (left["id"], left["message_count"]) == (told.turn["conversation_id"], 0)
    assert ana.get("/memory/episodes", conversation_id="allergies")["results"] == []
    query = {"user_id": ana.user_id, "conversation_id": "allergies"}
    assert ana.ask("GET", "/memory/summary", query=query).status == 404


def test_a_forgotten_conversation_is_not_found(ana: Caller, word: str) -> None:
    told = allergic(ana, word)
    accepted = by_conversation(ana, told)
    for name in ("allergies", told.turn["conversation_id"]):
        query = {"user_id": ana.user_id}
        assert ana.ask("GET", f"/conversations/{name}", query=query).status == 404
    ana.finished([accepted.body["op_id"]])
    assert ana.get("/conversations")["results"] == []


def test_a_conversation_may_go_and_leave_its_memories(
    ana: Caller, product: Product, word: str
) -> None:
    allergic(ana, word)
    accepted = forget(ana, "conversation", conversation_id="allergies", forget_memories=False)
    ana.finished([accepted.body["op_id"]])
    assert ana.memories() == [f"I'm allergic to {word} nuts"]
    assert not {place for place in places_holding(product, word) if "conversations_" in place}
    (memory,) = ana.get("/memory/long_term")["results"]
    (source,) = memory["sources"]
    assert source["origin"] == "user" and not source["quote"] and not source["user_message_id"]


def test_a_forgotten_project_is_found_by_no_request_and_lies_nowhere(
    ana: Caller, product: Product, word: str
) -> None:
    project = {"project_key": "apollo", "kind": "plan"}
    ana.post("/memory/long_term", content=f"The rocket crew is allergic to {word} nuts", **project)
    other = {"project_key": "gemini", "kind": "plan"}
    ana.post("/memory/long_term", content="The capsule is painted blue", **other)
    context = ana.post(
        "/memory/context", message="What is the rocket crew allergic to?", project_key="apollo"
    )
    assert word in context["block"]
    accepted = forget(ana, "project", project_key="apollo")
    assert accepted.status == 202
    assert ana.memories() == ["The capsule is painted blue"]
    assert word not in str(ana.found("rocket", EVERYTHING))
    assert word not in ana.recalled("Which rocket?", project_key="apollo")
    ana.finished([accepted.body["op_id"]])
    assert places_holding(product, word) == set()
    assert ana.memories() == ["The capsule is painted blue"]


def test_a_forgotten_user_lies_nowhere_and_comes_back_as_somebody_new(
    ana: Caller, bob: Caller, product: Product, word: str
) -> None:
    told = allergic(ana, word)
    bob.tell("I'm allergic to walnuts.")
    accepted = forget(ana, "user").body
    token = accepted["receipt_token"]
    path = f"/memory/ops/{accepted['op_id']}"
    anyone = Caller(product, ana.user_id, headers={"Authorization": ""})
    finished_without_key(anyone, path, token)
    receipt = anyone.ask("GET", f"{path}/receipt", query={"receipt_token": token}).body
    assert receipt["scope"] == "user" and ana.user_id not in str(receipt)
    assert places_holding(product, word) == places_holding(product, ana.user_id) == set()
    ana.tell("I live in Porto.")
    assert_not_shown(ana, told, word, memory_only=False)
    assert_not_traced(ana, told, memory_only=False)
    assert ana.memories() == ["I live in Porto"]
    assert bob.memories() == ["I'm allergic to walnuts"]


def test_while_a_user_is_being_forgotten_nothing_can_be_written(ana: Caller, word: str) -> None:
    allergic(ana, word)
    accepted = forget(ana, "user")
    body = {"user_id": ana.user_id, "content": "Likes tea"}
    written = ana.ask("POST", "/memory/long_term", body=body)
    # Either it is still going on, or the account is gone and this is somebody new.
    if written.status == 409:
        assert written.body["error"]["code"] == "being_forgotten"
    else:
        assert written.status == 201 and ana.memories() == ["Likes tea"]
    assert accepted.status == 202


def finished_without_key(caller: Caller, path: str, token: str) -> None:
    def over() -> Any:
        answer = caller.ask("GET", path, query={"receipt_token": token})
        assert answer.status == 200, answer.body
        return answer.body if answer.body["status"] == "succeeded" else None

    until(over, what="the user to be forgotten")


def test_nothing_is_forgotten_without_saying_what(ana: Caller, word: str) -> None:
    allergic(ana, word)
    for body in ({}, {"scope": "memory"}, {"scope": "message"}, {"scope": "everything"}):
        answer = ana.ask("POST", "/memory/forget", body={"user_id": ana.user_id, **body})
        assert answer.status == 400, body
    assert ana.memories() == [f"I'm allergic to {word} nuts"]


def assert_not_shown(caller: Caller, told: Told, word: str, *, memory_only: bool) -> None:
    """By list, one, search and context; with `memory_only` what was said is still there."""
    query = {"user_id": caller.user_id}
    assert word not in str(caller.memories())
    assert caller.ask("GET", f"/memory/long_term/{told.memory_id}", query=query).status == 404
    types = "memory" if memory_only else EVERYTHING
    assert word not in str(caller.found("allergic", types))
    assert word not in caller.recalled(QUESTION, conversation_id="another")


def assert_not_traced(caller: Caller, told: Told, *, memory_only: bool) -> None:
    gone = [told.memory_id]
    if not memory_only:
        gone += [told.turn["user_message_id"], told.turn["assistant_message_id"]]
    for request_id in told.trace_ids:
        query = {"user_id": caller.user_id}
        trace = caller.ask("GET", f"/debug/{request_id}", query=query)
        assert trace.status in {200, 404}
        assert not [one for one in gone if one in str(trace.body)]
