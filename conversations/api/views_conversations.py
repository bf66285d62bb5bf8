"""Conversations."""

from __future__ import annotations

from functools import partial

from rest_framework.response import Response

from conversations import selectors
from conversations.api import forget_or_clear, rendering, serializers
from conversations.api.conversation_names import thread_for_writing, thread_of
from conversations.api.views_turns import unless_temporary
from conversations.recording import conversation_names, temporary
from conversations.recording.temporary import TemporaryConversation
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import Accepted, page_of
from memcenter.rest.endpoint import EMPTY, PRETEND, Call, endpoint
from memcenter.rest.pagination import NEWEST
from memcenter.rest.requests.fields import Personal
from memcenter.rest.requests.idempotency import UnstoredResponse


class ConversationsView(MemcenterView):
    @endpoint(
        summary="List the conversations of a user, newest first",
        takes=serializers.ConversationQuery,
        answers={200: page_of(serializers.Conversation)},
        paged=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        rows = selectors.conversations_of(call.user, query=call.data.get("query", ""))
        show = partial(rendering.conversation, user=call.user)
        return Response(call.page.of(rows, order=NEWEST, show=show))

    @endpoint(
        summary="Start a conversation",
        takes=serializers.ConversationInput,
        answers={200: serializers.Conversation, 201: serializers.Conversation},
        unknown_user=unless_temporary,
    )
    def post(self, call: Call) -> Response:
        data = call.data
        reference, brief = data.get("conversation_id"), bool(data.get("temporary"))
        fields = {"title": data.get("title", ""), "kind": data.get("kind")}
        if brief and reference is None:
            made = temporary.create(user=call.user, external_id=None, **fields)
            return UnstoredResponse(rendering.conversation(made, user=call.user), status=201)
        if reference is None:
            row = conversation_names.create(user=call.user, external_id=None, **fields)
            return Response(rendering.conversation(row, user=call.user), status=201)
        return self._named(call, reference, brief=brief)

    def _named(self, call: Call, reference: str, *, brief: bool) -> Response:
        """Return the conversation with the client's id if it exists already."""
        thread = thread_for_writing(call, reference, kind=call.data.get("kind"), brief=brief)
        title, is_new = call.data.get("title", ""), not (thread.message_count or thread.title)
        if title and is_new:
            if isinstance(thread, TemporaryConversation):
                thread = temporary.rename(thread, title=title)
            else:
                thread = conversation_names.rename(user=call.user, conversation=thread, title=title)
        answer = rendering.conversation(thread, user=call.user)
        status = 201 if is_new else 200
        if isinstance(thread, TemporaryConversation):
            return UnstoredResponse(answer, status=status)
        return Response(answer, status=status)


class ConversationView(MemcenterView):
    @endpoint(
        summary="One conversation, by our id or the client's",
        takes=Personal,
        answers={200: serializers.Conversation},
        unknown_user=PRETEND,
    )
    def get(self, call: Call, conversation_id: str) -> Response:
        thread = thread_of(call, conversation_id)
        return Response(rendering.conversation(thread, user=call.user))

    @endpoint(
        summary="Rename a conversation",
        takes=serializers.ConversationChange,
        answers={200: serializers.Conversation},
        unknown_user=PRETEND,
    )
    def patch(self, call: Call, conversation_id: str) -> Response:
        thread = thread_of(call, conversation_id)
        if "title" in call.data:
            title = call.data["title"]
            if isinstance(thread, TemporaryConversation):
                thread = temporary.rename(thread, title=title)
                return UnstoredResponse(rendering.conversation(thread, user=call.user))
            thread = conversation_names.rename(user=call.user, conversation=thread, title=title)
        return Response(rendering.conversation(thread, user=call.user))

    @endpoint(
        summary="Forget a conversation and what was learned only from it",
        takes=serializers.ConversationRemoval,
        answers={202: Accepted},
        strict=True,
        unknown_user=PRETEND,
    )
    def delete(self, call: Call, conversation_id: str) -> Response:
        return forget_or_clear.forget(call, conversation_id)
