"""Endpoints for searching, for traces of searches and recalls, and for metrics."""

from __future__ import annotations

from rest_framework.response import Response

from conversations import selectors as conversation_selectors
from conversations.models import Conversation
from conversations.recording import conversation_names
from foundation.errors import NotFound
from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import EMPTY, Call, Endpoint, ParsedRequest, endpoint
from memcenter.rest.fields import Personal
from memories import metrics, projects, selectors
from memories.api import rendering, response_shapes, serializers
from memories.indexing import search_index
from memories.models import MemoryStatus
from memories.recall import search
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.searchable_texts import TYPES, Filters
from memories.writing import memory_writes
from ops.models import Scope, User


def _prepare(call: Call) -> PreparedQuery:
    speakers = sorted(call.read_with_key(conversation_selectors.speakers_of))
    return search.prepare_query(call.data["query"], speakers=speakers)


class SearchView(MemcenterView):
    @endpoint(
        summary="Search a user's memories, messages, episodes, summaries and notes",
        takes=serializers.SearchQuery,
        answers={200: response_shapes.SearchAnswer},
        prepare=_prepare,
        prepares_within=search_index.is_local,
        with_person=conversation_selectors.SPEAKERS,
        adds=True,
        defers_writes=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        data = call.data
        types, project = data.get("types") or TYPES, None
        if key := data.get("project_key"):
            try:
                project = projects.find(user=call.user, key=key)
            except NotFound:
                types = tuple(one for one in types if one != "memory")
        filters = Filters(
            conversation=_conversation(call),
            project=project,
            kinds=(memory_writes.check_kind(data["kind"]),) if "kind" in data else (),
            tag=data.get("tag", ""),
            status=data.get("status", MemoryStatus.ACTIVE),
            archived="status" not in data,
            since=data.get("from"),
            until=data.get("to"),
        )
        found = search.search(
            call.ready,
            user=call.user,
            types=types,
            filters=filters,
            limit=data.get("limit", 20),
            kind=data.get("conversation_kind"),
            own=call.own,
        )
        results = [rendering.hit(one) for one in found.results]
        return Response(response_shapes.SearchAnswer.show(found, results=results))


def _conversation(call: Call) -> Conversation | None:
    reference = call.data.get("conversation_id")
    if reference is None or call.user.pk == people.NOBODY:
        return None
    return conversation_names.resolve(user=call.user, reference=reference)


def _whose_trace(parsed: ParsedRequest) -> User:
    key = parsed.key
    of_all = key is not None and key.user_id is not None and Scope.ADMIN in key.scopes
    named = None if of_all else people.resolve_person(parsed, Endpoint(scope=parsed.scope))
    user = selectors.owner_of_request(parsed.ids["request_id"])
    if user is None or parsed.user_id not in (None, user.external_id) or named not in (None, user):
        raise NotFound("This request doesn’t exist.")
    return people.require_not_forgotten(user, writes=False)


class DebugView(MemcenterView):
    @endpoint(
        summary="Explain the results of a recall or search",
        takes=Personal,
        answers={200: response_shapes.Trace},
        whose=_whose_trace,
    )
    def get(self, call: Call, request_id: str) -> Response:
        row = selectors.trace_of(call.user, request_id)
        return Response(response_shapes.Trace.show(row, hits=selectors.hits_of(row)))


class MetricsView(MemcenterView):
    @endpoint(
        summary="Get counts of memories and the times that recalls take",
        takes=Personal,
        answers={200: response_shapes.Metrics},
        all_users_for=Scope.ADMIN,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(metrics.metrics_for(call.user))
