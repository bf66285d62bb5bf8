"""Workflows that worked become skills, and those that fail are put away."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.forgetting import message_forgets
from conversations.models import Conversation
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories.extraction.message_reading.habits import workflow_confidence, workflow_of
from memories.forgetting import memory_forgets as known
from memories.models import Kind, Memory, MemoryStatus, Source
from ops.accounts import users
from ops.models import AuditEvent, Status
from ops.queue import worker

pytestmark = pytest.mark.django_db

FLIGHT = [
    {
        "name": "search_flights",
        "input": {"to": "PAR", "day": "2026-05-03"},
        "output": [1],
        "ok": True,
    },
    {"name": "book_flight", "input": {"flight": 1}, "output": "fine", "ok": True},
]
FAILED = [FLIGHT[0], FLIGHT[1] | {"ok": False}]
ASKED = ("Book me a flight to Paris.", "Book a flight to Rome please.", "Book me a flight to Oslo.")
ASKED_ZH = ("帮我订去巴黎的机票。", "帮我订去罗马的机票。", "帮我订去奥斯陆的机票。")


def ask(
    conversation: Conversation, text: str, tools: list[dict[str, Any]] = FLIGHT
) -> turns.RecordedTurn:
    turn = turns.record_turn(
        user=conversation.user,
        conversation=conversation,
        user_message=MessageInput(text),
        assistant_message=MessageInput("Done."),
        tools=tools,
    )
    worker.drain()
    return turn


def skill() -> Memory:
    return Memory.objects.get(kind=Kind.SKILL)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            ASKED,
            "For requests like “Book me a flight to Paris”, this worked: "
            "search_flights (day, to), then book_flight (flight)",
        ),
        (
            ASKED_ZH,
            "遇到“帮我订去巴黎的机票”这类请求时，可行的步骤："
            "search_flights（day、to） → book_flight（flight）",
        ),
    ],
)
def test_what_worked_more_than_once_is_a_skill(
    conversation: Conversation, asked: tuple[str, ...], text: str
) -> None:
    ask(conversation, asked[0])
    assert not Memory.objects.filter(kind=Kind.SKILL).exists()
    ask(conversation, asked[1])
    assert (skill().content, skill().confidence) == (text, 0.67)
    ask(conversation, asked[2])
    assert skill().confidence == 0.75
    assert skill().data == {
        "tools": ["search_flights", "book_flight"],
        "successes": 3,
        "failures": 0,
    }
    assert Source.objects.filter(memory=skill()).count() == 3


def test_failures_lower_it_until_it_is_archived(conversation: Conversation) -> None:
    ask(conversation, ASKED[0])
    ask(conversation, ASKED[1])
    ask(conversation, ASKED[2], FAILED)
    assert (skill().confidence, skill().status) == (0.4, MemoryStatus.ACTIVE)
    ask(conversation, ASKED[2], [FLIGHT[0] | {"ok": False}])
    assert (skill().confidence, skill().status) == (0.29, MemoryStatus.ARCHIVED)
    assert skill().data["failures"] == 2
    assert AuditEvent.objects.get(action="memory.archived").target == skill().public_id
    for text in ASKED:
        ask(conversation, text)
    assert skill().status == MemoryStatus.ACTIVE


@pytest.mark.parametrize(
    "second",
    [
        ("Book a flight to Rome please.", FLIGHT[:1]),
        ("What is the capital of Peru?", FLIGHT),
        ("Book a flight to Rome please.", FAILED),
        ("Book a flight to Rome, my password is hunter2x99.", FLIGHT),
        ("Book a flight to Rome please.", []),
    ],
)
def test_another_workflow_another_request_or_a_failure_makes_none(
    conversation: Conversation, second: tuple[str, list[dict[str, Any]]]
) -> None:
    ask(conversation, ASKED[0])
    ask(conversation, *second)
    assert not Memory.objects.filter(kind=Kind.SKILL).exists()


def test_forgetting_the_turn_that_worded_it_leaves_it_in_the_words_of_another(
    conversation: Conversation,
) -> None:
    first = ask(conversation, ASKED[0])
    ask(conversation, ASKED[1])
    operation = message_forgets.forget_message(
        user=conversation.user, message=first.user_message, cascade=True
    )
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED
    assert "Rome" in skill().content and "Paris" not in skill().content
    ask(conversation, ASKED[2])
    assert skill().data["successes"] == 2


def test_a_forgotten_skill_is_not_learned_again_from_the_same_turns(
    conversation: Conversation,
) -> None:
    ask(conversation, ASKED[0])
    ask(conversation, ASKED[1])
    known.forget_memory(user=conversation.user, memory=skill())
    worker.drain()
    ask(conversation, ASKED[2])
    assert not Memory.objects.filter(kind=Kind.SKILL).exists()


def test_nothing_is_learned_while_memory_is_off(conversation: Conversation) -> None:
    ask(conversation, ASKED[0])
    users.change_settings(user=conversation.user, changes={"longterm_enabled": False})
    ask(conversation, ASKED[1])
    assert not Memory.objects.filter(kind=Kind.SKILL).exists()


def test_values_never_stand_in_a_skill(conversation: Conversation) -> None:
    ask(conversation, ASKED[0])
    ask(conversation, ASKED[1])
    assert "PAR" not in f"{skill().content}{skill().data}"


@pytest.mark.parametrize(
    "tools",
    [[], [{"name": 3}], [{}], [{"name": "a b"}], [{"name": "x", "input": {}}] * 13],
)
def test_odd_tools_are_no_workflow(tools: list[dict[str, Any]]) -> None:
    assert workflow_of(1, request="Book a flight", tools=tools) is None


def test_a_failure_weighs_more_than_a_success() -> None:
    assert workflow_confidence(successes=3, failures=0) > workflow_confidence(
        successes=5, failures=1
    )
