"""The flush endpoint, which learns from messages that a client is about to drop from its context.

A flush has two stages: the first proposes memories, and the second stores the accepted ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from rest_framework.response import Response

from conversations.models import Conversation
from conversations.recording import conversation_names, temporary
from foundation.errors import NotFound
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, REFUSE, Call, endpoint
from memories.api import rendering, response_shapes, serializers
from memories.learning import memory_flush
from memories.learning.memory_flush import CallerMessage, FlushResult, ReadyCandidate
from ops.access import as_user

NO_REPLY = "NO_REPLY"
_UNSAVED = 0  # a primary key that no conversation has


@dataclass(frozen=True)
class _Prepared:
    read: FlushResult | None
    ready: Sequence[ReadyCandidate] | None


def _prepare(call: Call) -> _Prepared:
    stage = call.data.get("stage")
    if stage == "commit":
        given = memory_flush.decode_returned_candidates(call.data["candidates"], user=call.user)
        return _Prepared(None, memory_flush.prepare_candidates(given))
    with as_user(call.user):
        conversation = _conversation(call)
    if conversation is None:
        return _Prepared(FlushResult((), 0, 0), () if stage is None else None)
    found = memory_flush.propose(
        user=call.user,
        conversation=conversation,
        given=_messages(call.data.get("messages")),
        least=settings.FLUSH_TOKENS if call.data.get("only_if_due") else 0,
    )
    ready = memory_flush.prepare_candidates(found.proposed) if stage is None else None
    return _Prepared(found, ready)


def _conversation(call: Call) -> Any:
    """Return the conversation of the request, or None if it is temporary.

    Nothing is stored from a temporary conversation. An unknown conversation is created under the
    client's id; the first stage, which writes nothing, gets an unsaved conversation instead. Raise
    `NotFound` if the conversation is unknown and the request has no `messages` or uses an id that
    only the server assigns (`conv_…`).
    """
    reference = call.data["conversation_id"]
    try:
        return conversation_names.resolve(user=call.user, reference=reference)
    except NotFound:
        if temporary.find(user=call.user, reference=reference) is not None:
            return None
        if not call.data.get("messages") or reference.startswith("conv_"):
            raise
        if call.data.get("stage") == "candidates":
            conversation_names.check_external_id(reference, field="conversation_id")
            return Conversation(pk=_UNSAVED, user=call.user)
        return conversation_names.find_or_create(user=call.user, reference=reference)


def _messages(given: Sequence[Mapping[str, Any]] | None) -> list[CallerMessage] | None:
    if given is None:
        return None
    return [
        CallerMessage(
            one["role"], one["content"], one.get("message_id") or "", one.get("created_at")
        )
        for one in given
    ]


class FlushView(MemcenterView):
    @endpoint(
        summary="Store memories and notes from messages that a client is about to drop",
        takes=serializers.FlushInput,
        answers={200: response_shapes.Flushed},
        prepare=_prepare,
        unknown_user=lambda asked: CREATE if asked.data.get("messages") else REFUSE,
    )
    def post(self, call: Call) -> Response:
        prepared: _Prepared = call.ready
        answer: dict[str, Any] = {}
        if prepared.read is not None:
            found = prepared.read
            answer["candidates"] = [
                rendering.candidate(one, user=call.user) for one in found.proposed
            ]
            answer["tokens"] = found.tokens
        if prepared.ready is not None:
            done = (
                memory_flush.commit_candidates(prepared.ready, user=call.user)
                if prepared.ready
                else []
            )
            answer["written"] = [response_shapes.FlushWritten.show(one) for one in done]
            if prepared.read is not None:
                found = prepared.read
                memory_flush.mark_as_read(found.conversation, through=found.through, user=call.user)
        empty = not answer.get("candidates") and not answer.get("written")
        return Response({**answer, "note": NO_REPLY if empty else ""})
