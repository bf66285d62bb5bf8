"""Every way of forgetting what was said: run again, killed half-way, beside a bystander."""

from collections.abc import Callable

import pytest

from conversations.models import Message
from ops.models import Kind, Operation, Receipt, Status, User
from tests.conversations.talks import (
    Talk,
    clear,
    forget_conversation,
    forget_message,
    make_talk,
)
from tests.draining import drained
from tests.killing import Kill, kill_at, revive
from tests.rows import rows_of

pytestmark = pytest.mark.django_db

Ask = Callable[[Talk], Operation]
ASK: dict[str, Ask] = {
    "message": lambda talk: forget_message(talk.tea_turn.assistant_message, cascade=True),
    "conversation": lambda talk: forget_conversation(talk.conversation),
    "clear": lambda talk: clear(talk.conversation),
    "keeping": lambda talk: forget_conversation(talk.conversation, memories=False),
}
STEPS = ["hide", "memories", "traces", "index", "summaries", "turns", "messages", "exports"]


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_a_bystander_keeps_every_row(ask: Ask, talk: Talk, mallory: User) -> None:
    make_talk(mallory)
    before = rows_of(mallory)
    drained(ask(talk))
    assert rows_of(mallory) == before


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_running_it_again_changes_nothing(ask: Ask, alice: User, talk: Talk) -> None:
    operation = drained(ask(talk))
    before, receipt = rows_of(alice), Receipt.objects.values().get()
    Operation.objects.filter(pk=operation.pk).update(status=Status.PENDING, finished_at=None)
    drained(operation)
    assert (rows_of(alice), Receipt.objects.values().get()) == (before, receipt)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", [*STEPS, "conversation", "receipt"])
def test_it_survives_being_killed_at_any_step(
    alice: User,
    mallory: User,
    talk: Talk,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    moment: str,
) -> None:
    make_talk(mallory)
    before, operation = rows_of(mallory), forget_conversation(talk.conversation)
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment=moment)
    revive(monkeypatch)
    drained(operation)
    left = {table for table, rows in rows_of(alice).items() if rows}
    assert left == {"ops_user", "ops_usersettings", "memories_tombstone"}
    erased = Receipt.objects.get().erased["database"]
    assert (erased["conversations_message"], erased["memories_memory"]) == (4, 2)
    assert rows_of(mallory) == before


@pytest.mark.parametrize("step", [*STEPS, "receipt"])
def test_forgetting_a_turn_survives_being_killed(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    operation = forget_message(talk.tea_turn.assistant_message, cascade=True)
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment="after")
    revive(monkeypatch)
    drained(operation)
    assert Message.everything.count() == 2
    assert Operation.objects.filter(kind=Kind.SUMMARIZE).count() == 1


def test_after_the_account_went_the_operation_still_ends(talk: Talk, alice: User) -> None:
    operation = forget_message(talk.tea_turn.user_message)
    User.objects.filter(pk=alice.pk).delete()
    drained(operation)
    assert Receipt.objects.get().scope == "message"
