"""Search, and what explains it."""

from __future__ import annotations

from rest_framework.response import Response

from conversations import selectors as said
from conversations.models import Conversation
from conversations.services import threads
from memcenter.lib.errors import NotFound
from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Asked, Call, Endpoint, endpoint
from memcenter.rest.fields import Personal
from memories import metrics, owners, selectors
from memories.api import answers, serializers, shown
from memories.models import MemoryStatus
from memories.services import indexing, projects, search, writing
from memories.services.pool import PreparedQuery
from memories.services.shelves import TYPES, Filters
from ops.access import within
from ops.models import Scope, User


def _prepare(call: Call) -> PreparedQuery:
    """Names in a question weigh more when somebody of that name speaks here."""
    with within(call.user):
        speakers = said.speakers_of(call.user)
    return search.prepare_query(call.data["query"], speakers=speakers)


class SearchView(MemcenterView):
    @endpoint(
        summary="Search everything of a user: memories, messages, episodes, summaries, notes",
        takes=serializers.SearchQuery,
        answers={200: answers.SearchAnswer},
        prepare=_prepare,
        prepares_within=indexing.is_here,
        adds=True,
        afterwards=True,
    )
    def get(self, call: Call) -> Response:
        data = call.data
        filters, types = _narrowed(call)
        found = search.search(
            call.ready,
            user=call.user,
            types=types,
            filters=filters,
            limit=data.get("limit", 20),
            kind=data.get("conversation_kind"),
        )
        return Response(
            {
                "request_id": found.request_id,
                "results": [shown.hit(one) for one in found.results],
                "took_ms": found.took_ms,
            }
        )


def _narrowed(call: Call) -> tuple[Filters, tuple[str, ...]]:
    """A project that nobody has yet holds no memory: then memories are not looked through."""
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
        kinds=(writing.check_kind(data["kind"]),) if "kind" in data else (),
        tag=data.get("tag", ""),
        status=data.get("status", MemoryStatus.ACTIVE),
        since=data.get("from"),
        until=data.get("to"),
    )
    return filters, types


def _conversation(call: Call) -> Conversation | None:
    reference = call.data.get("conversation_id")
    return None if reference is None else threads.resolve(user=call.user, reference=reference)


def _whose_trace(asked: Asked) -> User:
    """A bound key with the scope `admin` also reads the traces of other people."""
    key = asked.key
    of_all = key is not None and key.user_id is not None and Scope.ADMIN in key.scopes
    named = None if of_all else people.whose(asked, Endpoint(scope=asked.scope))
    user = owners.of_request(asked.ids["request_id"])
    if user is None or asked.user_id not in (None, user.external_id) or named not in (None, user):
        raise NotFound("There is no such request.")
    return people.present(user, writes=False)


class DebugView(MemcenterView):
    @endpoint(
        summary="How a recall or search came to its results",
        takes=Personal,
        answers={200: answers.Trace},
        whose=_whose_trace,
    )
    def get(self, call: Call, request_id: str) -> Response:
        row = selectors.trace_of(call.user, request_id)
        return Response(shown.trace(row, hits=selectors.hits_of(row)))


class MetricsView(MemcenterView):
    @endpoint(
        summary="How much is remembered and how fast it is recalled",
        takes=Personal,
        answers={200: answers.Metrics},
        all_users_for=Scope.ADMIN,
    )
    def get(self, call: Call) -> Response:
        return Response(metrics.figures_of(call.user))
