"""Repeat forgets of messages and conversations after a restore of an older database state."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from conversations.forgetting import forget_choices, layer_deletion, message_forgets
from conversations.models import Conversation, Message
from memories.models import Memory
from ops.forgetting.reapplied_forgets import reapplies
from ops.models import Operation, User


@reapplies("message")
def _messages(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Forget each message alone: the ledger lists the other one if forgotten."""
    found = Message.everything.filter(user=user, public_id__in=target["messages"]).order_by("pk")
    operations = [message_forgets.forget_message(user=user, message=one) for one in found]
    return operations[-1] if operations else None


@reapplies("choice")
def _choice(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    memories = list(Memory.everything.filter(user=user, public_id__in=target["memories"]))
    messages = list(Message.everything.filter(user=user, public_id__in=target["messages"]))
    if not memories and not messages:
        return None
    return forget_choices.forget_again(user=user, memories=memories, messages=messages)


@reapplies("conversation")
def _conversation(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    found = Conversation.everything.filter(user=user, public_id=target["conversation"]).first()
    if found is None:
        return None
    return message_forgets.forget_conversation(
        user=user, conversation=found, forget_memories=target["forget_memories"]
    )


@reapplies("clear")
def _clear(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Clear only the messages that existed then; messages recorded later stay."""
    found = Conversation.objects.filter(user=user, public_id=target["conversation"]).first()
    if found is None:
        return None
    return message_forgets.clear_again(
        user=user, conversation=found, at=at, forget_memories=target["forget_memories"]
    )


@reapplies("layer")
def _layer(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    rows = layer_deletion.rows_of(user, layer=target["layer"])
    newest = rows.filter(created_at__lte=at).order_by("-pk").first()
    if newest is None:
        return None
    return layer_deletion.delete_layer(user=user, layer=target["layer"], through=newest.pk)[0]
