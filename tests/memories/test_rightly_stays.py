"""Two conversations taught the same: forgetting one is done, and leaves the other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from conversations.forgetting import message_forgets as talks
from conversations.models import Conversation
from foundation.text import shingles
from memories.forgetting import memory_forgets, rederivation
from memories.models import Memory, Project
from ops.access import as_user
from ops.models import Operation, Status, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn

pytestmark = pytest.mark.django_db

PEANUTS = "Allergic to peanuts and all other nuts"


def drained(memory: Memory) -> Operation:
    """The forget of it, as it ended."""
    with as_user(memory.user):
        operation = memory_forgets.forget_memory(user=memory.user, memory=memory)
    worker.drain()
    operation.refresh_from_db()
    return operation


def two_that_say_the_same(user: User) -> tuple[Memory, Memory]:
    """Each learned from a conversation that says it in other words."""
    said = ("Peanuts? Those would kill me.", "No nuts for me, please, doctor's orders.")
    turns = [make_turn(make_conversation(user), text) for text in said]
    first, second = (make_memory(user, PEANUTS, turns=[turn]) for turn in turns)
    return first, second


@pytest.mark.parametrize("binned", [False, True])
def test_another_memory_that_was_taught_the_same_elsewhere_is_no_residue(
    alice: User, binned: bool
) -> None:
    first, second = two_that_say_the_same(alice)
    if binned:
        Memory.objects.filter(pk=second.pk).update(
            deleted_at=timezone.now(), purge_at=timezone.now() + timedelta(days=9)
        )
    operation = drained(first)
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert list(Memory.everything.values_list("pk", flat=True)) == [second.pk]
    second.refresh_from_db()
    assert second.content == PEANUTS


def test_what_deriving_leaves_behind_by_mistake_is_residue_all_the_same(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two_that_say_the_same(alice)
    Memory.objects.filter(pk=second.pk).update(content="Likes chess")
    real = rederivation.derive

    def careless(**given: Any) -> rederivation.DerivationResult:
        done = real(**given)
        Memory.objects.filter(pk=second.pk).update(content=PEANUTS)
        return done

    monkeypatch.setattr(rederivation, "derive", careless)
    operation = drained(first)
    assert operation.status == Status.FAILED
    assert "memories_memory.content" in operation.last_error
    assert "nuts" not in operation.last_error


APP = {"app": "the assistant of our whole company", "env": ["production-eu-west"]}


@pytest.mark.parametrize("binned", [False, True])
@pytest.mark.parametrize(
    "beside", [{"metadata": APP}, {"data": APP}, {"feedback_reason": "Please, in fewer words."}]
)
def test_what_also_stands_beside_another_memory_is_no_residue(
    alice: User, beside: dict[str, Any], binned: bool
) -> None:
    first, second = (make_memory(alice, text, **beside) for text in (PEANUTS, "Likes chess"))
    if binned:
        Memory.objects.filter(pk=second.pk).update(
            deleted_at=timezone.now(), purge_at=timezone.now() + timedelta(days=9)
        )
    operation = drained(first)
    assert operation.status == Status.SUCCEEDED, operation.last_error
    again = Memory.everything.get()
    assert all(getattr(again, name) == value for name, value in beside.items())
    assert drained(second).status == Status.SUCCEEDED


def test_what_is_beside_one_only_is_residue_where_it_is_left(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (make_memory(alice, text) for text in (PEANUTS, "Likes chess"))
    Memory.objects.filter(pk=first.pk).update(metadata=APP)
    real = rederivation.derive

    def careless(**given: Any) -> rederivation.DerivationResult:
        Memory.objects.filter(pk=second.pk).update(metadata=APP)
        return real(**given)

    monkeypatch.setattr(rederivation, "derive", careless)
    operation = drained(first)
    assert operation.status == Status.FAILED
    assert "memories_memory.metadata" in operation.last_error


def test_the_labels_of_a_turn_that_stays_are_no_residue(alice: User) -> None:
    labels = {"metadata": APP, "run_id": "the run of the nightly batch job"}
    turn = make_turn(make_conversation(alice), "Nuts? Those would kill me.", labels=labels)
    memory = make_memory(alice, PEANUTS, turns=[turn], metadata=APP)
    operation = drained(memory)
    assert operation.status == Status.SUCCEEDED, operation.last_error


def test_what_a_person_wrote_elsewhere_is_no_residue(alice: User) -> None:
    """A title, a project's name, what a tool was asked: made from nothing that goes."""
    make_turn(
        make_conversation(alice, title=PEANUTS),
        "Hello there.",
        tools=[{"name": "order", "input": {"note": PEANUTS}}],
    )
    Project.objects.create(user=alice, key="nuts", name=PEANUTS)
    first, _ = make_memory(alice, PEANUTS), make_memory(alice, "Likes chess", tags=[PEANUTS])
    operation = drained(first)
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert Project.objects.get().name == Conversation.objects.get().title == PEANUTS


def test_what_is_written_while_it_is_erased_is_no_residue(alice: User) -> None:
    memory = make_memory(alice, PEANUTS, metadata=APP)
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
    make_memory(alice, "Likes chess", metadata=APP)
    make_turn(make_conversation(alice, title=PEANUTS), "Hello there.", labels={"metadata": APP})
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error


def test_a_title_left_by_mistake_in_the_same_conversation_is_residue(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = make_conversation(alice, title=PEANUTS)
    turn = make_turn(conversation, PEANUTS)
    monkeypatch.setattr(shingles, "blank_title_if_contained", lambda title, texts: title)
    with as_user(alice):
        operation = talks.forget_message(user=alice, message=turn.user_message, cascade=True)
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.FAILED
    assert "conversations_conversation.title" in operation.last_error
