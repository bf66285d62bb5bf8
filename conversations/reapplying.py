"""How what was said is forgotten again, after an older state of the database was restored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from conversations.models import Conversation, Message
from conversations.services import forget_choices, forgetting, layers
from memories.models import Memory
from ops.models import Operation, User
from ops.services.reapplying import again


@again("message")
def _messages(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Each by itself: the line names the other message of a turn only if it went too."""
    found = Message.everything.filter(user=user, public_id__in=target["messages"]).order_by("pk")
    operations = [forgetting.forget_message(user=user, message=one) for one in found]
    return operations[-1] if operations else None


@again("choice")
def _choice(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    memories = list(Memory.everything.filter(user=user, public_id__in=target["memories"]))
    messages = list(Message.everything.filter(user=user, public_id__in=target["messages"]))
    if not memories and not messages:
        return None
    return forget_choices.forget_again(user=user, memories=memories, messages=messages)


@again("conversation")
def _conversation(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    found = Conversation.everything.filter(user=user, public_id=target["conversation"]).first()
    if found is None:
        return None
    return forgetting.forget_conversation(
        user=user, conversation=found, forget_memories=target["forget_memories"]
    )


@again("clear")
def _clear(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Only what was there then: what was said later, in either course of events, stays."""
    found = Conversation.objects.filter(user=user, public_id=target["conversation"]).first()
    if found is None:
        return None
    return forgetting.clear_again(
        user=user, conversation=found, at=at, forget_memories=target["forget_memories"]
    )


@again("layer")
def _layer(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    rows = layers.rows_of(user, layer=target["layer"])
    newest = rows.filter(created_at__lte=at).order_by("-pk").first()
    if newest is None:
        return None
    return layers.delete_layer(user=user, layer=target["layer"], through=newest.pk)[0]
