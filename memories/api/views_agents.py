"""The agents' project memory: written in one call, found in two stages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.response import Response

from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.parsers import OrjsonParser
from memcenter.rest.schema import page_of
from memories import selectors
from memories.api import answers, serializers, shown
from memories.selectors import TimelineFilter
from memories.services import project_memory, search, writing
from memories.services.pool import PreparedQuery
from memories.services.project_memory import NEXT_ACTION, PLACE
from memories.services.remembering import Prepared

EVERYTHING = "all"
_BYTES_OF_A_CHARACTER = 12  # where a client writes it as two \\u escapes


class IngestParser(OrjsonParser):
    """A body may be as large as the longest text makes it, however it is escaped."""

    @property
    def max_bytes(self) -> int:
        return settings.MAX_BODY_BYTES + _BYTES_OF_A_CHARACTER * settings.MAX_INGEST_CHARS


def _prepare_text(call: Call) -> Prepared:
    data = call.data
    named = {name: data[name] for name in PLACE if name in data}
    return project_memory.prepare(project_memory.page_of(data, metadata=named))


class IngestView(MemcenterView):
    parser_classes = (IngestParser,)

    @endpoint(
        summary="Store a page about a project; a newer edition replaces the older",
        takes=serializers.IngestedText,
        answers={200: answers.Ingested, 201: answers.Ingested},
        whose=people.whose_owner,
        prepare=_prepare_text,
    )
    def post(self, call: Call) -> Response:
        place = project_memory.place_of(call.data)
        written = project_memory.ingest(call.ready, user=call.user, place=place)
        status = 201 if written.result == "created" else 200
        return Response(shown.ingested(written), status=status)


def _prepare(call: Call) -> PreparedQuery:
    return search.prepare_query(call.data["query"])


class AgentSearchView(MemcenterView):
    @endpoint(
        summary="Find memories: ids and short snippets; fetch what looks right by its ids",
        takes=serializers.AgentSearch,
        answers={200: answers.AgentFound},
        whose=people.whose_owner,
        prepare=_prepare,
    )
    def get(self, call: Call) -> Response:
        found = project_memory.find(
            call.ready,
            user=call.user,
            project=_project(call.data),
            kinds=_kinds(call.data),
            limit=call.data.get("limit", 20),
        )
        results = [shown.found(one.memory, one.hit) for one in found]
        return Response({"results": results, "next_action": NEXT_ACTION})


def _project(data: Any) -> str:
    return project_memory.key_of(key=data.get("project_key"), name=data.get("project_name"))


def _kinds(data: Any) -> tuple[str, ...]:
    given = {data.get("content_type", EVERYTHING), data.get("scope", EVERYTHING)}
    return tuple(sorted(writing.check_kind(kind) for kind in given - {EVERYTHING}))


class AgentMemoriesView(MemcenterView):
    @endpoint(
        summary="Whole memories by their ids, in that order, and which of them are missing",
        takes=serializers.AgentFetch,
        answers={200: answers.AgentMemories},
        whose=people.whose_owner,
    )
    def get(self, call: Call) -> Response:
        wanted = list(dict.fromkeys(call.data["ids"]))
        rows = selectors.memories_by_ids(call.user, wanted)
        results = [shown.memory(rows[one], user=call.user) for one in wanted if one in rows]
        missing = [one for one in wanted if one not in rows]
        return Response({"results": results, "missing": missing})


class TimelineView(MemcenterView):
    @endpoint(
        summary="What is remembered in the order of time, newest first",
        takes=serializers.Timeline,
        answers={200: page_of(answers.TimelineEntry)},
        whose=people.whose_owner,
        paged=True,
    )
    def get(self, call: Call) -> Response:
        data = call.data
        wanted = TimelineFilter(
            project_key=_project(data),
            kinds=_kinds(data),
            since=data.get("from"),
            until=data.get("to"),
        )
        rows = selectors.timeline_of(call.user, wanted)
        return Response(call.page.of(rows, order=Order("at"), show=shown.entry))


class ProjectsView(MemcenterView):
    @endpoint(
        summary="The projects, with how much is remembered of each and where they are worked on",
        takes=serializers.Owned,
        answers={200: page_of(answers.ListedProject)},
        whose=people.whose_owner,
        paged=True,
    )
    def get(self, call: Call) -> Response:
        rows = selectors.projects_of(call.user)
        return Response(
            call.page.of(rows, order=Order("key", descending=False), show=shown.project)
        )
