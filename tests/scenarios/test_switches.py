"""A switch that is off holds at once, in whatever asks; what exists stays until it is deleted."""

from typing import Any

import pytest

from tests.scenarios.caller import Caller, until

MESSAGE = "What could I cook tonight?"
SUMMARIZED_AFTER = 14  # turns: the window holds 20 messages, and 6 that left it make a summary
KNOWN = "I'm allergic to peanuts"


@pytest.fixture
def remembered(ana: Caller) -> Caller:
    ana.tell(f"{KNOWN}.")
    assert ana.memories() == [KNOWN]
    return ana


def sections(caller: Caller, message: str = MESSAGE, **more: Any) -> set[str]:
    answer = caller.post("/memory/context", message=message, **more)
    return {section["name"] for section in answer["sections"]}


def test_long_term_off_recalls_and_finds_nothing(remembered: Caller) -> None:
    assert sections(remembered) == {"constraints"}
    remembered.patch("/memory/settings", longterm_enabled=False)
    assert sections(remembered) == set()
    assert remembered.found("peanuts", "memory,note") == []
    assert remembered.found("peanuts", "message") != []


def test_long_term_off_refuses_new_memories(remembered: Caller) -> None:
    remembered.patch("/memory/settings", longterm_enabled=False)
    body = {"user_id": remembered.user_id, "content": "Likes tea"}
    refused = remembered.ask("POST", "/memory/long_term", body=body)
    assert (refused.status, refused.body["error"]["code"]) == (409, "memory_off")
    assert remembered.memories() == [KNOWN]


@pytest.mark.parametrize("told", ["Remember that I like green tea.", "记住我喜欢绿茶。"])
def test_long_term_off_records_turns_and_learns_nothing_from_them(
    remembered: Caller, told: str
) -> None:
    remembered.patch("/memory/settings", longterm_enabled=False)
    remembered.tell(told, conversation="off")
    assert remembered.get("/conversations/off")["message_count"] == 2
    assert remembered.memories() == [KNOWN]
    remembered.patch("/memory/settings", longterm_enabled=True)
    remembered.tell("I live in Porto.", conversation="on again")
    assert sorted(remembered.memories()) == ["I live in Porto", KNOWN]


def test_a_turn_that_waits_is_not_learned_when_the_switch_goes_off_meanwhile(ana: Caller) -> None:
    waiting = [ana.record(f"I'm allergic to {what}.") for what in ("nuts", "soy", "eggs", "milk")]
    ana.patch("/memory/settings", longterm_enabled=False)
    known = ana.memories()
    ana.finished(op_id for turn in waiting for op_id in turn["op_ids"])
    assert ana.memories() == known


def test_long_term_off_keeps_list_get_edit_and_delete(remembered: Caller) -> None:
    remembered.patch("/memory/settings", longterm_enabled=False)
    (memory,) = remembered.get("/memory/long_term")["results"]
    path = f"/memory/long_term/{memory['id']}"
    assert remembered.get(path)["content"] == KNOWN
    remembered.patch(path, content=f"{KNOWN} and soy")
    assert remembered.memories() == [f"{KNOWN} and soy"]
    query = {"user_id": remembered.user_id}
    forgotten = remembered.ask("DELETE", path, query=query)
    remembered.finished([forgotten.body["op_id"]])
    assert remembered.memories() == []


def test_on_again_recalls_what_was_kept(remembered: Caller) -> None:
    remembered.patch("/memory/settings", longterm_enabled=False)
    remembered.patch("/memory/settings", longterm_enabled=True)
    assert sections(remembered) == {"constraints"}


def test_episodes_off_recalls_none_and_makes_none(ana: Caller) -> None:
    talk = {"conversation_id": "boats"}
    for text in ("We talked about wooden boats.", "The boat has a red sail.", "Tea helps."):
        ana.tell(text, conversation="boats")
    query = "What did we just say about the boat?"
    assert ana.get("/memory/episodes", query=query, **talk)["results"] != []
    ana.patch("/memory/settings", episodic_enabled=False)
    assert ana.get("/memory/episodes", query=query, **talk)["results"] == []
    assert ana.found(query, "episode") == []
    assert "episodes" not in sections(ana, query, **talk)
    ana.tell("The mast is made of pine.", conversation="boats")
    assert len(ana.get("/memory/episodes", **talk)["results"]) == 3


def test_summary_off_recalls_none_and_changes_none(ana: Caller) -> None:
    talk = {"conversation_id": "long"}
    tell_of_travels(ana, range(SUMMARIZED_AFTER))
    until(lambda: summarizing(ana) == {"succeeded"}, what="the summary")
    summary = ana.get("/memory/summary", **talk)
    assert summary["text"] and summary["covered_message_count"] >= 6
    assert "summary" in sections(ana, "Where was I?", **talk)
    ana.patch("/memory/settings", summary_enabled=False)
    assert "summary" not in sections(ana, "Where was I?", **talk)
    assert ana.found("travelled", "summary") == []
    tell_of_travels(ana, range(SUMMARIZED_AFTER, SUMMARIZED_AFTER + 5))
    until(lambda: summarizing(ana) == {"succeeded"}, what="what was due before")
    assert ana.get("/memory/summary", **talk)["version"] == summary["version"]


def summarizing(caller: Caller) -> set[str]:
    return {one["status"] for one in caller.get("/memory/ops", kind="summarize")["results"]}


def tell_of_travels(caller: Caller, numbers: range) -> None:
    turns = [
        caller.record(f"In week {number} I travelled to town number {number}.", conversation="long")
        for number in numbers
    ]
    caller.finished(op_id for turn in turns for op_id in turn["op_ids"])


def test_confirm_before_remembering_holds_what_is_learned_until_it_is_accepted(
    ana: Caller,
) -> None:
    ana.patch("/memory/settings", confirm_before_remembering=True)
    ana.tell(f"{KNOWN}.")
    assert ana.memories() == [] and sections(ana) == set()
    (candidate,) = ana.get("/memory/long_term", status="candidate")["results"]
    ana.post("/memory/long_term/confirm", decisions=[{"id": candidate["id"], "decision": "accept"}])
    assert ana.memories() == [KNOWN] and sections(ana) == {"constraints"}
