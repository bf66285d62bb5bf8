"""Endpoints for conversations, turns, messages and ratings.

`POST /turns` is the only write that a chat backend needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from rest_framework.response import Response

from conversations import selectors
from conversations.api import conversation_lookup, serializers
from conversations.api.conversation_lookup import (
    Thread,
    message_of,
    thread_for_writing,
    thread_of,
    unknown_user_policy,
)
from conversations.models import Conversation, Message, Role
from conversations.recording import conversation_names, temporary, turns
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from conversations.recording.turns import MessageInput
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import EMPTY, PRETEND, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.idempotency import UnstoredResponse
from memcenter.rest.openapi import Accepted
from memcenter.rest.pagination import NEWEST, Order, single_page
from memories import selectors as memory_selectors
from memories.writing.curation import asks_to_forget, rate_memory
from ops.models import User

_SPOKEN = Order("number", descending=False)


class ConversationsView(MemcenterView):
    @endpoint(
        summary="List the conversations of a user, newest first",
        takes=serializers.ConversationQuery,
        pages=serializers.Conversation,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        rows = selectors.conversations_of(call.user, query=call.data.get("query", ""))
        show = partial(_shown_conversation, user=call.user)
        return Response(call.page.of(rows, order=NEWEST, show=show))

    @endpoint(
        summary="Start a conversation",
        takes=serializers.ConversationInput,
        answers={200: serializers.Conversation, 201: serializers.Conversation},
        unknown_user=unknown_user_policy,
    )
    def post(self, call: Call) -> Response:
        data = call.data
        reference, brief = data.get("conversation_id"), bool(data.get("temporary"))
        fields = {"title": data.get("title", ""), "kind": data.get("kind")}
        if reference is not None:
            thread = thread_for_writing(call, reference, kind=call.data.get("kind"), brief=brief)
            title, is_new = call.data.get("title", ""), not (thread.message_count or thread.title)
            if title and is_new:
                thread = conversation_lookup.rename(call, thread, title=title)
            answer = _shown_conversation(thread, user=call.user)
            return conversation_lookup.write_response(thread, answer, status=201 if is_new else 200)
        create = temporary.create if brief else conversation_names.create
        made: Thread = create(user=call.user, external_id=None, **fields)
        return conversation_lookup.write_response(
            made, _shown_conversation(made, user=call.user), status=201
        )


class ConversationView(MemcenterView):
    @endpoint(
        summary="Get a conversation, by its id or by the client's id",
        takes=Personal,
        answers={200: serializers.Conversation},
        unknown_user=PRETEND,
    )
    def get(self, call: Call, conversation_id: str) -> Response:
        thread = thread_of(call, conversation_id)
        return Response(_shown_conversation(thread, user=call.user))

    @endpoint(
        summary="Rename a conversation",
        takes=serializers.ConversationChange,
        answers={200: serializers.Conversation},
        unknown_user=PRETEND,
    )
    def patch(self, call: Call, conversation_id: str) -> Response:
        thread = thread_of(call, conversation_id)
        if "title" in call.data:
            thread = conversation_lookup.rename(call, thread, title=call.data["title"])
        return conversation_lookup.write_response(
            thread, _shown_conversation(thread, user=call.user)
        )

    @endpoint(
        summary="Forget a conversation and the memories learned only from it",
        takes=serializers.ConversationRemoval,
        answers={202: Accepted},
        strict=True,
        unknown_user=PRETEND,
    )
    def delete(self, call: Call, conversation_id: str) -> Response:
        return conversation_lookup.forget(call, conversation_id)


class TurnsView(MemcenterView):
    @endpoint(
        summary="Record a user message and its reply",
        takes=serializers.TurnInput,
        answers={200: serializers.Recorded, 201: serializers.Recorded},
        unknown_user=unknown_user_policy,
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
        said = _utterance(data, "user_message", Role.USER)
        reply = _utterance(data, "assistant_message", Role.ASSISTANT)
        if isinstance(thread, TemporaryConversation):
            reply = replace(reply, created_at=reply.created_at or said.created_at)
            messages, repeated = temporary.append(thread, messages=(said, reply))
            answer = {
                "conversation_id": thread.public_id,
                "user_message_id": messages[0].public_id,
                "assistant_message_id": messages[1].public_id,
                "op_ids": [],
            }
            return UnstoredResponse(answer, status=200 if repeated else 201)
        recorded = turns.record_turn(
            user=call.user,
            conversation=thread,
            user_message=said,
            assistant_message=reply,
            project_key=data.get("project_key") or "",
            tools=data.get("tools", ()),
            occurred_at=data.get("occurred_at"),
        )
        op_ids = [operation.public_id for operation in recorded.operations]
        answer = serializers.Recorded.show(recorded, op_ids=op_ids)
        return Response(answer, status=200 if recorded.repeated else 201)


def _utterance(data: Mapping[str, Any], field: str, role: Role) -> MessageInput:
    given = data[field]
    return MessageInput(
        content=given["content"],
        role=role,
        external_id=data.get(f"{field}_id"),
        created_at=given.get("created_at") or data.get("occurred_at"),
        speaker=given.get("speaker", ""),
    )


class ConversationMessagesView(MemcenterView):
    @endpoint(
        summary="List the messages of a conversation, oldest first",
        takes=Personal,
        pages=serializers.Message,
        unknown_user=PRETEND,
    )
    def get(self, call: Call, conversation_id: str) -> Response:
        thread = thread_of(call, conversation_id)
        if isinstance(thread, TemporaryConversation):
            rows = temporary.read(thread)
            return Response(
                single_page([_shown_message(one, thread, in_window=True) for one in rows])
            )
        window = _window_ids(call, thread)
        said = selectors.messages_of(call.user, thread).select_related("feedback")

        def show(row: Message) -> dict[str, Any]:
            return _shown_message(row, thread, in_window=row.pk in window)

        return Response(call.page.of(said, order=_SPOKEN, show=show))

    @endpoint(
        summary="Record one message",
        takes=serializers.MessageInputShape,
        answers={200: serializers.Message, 201: serializers.Message},
        unknown_user=unknown_user_policy,
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
            answer = _shown_message(said[0], thread, in_window=True)
            return UnstoredResponse(answer, status=200 if repeated else 201)
        recorded = turns.record_message(user=call.user, conversation=thread, message=message)
        inside = recorded.message.pk in _window_ids(call, thread)
        answer = _shown_message(recorded.message, thread, in_window=inside)
        return Response(answer, status=200 if recorded.repeated else 201)


class MessageView(MemcenterView):
    @endpoint(
        summary="Get a message",
        takes=serializers.OneMessage,
        answers={200: serializers.Message},
    )
    def get(self, call: Call, message_id: str) -> Response:
        row = message_of(call, message_id)
        inside = row.pk in _window_ids(call, row.conversation)
        return Response(_shown_message(row, row.conversation, in_window=inside))

    @endpoint(
        summary="Forget a message and everything derived only from its turn",
        takes=serializers.MessageRemoval,
        answers={202: Accepted},
        strict=True,
    )
    def delete(self, call: Call, message_id: str) -> Response:
        return conversation_lookup.forget_message(call, message_id)


def _window_ids(call: Call, thread: Conversation) -> set[int]:
    return {one.pk for one in selectors.window_of(call.user, thread).messages}


class FeedbackView(MemcenterView):
    @endpoint(
        summary="Rate a message or memory; a rating of null removes the rating",
        takes=serializers.FeedbackInput,
        answers={200: serializers.RatedThing},
    )
    def post(self, call: Call) -> Response:
        data = call.data
        rating, comment = data["rating"], data.get("comment", "")
        if "message_id" in data:
            public_id = data["message_id"]
            message = message_of(call, public_id)
            turns.rate_message(user=call.user, message=message, rating=rating, comment=comment)
            offer = {"scope": "message", "message_id": message.public_id, "cascade": True}
        else:
            public_id = data["memory_id"]
            memory = memory_selectors.memory_of(call.user, public_id)
            rate_memory(user=call.user, memory=memory, rating=rating, comment=comment)
            offer = {"scope": "memory", "memory_id": memory.public_id}
        if call.user.external_id is not None:
            offer["user_id"] = call.user.external_id
        shown = comment if rating is not None else ""
        forget = offer if asks_to_forget(rating) else None
        return Response({"id": public_id, "rating": rating, "comment": shown, "forget": forget})


def _shown_conversation(row: Thread, *, user: User) -> dict[str, Any]:
    is_temporary = isinstance(row, TemporaryConversation)
    return serializers.Conversation.show(row, user_id=user.external_id, temporary=is_temporary)


def _shown_message(
    row: Message | TemporaryMessage, thread: Thread, *, in_window: bool
) -> dict[str, Any]:
    return serializers.Message.show(row, conversation_id=thread.public_id, in_window=in_window)
