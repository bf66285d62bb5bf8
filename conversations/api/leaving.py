"""A conversation forgotten or cleared, kept or temporary, as several calls ask for it."""

from __future__ import annotations

from rest_framework.response import Response

from conversations.api import shown
from conversations.api.finding import thread_of
from conversations.services import forgetting, temporary
from conversations.services.temporary import TemporaryConversation
from memcenter.rest.endpoint import Call
from memcenter.rest.idempotency import Passing


def forget(call: Call, reference: str) -> Response:
    thread = thread_of(call, reference)
    if isinstance(thread, TemporaryConversation):
        temporary.erase(thread)
        return Passing(shown.accepted(None), status=202)
    operation = forgetting.forget_conversation(
        user=call.user,
        conversation=thread,
        forget_memories=call.data.get("forget_memories", True),
        requested_by_key=call.key_id,
    )
    return Response(shown.accepted(operation.public_id), status=202)


def clear(call: Call, reference: str) -> Response:
    """The empty conversation stays."""
    thread = thread_of(call, reference)
    if isinstance(thread, TemporaryConversation):
        temporary.erase(thread, messages_only=True)
        return Passing(shown.accepted(None), status=202)
    operation = forgetting.clear_conversation(
        user=call.user,
        conversation=thread,
        forget_memories=call.data.get("forget_memories", True),
        requested_by_key=call.key_id,
    )
    return Response(shown.accepted(operation.public_id), status=202)
