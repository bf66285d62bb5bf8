"""Preview what a forget would delete, change and keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from conversations.forgetting import message_erasure
from conversations.forgetting.message_erasure import Target
from conversations.models import Conversation, Episode, Message, Turn
from memories.forgetting import dependencies, derivation
from memories.models import Memory, Source
from ops.models import User


@dataclass(frozen=True)
class Consequences:
    """`memories` are deleted, `changed` are derived again from other sources, `kept` stay."""

    messages: int
    summaries: int
    episodes: int
    memories: Sequence[Memory]
    changed: int
    kept: int


def of_message(message: Message, *, user: User) -> Consequences:
    """Return what a forget of the message and of the other message of its turn would delete."""
    of_it = Q(user_message=message) | Q(assistant_message=message)
    turns = Turn.objects.filter(of_it, user=user)
    both = Q(pk__in=turns.values("user_message")) | Q(pk__in=turns.values("assistant_message"))
    target = message_erasure.target_of(
        user, Q(pk=message.pk) | both, conversation=message.conversation_id
    )
    return _of(target, user=user)


def of_conversation(conversation: Conversation, *, user: User) -> Consequences:
    whole = Q(hidden_at__isnull=True)
    target = message_erasure.target_of(user, whole, conversation=conversation.pk, is_whole=True)
    return _of(target, user=user)


def _of(target: Target, *, user: User) -> Consequences:
    lost, changed, kept = _memories(target, user=user)
    memories = Memory.visible.filter(user=user, pk__in=lost).order_by("pk")
    return Consequences(
        messages=Message.objects.filter(user=user, pk__in=target.messages).count(),
        summaries=message_erasure.covering(user, target).filter(hidden_at__isnull=True).count(),
        episodes=Episode.objects.filter(user=user, turn__in=target.turns).count(),
        memories=list(memories) if lost else [],
        changed=len(changed),
        kept=len(kept),
    )


def _memories(target: Target, *, user: User) -> tuple[list[int], list[int], list[int]]:
    """Return which memories would be deleted, changed and kept, by the plan that a forget follows.

    The sources are hidden in a savepoint, which is rolled back afterwards.
    """
    sources = Source.everything.filter(target.resting, user=user, hidden_at__isnull=True)
    touched = set(sources.values_list("memory", flat=True))
    if not touched:
        return [], [], []
    with transaction.atomic():
        sources.update(hidden_at=timezone.now())
        graph = dependencies.read(user, touched)
        transaction.set_rollback(True)
    outcomes = derivation.plan(graph.texts)
    standing = {one.memory for one in graph.texts if not outcomes[one.id].erased}
    shown = [one for one in graph.memories if one.hidden_at is None]
    lost = [one.pk for one in shown if one.pk not in standing]
    changed = [
        one.pk
        for one in shown
        if one.pk in standing and outcomes[dependencies.current_text(graph, one).id].changed
    ]
    return lost, changed, [one.pk for one in shown if one.pk not in {*lost, *changed}]
