"""A conversation forgotten or cleared, kept or temporary, as several calls ask for it."""

from __future__ import annotations

from collections.abc import Callable

from rest_framework.response import Response

from conversations.api import shown
from conversations.api.finding import thread_of
from conversations.services import forgetting, temporary
from conversations.services.temporary import TemporaryConversation
from memcenter.rest.endpoint import Call
from memcenter.rest.idempotency import Passing
from ops.models import Operation


def forget(call: Call, reference: str) -> Response:
    return _leave(call, reference, forgetting.forget_conversation)


def clear(call: Call, reference: str) -> Response:
    """The empty conversation stays."""
    return _leave(call, reference, forgetting.clear_conversation, messages_only=True)


def _leave(
    call: Call, reference: str, ask: Callable[..., Operation], *, messages_only: bool = False
) -> Response:
    thread = thread_of(call, reference)
    if isinstance(thread, TemporaryConversation):
        temporary.erase(thread, messages_only=messages_only)
        return Passing(shown.accepted(None), status=202)
    operation = ask(
        user=call.user,
        conversation=thread,
        forget_memories=call.data.get("forget_memories", True),
        requested_by_key=call.key_id,
    )
    return Response(shown.accepted(operation.public_id), status=202)
