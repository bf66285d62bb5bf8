"""Forgetting in long conversations, whose summaries repeat one another and what remains."""

import pytest
from pytest_django import Settings

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Message, Summary, Turn
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from ops.access import as_user
from ops.models import ErasedText, Operation, Receipt, Status, User
from ops.queue import outbox, worker
from ops.residue import erased_hashes
from tests.draining import drained

pytestmark = pytest.mark.django_db
SHIFTS = "I work Monday, Tuesday and Thursday at the vets, nights every other Saturday."
KNEE = "My knee hurts since the fall on the stairs in Headingley."
SAID = [
    (SHIFTS, "Thank you for telling me."),
    ("I'm allergic to penicillin.", "I'll remember that."),
    ("We keep three hens in the garden behind the house.", "Lovely."),
    ("My brother Keith snores like a walrus.", "Oh dear."),
    (KNEE, f"This is what I remember that fits:\n\n- {SHIFTS[:-1]}"),
    ("We go to Whitby in August with the van.", "Have fun."),
    ("Theo plays football on Saturday mornings.", "Good."),
    ("Zuri is a goat in the school play.", "Great."),
    ("The garage has a slot for the MOT next week.", "Good luck."),
]


@pytest.fixture
def long(alice: User, settings: Settings) -> Conversation:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 4, 2
    conversation = conversation_names.find_or_create(user=alice, reference="long")
    for said, answer in SAID:
        turns.record_turn(
            user=alice,
            conversation=conversation,
            user_message=MessageInput(said),
            assistant_message=MessageInput(answer),
        )
        worker.drain()
    assert Summary.objects.count() > 4
    return conversation


def forget_knee(user: User) -> Operation:
    turn = Turn.objects.get(user_message__content=KNEE)
    with as_user(user):
        return message_forgets.forget_chosen(
            user=user,
            message_ids=[turn.user_message.public_id, turn.assistant_message.public_id],
        )


def test_what_older_and_newer_summaries_also_say_is_no_residue(
    alice: User, long: Conversation
) -> None:
    operation = drained(forget_knee(alice))
    assert Receipt.objects.get(operation=operation).scan["residue"] == 0
    summaries = list(Summary.objects.order_by("version").values_list("text", flat=True))
    assert "at the vets" in summaries[0] and "knee" not in str(summaries)
    assert not Message.everything.filter(content=KNEE).exists()


def test_a_forget_that_failed_over_a_remaining_summary_heals_when_it_is_tried_again(
    alice: User, long: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erased_hashes, "delete_shared_hashes", lambda operation, texts: None)
    operation = forget_knee(alice)
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.FAILED
    monkeypatch.undo()
    outbox.retry(operation)
    drained(operation)
    assert not ErasedText.objects.exists()


def test_a_summary_that_was_to_be_erased_is_still_residue(
    alice: User, long: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "conversations.forgetting.message_erasure.erase_summaries", lambda *_args: {}
    )
    operation = forget_knee(alice)
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.FAILED and "conversations_summary" in operation.last_error
