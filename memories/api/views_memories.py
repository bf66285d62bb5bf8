"""Long-term memory: the list, and one memory."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.pagination import NEWEST, Order
from memcenter.rest.schema import Accepted, page_of
from memories import selectors
from memories.api import answers, serializers, shown
from memories.models import Memory, Origin
from memories.selectors import MemoryFilter
from memories.services import curating, forgetting, remembering, writing
from memories.services.curating import Edit
from memories.services.remembering import MemoryInput, Prepared
from ops.access import as_user

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
    return remembering.prepare(
        MemoryInput(content=call.data["content"], **given), origin=Origin.API
    )


class LongTermView(MemcenterView):
    @endpoint(
        summary="List memories; by default those in use, newest first",
        takes=serializers.MemoryQuery,
        answers={200: page_of(answers.Memory)},
        paged=True,
    )
    def get(self, call: Call) -> Response:
        rows, order = _sorted(selectors.memories_of(call.user, _filter(call)), call.data)
        show = partial(shown.memory, user=call.user)
        return Response(call.page.of(rows, order=order, show=show))

    @endpoint(
        summary="Write a memory; it is held against what is known in the same call",
        takes=serializers.MemoryInputShape,
        answers={200: answers.WrittenMemory, 201: answers.WrittenMemory},
        unknown_user=CREATE,
        prepare=_prepare,
    )
    def post(self, call: Call) -> Response:
        written = remembering.remember(call.ready, user=call.user)
        memory = selectors.memory_of(call.user, written.memory.public_id)
        answer = {**shown.memory(memory, user=call.user), "result": written.result}
        answer["superseded"] = list(written.superseded)
        if written.redacted:
            answer["redacted"] = True
        return Response(answer, status=201 if written.result == "created" else 200)


def _filter(call: Call) -> MemoryFilter:
    data = call.data
    return MemoryFilter(
        query=data.get("query", ""),
        kinds=[writing.check_kind(kind) for kind in data.get("kind", ())],
        tag=data.get("tag", ""),
        status=data.get("status", ""),
        project_key=data.get("project_key", ""),
        origin=data.get("origin", ""),
        pinned=data.get("pinned"),
        since=data.get("from"),
        until=data.get("to"),
    )


def _sorted(rows: QuerySet[Memory], data: Any) -> tuple[QuerySet[Memory], Order]:
    """Newest first unless asked otherwise; where a time is missing, creation stands in."""
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
    return memory, curating.prepare_edit(changes, memory=memory, actor=Origin.API)


class LongTermMemoryView(MemcenterView):
    @endpoint(
        summary="One memory, also from the recycle bin",
        takes=Personal,
        answers={200: answers.Memory},
    )
    def get(self, call: Call, memory_id: str) -> Response:
        return Response(shown.memory(selectors.memory_of(call.user, memory_id), user=call.user))

    @endpoint(
        summary="Change a memory; another text becomes a version",
        takes=serializers.MemoryChange,
        answers={200: answers.Memory},
        prepare=_prepare_edit,
    )
    def patch(self, call: Call, memory_id: str) -> Response:
        memory, edit = call.ready
        curating.edit(edit, user=call.user, memory=memory, actor=Origin.API)
        return Response(shown.memory(selectors.memory_of(call.user, memory_id), user=call.user))

    @endpoint(
        summary="Forget a memory now, or with recycle=true put it into the recycle bin",
        takes=serializers.MemoryRemoval,
        answers={200: answers.Memory, 202: Accepted},
        strict=True,
    )
    def delete(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        if call.data.get("recycle", False):
            curating.recycle(user=call.user, memory=memory)
            binned = selectors.memory_of(call.user, memory_id)
            return Response(shown.memory(binned, user=call.user))
        operation = forgetting.forget_memory(
            user=call.user, memory=memory, requested_by_key=call.key_id
        )
        return Response({"status": "accepted", "op_id": operation.public_id}, status=202)
