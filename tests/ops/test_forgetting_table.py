"""The two tables of what forgetting means, line by line: which act on which surface does what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from conversations.models import Conversation, Episode, Message, Summary, Turn
from memories.models import (
    Memory,
    MemoryVersion,
    Project,
    RecallHit,
    Source,
    Tombstone,
    Vector,
)
from ops.accounts import users
from ops.models import Operation, Receipt, Status, User
from ops.queue import worker
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
)
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Told:
    """One conversation of two turns, with what was made from each, in a project."""

    user: User
    conversation: Conversation
    first: Turn
    second: Turn
    memory: Memory
    other: Memory
    project: Project


@pytest.fixture
def told(alice: User) -> Told:
    conversation = make_conversation(alice, external_id="c1")
    first = make_turn(conversation, "I keep bees behind the old mill.", "Bees, how nice of you.")
    second = make_turn(conversation, "My brother repairs church organs.", "What a rare trade!")
    for turn in (first, second):
        make_episode(turn)
    make_summary(conversation, "They keep bees; the brother repairs organs.", through=4)
    project = Project.objects.create(user=alice, key="p1")
    memory = make_memory(alice, "Keeps bees behind the old mill", turns=[first], project=project)
    other = make_memory(alice, "Brother repairs church organs", turns=[second])
    make_trace(alice, "what about bees?", hits=[memory.public_id], conversation=conversation)
    return Told(alice, conversation, first, second, memory, other, project)


def page_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def forget(key: str, scope: str, **what: Any) -> None:
    """Ask for it and let the worker do it."""
    body = {"user_id": "alice", "scope": scope, **what}
    accepted = answer(Api(key).post("/memory/forget", body), 202)
    assert accepted["status"] == "accepted"
    finished(accepted["op_id"])


def finished(op_id: str) -> Receipt:
    worker.drain()
    operation = Operation.objects.get(public_id=op_id)
    assert operation.status == Status.SUCCEEDED, operation.last_error
    receipt = Receipt.objects.get(operation=operation)
    assert receipt.scan["residue"] == 0
    return receipt


def exists(row: Any) -> bool:
    return bool(type(row)._base_manager.filter(pk=row.pk).exists())


# Where it is asked for: what happens.


def by_page(told: Told, key: str) -> None:
    page_of(told.user).post(f"/memory/long-term/{told.memory.public_id}/delete/")


def by_page_now(told: Told, key: str) -> None:
    page_of(told.user).post(f"/memory/long-term/{told.memory.public_id}/forget/")


def by_api(told: Told, key: str) -> None:
    path = f"/memory/long_term/{told.memory.public_id}"
    answer(Api(key).delete(path, user_id="alice"), 202)


WHERE: dict[str, tuple[Callable[[Told, str], None], bool]] = {
    "a page's Delete goes to the bin": (by_page, True),
    "“Forget now” on a page forgets": (by_page_now, False),
    "DELETE forgets": (by_api, False),
}


@pytest.mark.parametrize("line", WHERE)
def test_where_it_is_asked_for_decides_what_happens(
    told: Told, product_key: str, line: str
) -> None:
    act, goes_to_the_bin = WHERE[line]
    act(told, product_key)
    assert (Memory.visible.filter(pk=told.memory.pk, deleted_at__isnull=False).exists()) is (
        goes_to_the_bin
    )
    assert Operation.objects.filter(kind="forget_memory").exists() is not goes_to_the_bin
    worker.drain()
    assert exists(told.memory) is goes_to_the_bin


# The scope: what goes.


def test_a_memory_goes_with_all_that_is_made_of_it_and_its_messages_stay(
    told: Told, product_key: str
) -> None:
    forget(product_key, "memory", memory_id=told.memory.public_id)
    gone = (Memory.everything, MemoryVersion.everything, Source.everything)
    assert not gone[0].filter(pk=told.memory.pk).exists()
    assert not any(rows.filter(memory=told.memory.pk).exists() for rows in gone[1:])
    assert not Vector.objects.filter(target_kind="memory", target_id=told.memory.pk).exists()
    assert not RecallHit.objects.filter(target_public_id=told.memory.public_id).exists()
    assert Message.objects.count() == 4 and exists(told.other)
    assert Receipt.objects.get().kept == ["messages"]
    stones = Tombstone.objects.values()
    assert {one["memory_public_id"] for one in stones} == {told.memory.public_id}
    assert "bees" not in str(list(stones))


@pytest.mark.parametrize("cascade", [True, False])
@pytest.mark.parametrize("which", ["user_message", "assistant_message"])
def test_either_message_takes_the_turns_sources_and_cascade_decides_about_the_other(
    told: Told, product_key: str, which: str, cascade: bool
) -> None:
    message = getattr(told.first, which)
    forget(product_key, "message", message_id=message.public_id, cascade=cascade)
    left = 2 if cascade else 3
    assert not exists(message) and Message.objects.count() == left
    assert not exists(told.memory) and exists(told.other)
    assert not Episode.everything.filter(turn=told.first.pk).exists()
    assert Episode.objects.filter(turn=told.second.pk).exists()
    assert not Summary.everything.filter(text__contains="bees").exists()


def test_a_conversation_goes_with_memories_that_rest_on_it_alone(
    told: Told, product_key: str
) -> None:
    elsewhere = make_turn(make_conversation(told.user), "My brother repairs church organs.")
    shared = make_memory(told.user, "Goes sailing", turns=[told.first, elsewhere])
    forget(product_key, "conversation", conversation_id="c1")
    assert not exists(told.conversation) and not exists(told.memory) and not exists(told.other)
    assert not Summary.everything.exists() and not Episode.everything.exists()
    assert exists(shared)
    assert set(Message.objects.values_list("conversation", flat=True)) == {
        elsewhere.conversation_id
    }


def test_without_forget_memories_they_stay_as_the_persons_own(told: Told, product_key: str) -> None:
    forget(product_key, "conversation", conversation_id="c1", forget_memories=False)
    told.memory.refresh_from_db()
    (source,) = Source.objects.filter(memory=told.memory)
    assert (source.origin, source.quote, source.turn_id, source.message_id) == (
        "user",
        "",
        None,
        None,
    )
    assert source.comment == "kept when its conversation was deleted"
    assert told.memory.origin == "user" and not exists(told.conversation)


def test_clearing_leaves_the_empty_conversation_without_summary_or_index(
    told: Told, product_key: str
) -> None:
    body = {"user_id": "alice", "conversation_id": "c1"}
    finished(answer(Api(product_key).post("/clear", body), 202)["op_id"])
    assert exists(told.conversation)
    assert not Message.everything.exists() and not exists(told.memory)
    assert not Summary.everything.exists() and not Episode.everything.exists()
    assert not Vector.objects.exists()


def test_a_project_goes_with_its_memories_alone(told: Told, product_key: str) -> None:
    forget(product_key, "project", project_key="p1")
    assert not exists(told.project) and not exists(told.memory)
    assert exists(told.other) and Message.objects.count() == 4


def test_a_user_goes_with_everything_and_comes_back_as_somebody_new(
    told: Told, mallory: User, product_key: str
) -> None:
    bystander = make_memory(mallory, "Keeps bees behind the old mill")
    asked = {"user_id": "alice", "scope": "user"}
    accepted = answer(Api(product_key).post("/memory/forget", asked), 202)
    body = {"user_id": "alice", "content": "Likes tea"}
    error(Api(product_key).post("/memory/long_term", body), 409, "being_forgotten")
    finished(accepted["op_id"])
    assert not exists(told.user) and exists(bystander)
    answer(Api(product_key).post("/memory/long_term", body), 201)
    again = users.find_or_create("alice")
    assert again.subject != told.user.subject
    assert list(Memory.objects.filter(user=again).values_list("content", flat=True)) == [
        "Likes tea"
    ]
    assert not Tombstone.objects.filter(user=again).exists()
    reader = Api(None).get(
        f"/memory/ops/{accepted['op_id']}/receipt", receipt_token=accepted["receipt_token"]
    )
    assert answer(reader)["scope"] == "user"


# What may not be.


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"user_id": "alice"},
        {"scope": "user"},
        {"user_id": "alice", "scope": "memory"},
        {"user_id": "alice", "scope": "message"},
        {"user_id": "alice", "scope": "conversation"},
        {"user_id": "alice", "scope": "project"},
        {"user_id": "alice", "scope": "all"},
    ],
)
def test_no_parameters_never_mean_all(told: Told, product_key: str, body: dict[str, str]) -> None:
    assert Api(product_key).post("/memory/forget", body).status_code == 400
    assert not Operation.objects.exists() and Memory.objects.count() == 2
