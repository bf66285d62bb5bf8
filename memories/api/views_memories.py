"""Long-term memory: the list, and single memories."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import Accepted, page_of
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.pagination import NEWEST, Order
from memcenter.rest.requests.fields import Personal
from memories import portrait, project_pages, selectors
from memories.api import rendering, response_shapes, serializers
from memories.forgetting import memory_forgets
from memories.models import Memory, Origin
from memories.selectors import MemoryFilter
from memories.writing import curation, direct_writes, memory_writes
from memories.writing.curation import Edit
from memories.writing.direct_writes import MemoryInput, Prepared
from ops.access import as_user
from ops.accounts import users

_GIVEN = (
    "tags",
    "importance",
    "confidence",
    "data",
    "project_key",
    "occurred_at",
    "valid_from",
    "valid_until",
    "summary",
    "agent_id",
    "app_id",
    "run_id",
    "metadata",
    "kind",
)


def _prepare(call: Call) -> Prepared:
    given = {name: call.data[name] for name in _GIVEN if name in call.data}
    told = MemoryInput(content=call.data["content"], **given)
    told = project_pages.with_project(told, field="project_key")
    return direct_writes.prepare(told, origin=Origin.API)


class PortraitView(MemcenterView):
    @endpoint(
        summary="About the user: what is known, in groups; empty while memory is off",
        takes=Personal,
        answers={200: response_shapes.Portrait},
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        is_on = users.settings_of(call.user).longterm_enabled
        groups = portrait.portrait_of(call.user) if is_on else []
        return Response({"groups": [rendering.portrait_group(one) for one in groups]})


class LongTermView(MemcenterView):
    @endpoint(
        summary="List memories; by default those in use, newest first",
        takes=serializers.MemoryQuery,
        answers={200: page_of(response_shapes.Memory)},
        paged=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        rows, order = _sorted(selectors.memories_of(call.user, _filter(call)), call.data)
        show = partial(rendering.memory, user=call.user)
        return Response(call.page.of(rows, order=order, show=show))

    @endpoint(
        summary="Write a memory; it is held against what is known in the same call",
        takes=serializers.MemoryInputShape,
        answers={200: response_shapes.WrittenMemory, 201: response_shapes.WrittenMemory},
        unknown_user=CREATE,
        prepare=_prepare,
    )
    def post(self, call: Call) -> Response:
        written = direct_writes.remember(call.ready, user=call.user)
        memory = selectors.memory_of(call.user, written.memory.public_id)
        answer = {**rendering.memory(memory, user=call.user), "result": written.result}
        answer["superseded"] = list(written.superseded)
        if written.redacted:
            answer["redacted"] = True
        return Response(answer, status=201 if written.result == "created" else 200)


def _filter(call: Call) -> MemoryFilter:
    data = call.data
    return MemoryFilter(
        query=data.get("query", ""),
        kinds=[memory_writes.check_kind(kind) for kind in data.get("kind", ())],
        tag=data.get("tag", ""),
        status=data.get("status", ""),
        project_key=data.get("project_key", ""),
        origin=data.get("origin", ""),
        pinned=data.get("pinned"),
        since=data.get("from"),
        until=data.get("to"),
    )


def _sorted(rows: QuerySet[Memory], data: Any) -> tuple[QuerySet[Memory], Order]:
    """Sort newest first by default; a missing time is replaced by the creation time."""
    sort = data.get("sort")
    if sort is None:
        return rows, NEWEST
    field, descending = sort.removeprefix("-"), sort.startswith("-")
    if field in serializers.NULLABLE_SORTS:
        stand_in = f"{field}_or_created"
        rows = rows.annotate(**{stand_in: Coalesce(field, "created_at")})
        return rows, Order(stand_in, descending=descending)
    return rows, Order(field, descending=descending)


def _prepare_edit(call: Call) -> tuple[Memory, Edit]:
    with as_user(call.user):
        memory = selectors.memory_of(call.user, call.asked.ids["memory_id"], with_bin=False)
    changes = {name: value for name, value in call.data.items() if name != "user_id"}
    return memory, curation.prepare_edit(changes, memory=memory, actor=Origin.API)


class LongTermMemoryView(MemcenterView):
    @endpoint(
        summary="One memory, also from the recycle bin",
        takes=Personal,
        answers={200: response_shapes.Memory},
    )
    def get(self, call: Call, memory_id: str) -> Response:
        return Response(rendering.memory(selectors.memory_of(call.user, memory_id), user=call.user))

    @endpoint(
        summary="Change a memory; another text becomes a version",
        takes=serializers.MemoryChange,
        answers={200: response_shapes.Memory},
        prepare=_prepare_edit,
    )
    def patch(self, call: Call, memory_id: str) -> Response:
        memory, edit = call.ready
        curation.edit(edit, user=call.user, memory=memory, actor=Origin.API)
        return Response(rendering.memory(selectors.memory_of(call.user, memory_id), user=call.user))

    @endpoint(
        summary="Forget a memory now, or with recycle=true put it into the recycle bin",
        takes=serializers.MemoryRemoval,
        answers={200: response_shapes.Memory, 202: Accepted},
        strict=True,
    )
    def delete(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        if call.data.get("recycle", False):
            curation.recycle(user=call.user, memory=memory)
            binned = selectors.memory_of(call.user, memory_id)
            return Response(rendering.memory(binned, user=call.user))
        operation = memory_forgets.forget_memory(
            user=call.user, memory=memory, requested_by_key=call.key_id
        )
        return Response({"status": "accepted", "op_id": operation.public_id}, status=202)
