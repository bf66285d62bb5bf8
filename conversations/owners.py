"""Whose an id of ours is, for keys that are bound to nobody. Read across users, so as system."""

from typing import Any

from conversations.models import Conversation, Message
from conversations.services import temporary
from ops.access import as_system
from ops.models import User


def of_conversation(public_id: str) -> User | None:
    if not public_id.startswith("conv_"):
        return None
    return _user_of(Conversation.objects, public_id) or temporary.owner_of(public_id)


def of_message(public_id: str) -> User | None:
    return _user_of(Message.objects, public_id) if public_id.startswith("msg_") else None


def _user_of(rows: Any, public_id: str) -> User | None:
    with as_system():
        row = rows.filter(public_id=public_id).select_related("user").first()
    return row.user if row is not None else None
