"""Forget or clear a conversation, stored or temporary, as several endpoints offer it."""

from __future__ import annotations

from collections.abc import Callable

from rest_framework.response import Response

from conversations.api import rendering
from conversations.api.conversation_names import thread_of
from conversations.forgetting import message_forgets
from conversations.recording import temporary
from conversations.recording.temporary import TemporaryConversation
from memcenter.rest.endpoint import Call
from memcenter.rest.requests.idempotency import UnstoredResponse
from ops.models import Operation


def forget(call: Call, reference: str) -> Response:
    return _leave(call, reference, message_forgets.forget_conversation)


def clear(call: Call, reference: str) -> Response:
    """Forget what was said; the empty conversation stays."""
    return _leave(call, reference, message_forgets.clear_conversation, messages_only=True)


def _leave(
    call: Call, reference: str, ask: Callable[..., Operation], *, messages_only: bool = False
) -> Response:
    thread = thread_of(call, reference)
    if isinstance(thread, TemporaryConversation):
        temporary.erase(thread, messages_only=messages_only)
        return UnstoredResponse(rendering.accepted(None), status=202)
    operation = ask(
        user=call.user,
        conversation=thread,
        forget_memories=call.data.get("forget_memories", True),
        requested_by_key=call.key_id,
    )
    return Response(rendering.accepted(operation.public_id), status=202)
