"""Endpoints for coding agents, which store pages about projects and search memories in two steps.

A search returns ids and snippets; a second call gets the memories by their ids.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.response import Response

from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.parsers import OrjsonParser
from memories import project_documents, projects, selectors
from memories.api import rendering, response_shapes, serializers
from memories.project_documents import NEXT_ACTION, PLACE, AgentFolder
from memories.recall import search
from memories.selectors import TimelineFilter
from memories.writing import memory_writes
from memories.writing.direct_writes import Prepared

EVERYTHING = "all"
_BYTES_OF_A_CHARACTER = 12  # a character may be written as two \uXXXX escapes


class IngestParser(OrjsonParser):
    """A JSON parser that accepts the longest allowed text even if each character is escaped."""

    @property
    def max_bytes(self) -> int:
        return settings.MAX_BODY_BYTES + _BYTES_OF_A_CHARACTER * settings.MAX_INGEST_CHARS


def _prepare_text(call: Call) -> Prepared:
    data = call.data
    named = {name: data[name] for name in PLACE if name in data}
    return project_documents.prepare(project_documents.page_of(data, metadata=named))


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
        place = AgentFolder(*(call.data.get(name, "") for name in PLACE))
        written = project_documents.ingest(call.ready, user=call.user, place=place)
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
        found = project_documents.find(
            call.ready,
            user=call.user,
            project=_project(call.data),
            kinds=_kinds(call.data),
            limit=call.data.get("limit", 20),
        )
        results = [response_shapes.AgentHit.show(one) for one in found]
        return Response({"results": results, "next_action": NEXT_ACTION})


def _project(data: Any) -> str:
    """Return the project's key, derived from its name if necessary; "" if neither is given."""
    return data.get("project_key") or projects.slug(data.get("project_name") or "")


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
