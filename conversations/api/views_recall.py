"""What goes into a prompt, and what is kept of one conversation."""

from __future__ import annotations

from rest_framework.response import Response

from conversations import selectors
from conversations.api import serializers, shown
from conversations.api.finding import Thread, kept, thread_of
from conversations.api.views_turns import unless_temporary
from conversations.models import Conversation
from conversations.services import context, temporary_context
from conversations.services.context import Context, Wanted
from conversations.services.temporary import TemporaryConversation
from memcenter.lib import ids
from memcenter.lib.errors import NotFound
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memcenter.rest.pagination import NEWEST, listed
from memcenter.rest.schema import page_of
from memories.models import Project
from memories.services import indexing, projects, recall, search, writing
from memories.services.pool import PreparedQuery
from ops.access import within
from ops.services import users


def _prepare_message(call: Call) -> PreparedQuery:
    return _prepared(call, call.data["message"])


def _prepared(call: Call, text: str) -> PreparedQuery:
    """Names in a question weigh more when somebody of that name speaks here."""
    if call.user.pk is None:
        return search.prepare_query(text)
    with within(call.user):
        speakers = selectors.speakers_of(call.user)
    return search.prepare_query(text, speakers=speakers)


class ContextView(MemcenterView):
    @endpoint(
        summary="The memory block for a prompt: the one call before the model",
        takes=serializers.ContextInput,
        answers={200: serializers.Context},
        unknown_user=unless_temporary,
        prepare=_prepare_message,
        prepares_within=indexing.is_here,
        idempotent=False,
        adds=True,
        afterwards=True,
    )
    def post(self, call: Call) -> Response:
        thread, wanted = _thread(call), _wanted(call)
        if isinstance(thread, TemporaryConversation):
            found = temporary_context.build(
                call.ready, user=call.user, conversation=thread, wanted=wanted
            )
        else:
            found = context.build(call.ready, user=call.user, conversation=thread, wanted=wanted)
        return Response(_shown(found))


def _thread(call: Call) -> Thread | None:
    """A client's own id that is new makes nothing appear here: the turn will."""
    reference = call.data.get("conversation_id")
    if reference is None:
        return None
    try:
        return thread_of(call, reference)
    except NotFound:
        if ids.is_ours(reference):
            raise
        return None


def _wanted(call: Call) -> Wanted:
    data = call.data
    return Wanted(
        conversation_kind=data.get("conversation_kind"),
        project=_project(call),
        kinds=[writing.check_kind(kind) for kind in data.get("kinds", ())],
        token_budget=data.get("token_budget"),
        top_k=data.get("top_k"),
        include_window=data.get("include_window", True),
        language=data.get("language"),
    )


def _project(call: Call) -> Project | None:
    """A project that nobody has yet adds nothing."""
    key = call.data.get("project_key") or projects.slug(call.data.get("project_name") or "")
    if not key or call.user.pk is None:
        return None
    try:
        return projects.find(user=call.user, key=key)
    except NotFound:
        return None


def _shown(found: Context) -> dict[str, object]:
    return {
        "request_id": found.request_id or None,
        "block": found.block,
        "tokens": found.tokens,
        "sections": [
            {"name": one.name, "text": one.text, "tokens": one.tokens} for one in found.sections
        ],
        "window": [
            {"role": one.role, "content": one.content, "message_id": one.message_id}
            for one in found.window
        ],
        "items": [
            {
                "type": one.type,
                "id": one.id,
                "text": one.text,
                "score": one.score,
                "rank": one.rank,
                "components": one.components,
            }
            for one in found.items
        ],
        "took_ms": found.took_ms,
    }


class SummaryView(MemcenterView):
    @endpoint(
        summary="The rolling summary of a conversation",
        takes=serializers.OfConversation,
        answers={200: serializers.Summary},
    )
    def get(self, call: Call) -> Response:
        thread = kept(call, call.data["conversation_id"])
        row = selectors.summary_of(call.user, thread)
        if row is None:
            raise NotFound("This conversation has no summary yet.")
        ends = (row.from_number, row.through_number)
        bounds = selectors.messages_of(call.user, thread).filter(number__in=ends)
        return Response(shown.summary(row, bounds=list(bounds)))


def _prepare_episodes(call: Call) -> PreparedQuery | None:
    return _prepared(call, call.data["query"]) if "query" in call.data else None


class EpisodesView(MemcenterView):
    @endpoint(
        summary="The episodes of a conversation: newest first, or by likeness to a query",
        takes=serializers.EpisodeQuery,
        answers={200: page_of(serializers.Episode)},
        paged=True,
        prepare=_prepare_episodes,
        prepares_within=indexing.is_here,
    )
    def get(self, call: Call) -> Response:
        thread = kept(call, call.data["conversation_id"])
        if call.ready is not None:
            return Response(listed(_alike(call, thread)))
        rows = selectors.episodes_of(call.user, thread)
        return Response(
            call.page.of(rows, order=NEWEST, show=lambda row: shown.episode(row, similarity=None))
        )


def _alike(call: Call, thread: Conversation) -> list[dict[str, object]]:
    if not users.settings_of(call.user).episodic_enabled:
        return []
    found = recall.recall_episodes(
        call.ready, user=call.user, conversation=thread, limit=call.page.limit, floor=0.0
    )
    return [shown.episode(one.episode, similarity=one.similarity) for one in found]
