"""What is learned while a forget is under way, of messages that stay."""

from __future__ import annotations

import pytest
from django.utils import timezone

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Turn
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories.forgetting import memory_forgets as known
from memories.models import Memory
from ops.access import as_user
from ops.models import Operation, Receipt, Status, User
from ops.queue import worker
from tests.factories import make_conversation

pytestmark = pytest.mark.django_db


def tell(user: User, conversation: Conversation, said: str) -> Turn:
    with as_user(user):
        recorded = turns.record_turn(
            user=user,
            conversation=conversation,
            user_message=MessageInput(content=said, role="user"),
            assistant_message=MessageInput(content="I see.", role="assistant"),
        )
    return recorded.turn


def break_off_after_remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt ends when it has kept what it will look for; others run before the next."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(known, "erase_in_rounds", broken)
        worker.drain()


@pytest.mark.parametrize(
    ("gone", "stays", "alike"),
    [
        (
            "I'm learning to bake sourdough bread with my neighbour Anna.",
            "I'm learning to bake sourdough bread with my neighbour Ben.",
            "sourdough",
        ),
        ("我喜欢爬山。", "我住在大理，喜欢爬山。", "喜欢爬山"),
    ],
)
def test_what_a_message_that_stays_says_alike_is_no_residue_though_learned_meanwhile(
    alice: User, monkeypatch: pytest.MonkeyPatch, gone: str, stays: str, alike: str
) -> None:
    conversation = make_conversation(alice)
    turn = tell(alice, conversation, gone)
    worker.drain()
    (before,) = Memory.objects.all()
    with as_user(alice):
        operation = message_forgets.forget_message(
            user=alice, message=turn.user_message, cascade=True
        )
    tell(alice, conversation, stays)  # anew: what was said before the forget is not learned
    break_off_after_remembering(monkeypatch)
    learned = Memory.objects.get(content__contains=alike)
    assert learned != before
    Operation.objects.filter(pk=operation.pk).update(run_after=timezone.now())
    worker.drain()
    operation.refresh_from_db()
    assert (operation.status, operation.last_error) == (Status.SUCCEEDED, "")
    assert before not in Memory.everything.all() and learned in Memory.objects.all()
    assert Receipt.objects.get().scan["residue"] == 0
