"""Messages."""

from __future__ import annotations

from rest_framework.response import Response

from conversations import selectors
from conversations.api import rendering, serializers
from conversations.api.conversation_names import message_of, thread_for_writing, thread_of
from conversations.api.views_turns import unless_temporary
from conversations.forgetting import message_forgets
from conversations.models import Conversation, Message
from conversations.recording import temporary, turns
from conversations.recording.temporary import TemporaryConversation
from conversations.recording.turns import MessageInput
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import Accepted, page_of
from memcenter.rest.endpoint import PRETEND, Call, endpoint
from memcenter.rest.pagination import Order, listed
from memcenter.rest.requests.fields import Personal
from memcenter.rest.requests.idempotency import UnstoredResponse

_SPOKEN = Order("number", descending=False)


class ConversationMessagesView(MemcenterView):
    @endpoint(
        summary="List the messages of a conversation, oldest first",
        takes=Personal,
        answers={200: page_of(serializers.Message)},
        paged=True,
        unknown_user=PRETEND,
    )
    def get(self, call: Call, conversation_id: str) -> Response:
        thread = thread_of(call, conversation_id)
        if isinstance(thread, TemporaryConversation):
            return Response(listed(_temporary(thread)))
        window = _window_ids(call, thread)

        def show(row: Message) -> dict[str, object]:
            inside = row.pk in window
            return rendering.message(row, conversation_id=thread.public_id, in_window=inside)

        rows = selectors.messages_of(call.user, thread).select_related("feedback")
        return Response(call.page.of(rows, order=_SPOKEN, show=show))

    @endpoint(
        summary="Record one message",
        takes=serializers.MessageInputShape,
        answers={200: serializers.Message, 201: serializers.Message},
        unknown_user=unless_temporary,
        adds=True,
    )
    def post(self, call: Call, conversation_id: str) -> Response:
        thread = thread_for_writing(call, conversation_id, kind=None, brief=False)
        data = call.data
        message = MessageInput(
            content=data["content"],
            role=data["role"],
            external_id=data.get("message_id"),
            created_at=data.get("created_at"),
            speaker=data.get("speaker", ""),
            completed=data.get("completed", True),
        )
        if isinstance(thread, TemporaryConversation):
            said, repeated = temporary.append(thread, messages=(message,))
            answer = rendering.message(said[0], conversation_id=thread.public_id, in_window=True)
            return UnstoredResponse(answer, status=200 if repeated else 201)
        recorded = turns.record_message(user=call.user, conversation=thread, message=message)
        answer = rendering.message(
            recorded.message,
            conversation_id=thread.public_id,
            in_window=recorded.message.pk in _window_ids(call, thread),
        )
        return Response(answer, status=200 if recorded.repeated else 201)


class MessageView(MemcenterView):
    @endpoint(
        summary="One message",
        takes=serializers.OneMessage,
        answers={200: serializers.Message},
    )
    def get(self, call: Call, message_id: str) -> Response:
        row = message_of(call, message_id)
        thread = row.conversation
        inside = row.pk in _window_ids(call, thread)
        return Response(rendering.message(row, conversation_id=thread.public_id, in_window=inside))

    @endpoint(
        summary="Forget a message and everything that rests on its turn",
        takes=serializers.MessageRemoval,
        answers={202: Accepted},
        strict=True,
    )
    def delete(self, call: Call, message_id: str) -> Response:
        operation = message_forgets.forget_message(
            user=call.user,
            message=message_of(call, message_id),
            cascade=call.data.get("cascade", False),
            requested_by_key=call.key_id,
        )
        return Response(rendering.accepted(operation.public_id), status=202)


def _window_ids(call: Call, thread: Conversation) -> set[int]:
    return {one.pk for one in selectors.window_of(call.user, thread).messages}


def _temporary(thread: TemporaryConversation) -> list[dict[str, object]]:
    return [
        rendering.message(row, conversation_id=thread.public_id, in_window=True)
        for row in temporary.read(thread)
    ]
