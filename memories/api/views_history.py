"""Explain a memory: its versions, sources, recalls and relations; and restore a version."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import Prefetch
from rest_framework.response import Response

from memcenter.lib.errors import Invalid
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import page_of
from memcenter.rest.endpoint import Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.requests.fields import Personal
from memories import selectors
from memories.api import rendering, response_shapes, serializers
from memories.indexing import search_index
from memories.writing import curation, memory_writes
from ops.access import as_user

_NEWEST = Order("id")


class MemoryVersionsView(MemcenterView):
    @endpoint(
        summary="The versions of a memory, newest first",
        takes=Personal,
        answers={200: page_of(response_shapes.MemoryVersion)},
        paged=True,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        sources = Prefetch("sources", selectors.sources_of(memory), to_attr="shown_sources")
        rows = selectors.versions_of(memory).prefetch_related(sources)
        return Response(call.page.of(rows, order=Order("number"), show=rendering.version))


class MemorySourcesView(MemcenterView):
    @endpoint(
        summary="What a memory rests on, newest first",
        takes=Personal,
        answers={200: page_of(response_shapes.NumberedSource)},
        paged=True,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        rows = selectors.sources_of(selectors.memory_of(call.user, memory_id))
        return Response(call.page.of(rows, order=_NEWEST, show=rendering.numbered_source))


class MemoryRecallsView(MemcenterView):
    @endpoint(
        summary="When a memory was put into a prompt, newest first",
        takes=Personal,
        answers={200: page_of(response_shapes.MemoryRecall)},
        paged=True,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        rows = selectors.recalls_of(call.user, memory)
        return Response(call.page.of(rows, order=_NEWEST, show=rendering.recall))


class MemoryRelationsView(MemcenterView):
    @endpoint(
        summary="How a memory bears on others",
        takes=Personal,
        answers={200: page_of(response_shapes.MemoryRelation)},
        paged=True,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        show = partial(rendering.relation, seen_from=memory)
        rows = selectors.relations_of(memory)
        return Response(call.page.of(rows, order=_NEWEST, show=show))


def _prepare_restore(call: Call) -> Any:
    """Return the old text's vectors, computed before the transaction; None if no version is
    given.
    """
    number = call.data.get("version")
    if number is None:
        return None
    with as_user(call.user):
        memory = selectors.memory_of(call.user, call.asked.ids["memory_id"])
        old = selectors.versions_of(memory).filter(number=number).first()
    if old is None:
        raise Invalid.field("version", "There is no such version.")
    return old.content, *search_index.embed_memory(old.content)


class MemoryRestoreView(MemcenterView):
    @endpoint(
        summary="Take a memory out of the recycle bin or the archive, or back to an old version",
        takes=serializers.RestoreInput,
        answers={200: response_shapes.Memory},
        prepare=_prepare_restore,
    )
    def post(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        if memory.deleted_at is None and memory.archived_at is not None:
            memory = curation.enable(user=call.user, memory=memory)
        memory = curation.take_back(user=call.user, memory=memory)
        if call.ready is not None:
            text, vectors, pieces = call.ready
            memory_writes.restore_version(
                memory, number=call.data["version"], text=text, vectors=vectors, pieces=pieces
            )
        return Response(rendering.memory(selectors.memory_of(call.user, memory_id), user=call.user))
