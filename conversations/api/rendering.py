"""Rows as plain dicts for the API, because serializers are too slow on hot paths."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from conversations.models import Conversation, Episode, Message, Summary
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from memories.extraction import secret_masking
from memories.recall.searchable_texts import masked_turn
from ops.models import User


def conversation(row: Conversation | TemporaryConversation, *, user: User) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "external_id": row.external_id,
        "user_id": user.external_id,
        "title": row.title,
        "kind": row.kind,
        "temporary": isinstance(row, TemporaryConversation),
        "message_count": row.message_count,
        "last_message_at": row.last_message_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def message(
    row: Message | TemporaryMessage, *, conversation_id: str, in_window: bool
) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "external_id": row.external_id,
        "conversation_id": conversation_id,
        "role": row.role,
        "speaker": row.speaker,
        "content": row.content,
        "completed": row.completed,
        "created_at": row.created_at,
        "token_count": row.token_count,
        "in_window": in_window,
        "feedback": _feedback(row),
    }


def _feedback(row: Message | TemporaryMessage) -> dict[str, Any] | None:
    found = getattr(row, "feedback", None)  # the reverse side raises where there is none
    return None if found is None else {"rating": found.rating, "comment": found.comment}


def summary(row: Summary, *, bounds: Collection[Message]) -> dict[str, Any]:
    ids = {one.number: one.public_id for one in bounds}
    return {
        "text": secret_masking.masked(row.text),
        "version": row.version,
        "covered_message_count": row.covered_message_count,
        "covered_from_message_id": ids.get(row.from_number),
        "covered_through_message_id": ids.get(row.through_number),
        "updated_at": row.created_at,
    }


def episode(row: Episode, *, similarity: float | None) -> dict[str, Any]:
    turn = row.turn
    said, reply = masked_turn(turn)
    return {
        "id": row.public_id,
        "user_message_id": turn.user_message.public_id,
        "assistant_message_id": turn.assistant_message.public_id,
        "similarity": similarity,
        "created_at": row.created_at,
        "user_message": said,
        "assistant_message": reply,
    }


def accepted(op_id: str | None, *, receipt_token: str | None = None) -> dict[str, Any]:
    token = {"receipt_token": receipt_token} if receipt_token else {}
    return {"status": "accepted", "op_id": op_id, **token}
