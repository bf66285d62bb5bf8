"""Endpoints for coding agents, which store pages about projects and search them in two steps."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.response import Response

from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.parsers import OrjsonParser
from memories import project_pages, selectors
from memories.api import rendering, response_shapes, serializers
from memories.project_pages import NEXT_ACTION, PLACE
from memories.recall import search
from memories.selectors import TimelineFilter
from memories.writing import memory_writes
from memories.writing.direct_writes import Prepared

EVERYTHING = "all"
_BYTES_OF_A_CHARACTER = 12  # if a client writes the character as two \\u escapes


class IngestParser(OrjsonParser):
    """A JSON parser whose size limit admits the longest allowed text even if fully escaped."""

    @property
    def max_bytes(self) -> int:
        return settings.MAX_BODY_BYTES + _BYTES_OF_A_CHARACTER * settings.MAX_INGEST_CHARS


def _prepare_text(call: Call) -> Prepared:
    data = call.data
    named = {name: data[name] for name in PLACE if name in data}
    return project_pages.prepare(project_pages.page_of(data, metadata=named))


class IngestView(MemcenterView):
    parser_classes = (IngestParser,)

    @endpoint(
        summary="Store a page about a project; a newer edition replaces the older one",
        takes=serializers.IngestedText,
        answers={200: response_shapes.Ingested, 201: response_shapes.Ingested},
        whose=people.resolve_owner,
        prepare=_prepare_text,
    )
    def post(self, call: Call) -> Response:
        place = project_pages.place_of(call.data)
        written = project_pages.ingest(call.ready, user=call.user, place=place)
        status = 201 if written.result == "created" else 200
        return Response(response_shapes.Ingested.show(written), status=status)


class AgentSearchView(MemcenterView):
    @endpoint(
        summary="Search memories for agents; returns ids and short snippets",
        takes=serializers.AgentSearch,
        answers={200: response_shapes.AgentFound},
        whose=people.resolve_owner,
        prepare=lambda call: search.prepare_query(call.data["query"]),
    )
    def get(self, call: Call) -> Response:
        found = project_pages.find(
            call.ready,
            user=call.user,
            project=_project(call.data),
            kinds=_kinds(call.data),
            limit=call.data.get("limit", 20),
        )
        results = [response_shapes.AgentHit.show(one) for one in found]
        return Response({"results": results, "next_action": NEXT_ACTION})


def _project(data: Any) -> str:
    return project_pages.key_of(key=data.get("project_key"), name=data.get("project_name"))


def _kinds(data: Any) -> tuple[str, ...]:
    given = {data.get("content_type", EVERYTHING), data.get("scope", EVERYTHING)}
    return tuple(sorted(memory_writes.check_kind(kind) for kind in given - {EVERYTHING}))


class AgentMemoriesView(MemcenterView):
    @endpoint(
        summary="Get memories by their ids, in that order, and list missing ids",
        takes=serializers.AgentFetch,
        answers={200: response_shapes.AgentMemories},
        whose=people.resolve_owner,
    )
    def get(self, call: Call) -> Response:
        wanted = list(dict.fromkeys(call.data["ids"]))
        rows = selectors.memories_by_ids(call.user, wanted)
        results = [rendering.memory(rows[one], user=call.user) for one in wanted if one in rows]
        missing = [one for one in wanted if one not in rows]
        return Response({"results": results, "missing": missing})


class TimelineView(MemcenterView):
    @endpoint(
        summary="List memories by the time of their events, newest first",
        takes=serializers.Timeline,
        pages=response_shapes.TimelineEntry,
        whose=people.resolve_owner,
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
        return Response(call.page.of(rows, order=Order("at"), show=rendering.entry))


class ProjectsView(MemcenterView):
    @endpoint(
        summary="List projects, with their number of memories, paths and machines",
        takes=serializers.Owned,
        pages=response_shapes.ListedProject,
        whose=people.resolve_owner,
    )
    def get(self, call: Call) -> Response:
        rows = selectors.projects_of(call.user)
        return Response(
            call.page.of(
                rows, order=Order("key", descending=False), show=response_shapes.ListedProject.show
            )
        )
