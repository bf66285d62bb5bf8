"""Endpoints for the memory block of a prompt, and for a conversation's summary and episodes."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response

from conversations import selectors
from conversations.api import serializers
from conversations.api.conversation_lookup import (
    Thread,
    stored_conversation,
    thread_of,
    unknown_user_policy,
)
from conversations.block import builder
from conversations.block.builder import BlockOptions
from conversations.models import Episode
from foundation import ids
from foundation.errors import NotFound
from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import EMPTY, Call, endpoint
from memcenter.rest.pagination import NEWEST, single_page
from memories import projects
from memories.extraction import masking
from memories.indexing import search_index
from memories.indexing.conversation_texts import masked_turn
from memories.models import Project
from memories.recall import recall, search
from memories.recall.candidate_pool import PreparedQuery
from memories.writing import memory_writes
from ops.accounts import users


def _prepared(call: Call, field: str) -> PreparedQuery:
    """Return the text of a field of the request, prepared as a search query.

    If the text names a speaker of the person's conversations, the search prefers messages by this
    speaker.
    """
    text = call.data[field]
    if call.user.pk is None:
        return search.prepare_query(text)
    return search.prepare_query(text, speakers=sorted(call.read_with_key(selectors.speakers_of)))


class ContextView(MemcenterView):
    @endpoint(
        summary="Build the memory block for a prompt",
        takes=serializers.ContextInput,
        answers={200: serializers.Context},
        unknown_user=unknown_user_policy,
        prepare=lambda call: _prepared(call, "message"),
        prepares_within=search_index.is_local,
        with_person=selectors.SPEAKERS,
        idempotent=False,
        adds=True,
        defers_writes=True,
    )
    def post(self, call: Call) -> Response:
        data = call.data
        found = builder.build(
            call.ready,
            user=call.user,
            conversation=_thread(call),
            options=BlockOptions(
                conversation_kind=data.get("conversation_kind"),
                project=_project(call),
                kinds=[memory_writes.check_kind(kind) for kind in data.get("kinds", ())],
                token_budget=data.get("token_budget"),
                top_k=data.get("top_k"),
                include_window=data.get("include_window", True),
                language=data.get("language"),
            ),
            own=call.own,
        )
        return Response(serializers.Context.show(found))


def _thread(call: Call) -> Thread | None:
    """Return the conversation that the request names; never create a conversation.

    Return None if the request contains no id, or an unknown id chosen by the client. Raise
    `NotFound` for an unknown id in our own format (`conv_…`).
    """
    reference = call.data.get("conversation_id")
    if reference is None:
        return None
    try:
        return thread_of(call, reference)
    except NotFound:
        if ids.resembles_public_id(reference):
            raise
        return None


def _project(call: Call) -> Project | None:
    key = call.data.get("project_key") or projects.slug(call.data.get("project_name") or "")
    if not key or call.user.pk is None:
        return None
    try:
        return projects.find(user=call.user, key=key)
    except NotFound:
        return None


class SummaryView(MemcenterView):
    @endpoint(
        summary="Get the rolling summary of a conversation",
        takes=serializers.OfConversation,
        answers={200: serializers.Summary},
    )
    def get(self, call: Call) -> Response:
        thread = stored_conversation(call, call.data["conversation_id"])
        row = selectors.summary_of(call.user, thread)
        if row is None:
            raise NotFound("This conversation has no summary yet.")
        ends = (row.from_number, row.through_number)
        bounds = selectors.messages_of(call.user, thread).filter(number__in=ends)
        bound_ids = {one.number: one.public_id for one in bounds}
        return Response(
            serializers.Summary.show(
                row,
                text=masking.masked(row.text),
                covered_from_message_id=bound_ids.get(row.from_number),
                covered_through_message_id=bound_ids.get(row.through_number),
            )
        )


class EpisodesView(MemcenterView):
    @endpoint(
        summary="List the episodes of a conversation, newest first or by similarity to a query",
        takes=serializers.EpisodeQuery,
        pages=serializers.Episode,
        prepare=lambda call: _prepared(call, "query") if "query" in call.data else None,
        prepares_within=search_index.is_local,
        with_person=selectors.SPEAKERS,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        if call.user.pk == people.NOBODY:
            return Response(single_page([]))
        thread = stored_conversation(call, call.data["conversation_id"])
        if call.ready is not None:
            if not users.settings_of(call.user).episodic_enabled:
                return Response(single_page([]))
            found = recall.recall_episodes(
                call.ready, user=call.user, conversation=thread, limit=call.page.limit, floor=0.0
            )
            return Response(
                single_page([_shown_episode(one.episode, one.similarity) for one in found])
            )
        rows = selectors.episodes_of(call.user, thread)
        return Response(call.page.of(rows, order=NEWEST, show=_shown_episode))


def _shown_episode(row: Episode, similarity: float | None = None) -> dict[str, Any]:
    said, reply = masked_turn(row.turn)
    return serializers.Episode.show(
        row, similarity=similarity, user_message=said, assistant_message=reply
    )
