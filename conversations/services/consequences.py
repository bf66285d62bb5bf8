"""What forgetting would take away, told before it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from conversations.models import Conversation, Episode, Message, Turn
from conversations.services import erasing
from conversations.services.erasing import Target
from memories import derivation
from memories.models import Memory, Source
from memories.services import resting
from ops.models import User


@dataclass(frozen=True)
class Consequences:
    """`memories` go; `changed` are put together again from what remains; `kept` rest on more."""

    messages: int
    summaries: int
    episodes: int
    memories: Sequence[Memory]
    changed: int
    kept: int


def of_message(message: Message, *, user: User) -> Consequences:
    """What goes with a message and the other one of its turn."""
    of_it = Q(user_message=message) | Q(assistant_message=message)
    turns = Turn.objects.filter(of_it, user=user)
    both = Q(pk__in=turns.values("user_message")) | Q(pk__in=turns.values("assistant_message"))
    target = erasing.target_of(user, Q(pk=message.pk) | both, conversation=message.conversation_id)
    return _of(target, user=user)


def of_conversation(conversation: Conversation, *, user: User) -> Consequences:
    whole = Q(hidden_at__isnull=True)
    target = erasing.target_of(user, whole, conversation=conversation.pk, is_whole=True)
    return _of(target, user=user)


def _of(target: Target, *, user: User) -> Consequences:
    lost, changed, kept = _memories(target, user=user)
    memories = Memory.visible.filter(user=user, pk__in=lost).order_by("pk")
    return Consequences(
        messages=Message.objects.filter(user=user, pk__in=target.messages).count(),
        summaries=erasing.covering(user, target).filter(hidden_at__isnull=True).count(),
        episodes=Episode.objects.filter(user=user, turn__in=target.turns).count(),
        memories=list(memories) if lost else [],
        changed=len(changed),
        kept=len(kept),
    )


def _memories(target: Target, *, user: User) -> tuple[list[int], list[int], list[int]]:
    """Which memories go, change and stay: by the very plan that forgetting follows.

    The sources are hidden for a moment, in a savepoint that is rolled back.
    """
    sources = Source.everything.filter(target.resting, user=user, hidden_at__isnull=True)
    touched = set(sources.values_list("memory", flat=True))
    if not touched:
        return [], [], []
    with transaction.atomic():
        sources.update(hidden_at=timezone.now())
        graph = resting.read(user, touched)
        transaction.set_rollback(True)
    outcomes = derivation.plan(graph.texts)
    standing = {one.memory for one in graph.texts if not outcomes[one.id].erased}
    shown = [one for one in graph.memories if one.hidden_at is None]
    lost = [one.pk for one in shown if one.pk not in standing]
    changed = [
        one.pk
        for one in shown
        if one.pk in standing and outcomes[resting.current_text(graph, one).id].changed
    ]
    return lost, changed, [one.pk for one in shown if one.pk not in {*lost, *changed}]
