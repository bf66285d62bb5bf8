"""Two conversations taught the same: forgetting one is done, and leaves the other."""

from __future__ import annotations

from typing import Any

import pytest

from memories.models import Memory
from memories.services import deriving, forgetting
from ops.access import as_user
from ops.models import Operation, Status, User
from ops.services import worker
from tests.factories import make_conversation, make_memory, make_turn

pytestmark = pytest.mark.django_db

PEANUTS = "Allergic to peanuts and all other nuts"


def drained(memory: Memory) -> Operation:
    """The forget of it, as it ended."""
    with as_user(memory.user):
        operation = forgetting.forget_memory(user=memory.user, memory=memory)
    worker.drain()
    operation.refresh_from_db()
    return operation


def two_that_say_the_same(user: User) -> tuple[Memory, Memory]:
    """Each learned from a conversation that says it in other words."""
    said = ("Peanuts? Those would kill me.", "No nuts for me, please, doctor's orders.")
    turns = [make_turn(make_conversation(user), text) for text in said]
    first, second = (make_memory(user, PEANUTS, turns=[turn]) for turn in turns)
    return first, second


def test_another_memory_that_was_taught_the_same_elsewhere_is_no_residue(alice: User) -> None:
    first, second = two_that_say_the_same(alice)
    operation = drained(first)
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert list(Memory.objects.values_list("pk", flat=True)) == [second.pk]
    second.refresh_from_db()
    assert second.content == PEANUTS


def test_what_deriving_leaves_behind_by_mistake_is_residue_all_the_same(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = two_that_say_the_same(alice)
    Memory.objects.filter(pk=second.pk).update(content="Likes chess")
    real = deriving.derive

    def careless(**given: Any) -> deriving.Derived:
        done = real(**given)
        Memory.objects.filter(pk=second.pk).update(content=PEANUTS)
        return done

    monkeypatch.setattr(deriving, "derive", careless)
    operation = drained(first)
    assert operation.status == Status.FAILED
    assert "memories_memory.content" in operation.last_error
    assert "nuts" not in operation.last_error
