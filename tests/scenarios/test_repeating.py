"""The same call again changes nothing."""

from dataclasses import replace
from typing import Any

import pytest

from tests.scenarios.caller import Answer, Caller

TURN = {
    "conversation_id": "monday",
    "user_message": "I'm allergic to peanuts. 我住在杭州。",
    "assistant_message": "Noted.",
}


def turn(caller: Caller, **more: Any) -> Answer:
    return caller.ask("POST", "/turns", body={"user_id": caller.user_id, **TURN, **more})


def test_a_turn_with_the_same_client_ids_is_recorded_and_learned_once(ana: Caller) -> None:
    ids = {"user_message_id": "u-1", "assistant_message_id": "a-1"}
    first, second = turn(ana, **ids), turn(ana, **ids)
    assert (first.status, second.status) == (201, 200)
    ana.finished(first.body["op_ids"])
    third = turn(ana, **ids)
    names = ("conversation_id", "user_message_id", "assistant_message_id")
    assert {tuple(one.body[name] for name in names) for one in (first, second, third)} == {
        tuple(first.body[name] for name in names)
    }
    assert_learned_once(ana)


def test_a_turn_with_the_same_idempotency_key_is_recorded_and_learned_once(ana: Caller) -> None:
    keyed = replace(ana, headers={"Idempotency-Key": f"{ana.user_id} turn"})
    first, second = turn(keyed), turn(keyed)
    assert first.status == second.status == 201 and first.body == second.body
    assert second.headers["Idempotency-Replayed"] == "true"
    ana.finished(first.body["op_ids"])
    assert turn(keyed).body == first.body
    assert_learned_once(ana)


def test_an_idempotency_key_is_not_given_to_another_request(ana: Caller) -> None:
    keyed = replace(ana, headers={"Idempotency-Key": f"{ana.user_id} turn"})
    turn(keyed)
    other = turn(keyed, user_message="I'm allergic to walnuts.")
    assert (other.status, other.body["error"]["code"]) == (409, "conflict")
    assert len(ana.get("/conversations/monday/messages")["results"]) == 2


@pytest.mark.parametrize("content", ["Allergic to peanuts", "对花生过敏"])
def test_a_memory_written_twice_is_there_once(ana: Caller, content: str) -> None:
    first = ana.post("/memory/long_term", content=content)
    second = ana.post("/memory/long_term", content=content)
    assert (first["result"], second["result"]) == ("created", "skipped")
    assert first["id"] == second["id"] and ana.memories() == [content]


def assert_learned_once(caller: Caller) -> None:
    assert len(caller.get("/conversations/monday/messages")["results"]) == 2
    assert sorted(caller.memories()) == ["I'm allergic to peanuts", "我住在杭州"]
    assert {one["version"] for one in caller.get("/memory/long_term")["results"]} == {1}
    extractions = caller.get("/memory/ops", kind="extract_turn")["results"]
    assert [one["status"] for one in extractions] == ["succeeded"]
    assert len(caller.get("/memory/episodes", conversation_id="monday")["results"]) == 1
