"""`POST /turns`: the only write that a chat backend needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rest_framework.response import Response

from conversations.api import serializers
from conversations.api.conversation_names import thread_for_writing
from conversations.models import Role
from conversations.recording import temporary, turns
from conversations.recording.temporary import TemporaryConversation
from conversations.recording.turns import MessageInput
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, PRETEND, Asked, Call, endpoint
from memcenter.rest.requests.idempotency import UnstoredResponse
from ops.models import User


def unless_temporary(asked: Asked) -> str:
    """Don't create a user for a temporary conversation."""
    if asked.data.get("temporary"):
        return PRETEND
    reference = asked.ids.get("conversation_id") or asked.data.get("conversation_id")
    nobody = User(external_id=asked.user_id)
    if reference is not None and temporary.find(user=nobody, reference=reference):
        return PRETEND
    return CREATE


class TurnsView(MemcenterView):
    @endpoint(
        summary="Record a completed turn",
        takes=serializers.TurnInput,
        answers={200: serializers.Recorded, 201: serializers.Recorded},
        unknown_user=unless_temporary,
        adds=True,
    )
    def post(self, call: Call) -> Response:
        data = call.data
        thread = thread_for_writing(
            call,
            data["conversation_id"],
            kind=data.get("conversation_kind"),
            brief=bool(data.get("temporary")),
        )
        said = _said(data, "user_message", Role.USER)
        reply = _said(data, "assistant_message", Role.ASSISTANT)
        if isinstance(thread, TemporaryConversation):
            return _record_temporary(thread, said, reply)
        recorded = turns.record_turn(
            user=call.user,
            conversation=thread,
            user_message=said,
            assistant_message=reply,
            project_key=data.get("project_key") or "",
            tools=data.get("tools", ()),
            occurred_at=data.get("occurred_at"),
        )
        answer = {
            "conversation_id": recorded.conversation.public_id,
            "user_message_id": recorded.user_message.public_id,
            "assistant_message_id": recorded.assistant_message.public_id,
            "op_ids": [operation.public_id for operation in recorded.operations],
        }
        return Response(answer, status=200 if recorded.repeated else 201)


def _said(data: Mapping[str, Any], field: str, role: Role) -> MessageInput:
    given = data[field]
    return MessageInput(
        content=given["content"],
        role=role,
        external_id=data.get(f"{field}_id"),
        created_at=given.get("created_at") or data.get("occurred_at"),
        speaker=given.get("speaker", ""),
    )


def _record_temporary(
    thread: TemporaryConversation, said: MessageInput, reply: MessageInput
) -> Response:
    reply = replace(reply, created_at=reply.created_at or said.created_at)
    messages, repeated = temporary.append(thread, messages=(said, reply))
    answer = {
        "conversation_id": thread.public_id,
        "user_message_id": messages[0].public_id,
        "assistant_message_id": messages[1].public_id,
        "op_ids": [],
    }
    return UnstoredResponse(answer, status=200 if repeated else 201)
