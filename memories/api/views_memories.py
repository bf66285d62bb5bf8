"""Endpoints for long-term memories: overviews, reading, writing, history and review."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Coalesce
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from foundation.errors import Invalid, NotAllowed
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.openapi import Accepted
from memcenter.rest.pagination import NEWEST, Order
from memcenter.rest.responses import accepted_response, error_of
from memories import portrait, project_documents, review, selectors, weekly_changes
from memories.api import rendering, response_shapes, serializers
from memories.forgetting import memory_forgets
from memories.indexing import search_index
from memories.models import Memory, Origin
from memories.review import ReviewInput
from memories.selectors import MemoryFilter
from memories.writing import curation, direct_writes, memory_writes
from memories.writing.curation import Edit
from memories.writing.direct_writes import MemoryInput, Prepared, WriteResult
from ops.access import as_user
from ops.accounts import users
from ops.models import Scope, User

_OPTIONAL_FIELDS = (
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


def _prepared(data: Mapping[str, Any]) -> Prepared:
    optional = {name: data[name] for name in _OPTIONAL_FIELDS if name in data}
    memory_input = MemoryInput(content=data["content"], **optional)
    memory_input = project_documents.add_default_project(memory_input, field="project_key")
    return direct_writes.prepare(memory_input, origin=Origin.API)


def _prepare_each(call: Call) -> list[Prepared | Exception]:
    return [_prepared_or_refused(one) for one in call.data["memories"]]


def _prepared_or_refused(data: Mapping[str, Any] | ValidationError) -> Prepared | Exception:
    if isinstance(data, ValidationError):
        return data
    try:
        return _prepared(data)
    except Invalid as error:
        return error


class PortraitView(MemcenterView):
    @endpoint(
        summary="The user's memories in use, grouped by topic; empty while memory is off",
        takes=Personal,
        answers={200: response_shapes.Portrait},
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        is_on = users.settings_of(call.user).longterm_enabled
        groups = portrait.portrait_of(call.user) if is_on else []
        return Response({"groups": [response_shapes.PortraitGroup.show(one) for one in groups]})


class WeekView(MemcenterView):
    @endpoint(
        summary="Changes to memories in the last seven days; empty while memory is off",
        takes=serializers.WeekQuery,
        answers={200: response_shapes.Week},
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        return Response(
            response_shapes.Week.show(weekly_changes.week_of(call.user, last=call.data.get("last")))
        )


class LongTermView(MemcenterView):
    @endpoint(
        summary="List memories, newest first; by default active and disabled ones",
        takes=serializers.MemoryQuery,
        pages=response_shapes.Memory,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        rows, order = _sorted(selectors.memories_of(call.user, _filter(call)), call.data)
        show = partial(rendering.memory, user=call.user)
        return Response(call.page.of(rows, order=order, show=show))

    @endpoint(
        summary="Write a memory; it is compared with similar memories at once",
        takes=serializers.MemoryInputShape,
        answers={200: response_shapes.WrittenMemory, 201: response_shapes.WrittenMemory},
        unknown_user=CREATE,
        prepare=lambda call: _prepared(call.data),
    )
    def post(self, call: Call) -> Response:
        written = direct_writes.remember(call.ready, user=call.user)
        status = 201 if written.result == "created" else 200
        return Response(_written(written, user=call.user), status=status)


class LongTermBatchView(MemcenterView):
    @endpoint(
        summary="Write several memories in order; each is compared with similar ones",
        takes=serializers.MemoryBatch,
        answers={200: response_shapes.BatchResults},
        unknown_user=CREATE,
        heavy=True,
        prepare=_prepare_each,
    )
    def post(self, call: Call) -> Response:
        direct_writes.check_on(call.user)
        return Response({"results": [_result(one, user=call.user) for one in call.ready]})


def _result(prepared: Prepared | Exception, *, user: User) -> dict[str, Any]:
    if isinstance(prepared, Exception):
        return {"status": "refused", "error": error_of(prepared)}
    try:
        written = direct_writes.remember(prepared, user=user)
    except Invalid as error:  # the project is invalid; nothing was written
        return {"status": "refused", "error": error_of(error)}
    return {"status": written.result, "memory": _written(written, user=user)}


def _written(written: WriteResult, *, user: User) -> dict[str, Any]:
    memory = written.memory
    if written.result != "created":  # a new memory already has its sources loaded
        memory = selectors.memory_of(user, memory.public_id)
    return rendering.memory(
        memory,
        user=user,
        shape=response_shapes.WrittenMemory,
        result=written.result,
        superseded=written.superseded,
        redacted=written.redacted,
    )


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
    """Return the memories in the requested order; by default the newest come first.

    If a memory has no value in the time column to sort by, its creation time is used.
    """
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
        memory = selectors.memory_of(call.user, call.parsed.ids["memory_id"], with_bin=False)
    changes = {name: value for name, value in call.data.items() if name != "user_id"}
    return memory, curation.prepare_edit(changes, memory=memory, actor=Origin.API)


def _shown(call: Call, memory_id: str) -> Response:
    row = selectors.memory_of(call.user, memory_id)
    return Response(rendering.memory(row, user=call.user))


class LongTermMemoryView(MemcenterView):
    @endpoint(
        summary="Get a memory, even if it is in the recycle bin",
        takes=Personal,
        answers={200: response_shapes.Memory},
    )
    def get(self, call: Call, memory_id: str) -> Response:
        return _shown(call, memory_id)

    @endpoint(
        summary="Change a memory; a new text creates a new version",
        takes=serializers.MemoryChange,
        answers={200: response_shapes.Memory},
        prepare=_prepare_edit,
    )
    def patch(self, call: Call, memory_id: str) -> Response:
        memory, edit = call.ready
        curation.edit(edit, user=call.user, memory=memory, actor=Origin.API)
        return _shown(call, memory_id)

    @endpoint(
        summary="Forget a memory, or with recycle=true move it to the recycle bin",
        takes=serializers.MemoryRemoval,
        answers={200: response_shapes.Memory, 202: Accepted},
        strict=True,
    )
    def delete(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        if call.data.get("recycle", False):
            curation.recycle(user=call.user, memory=memory)
            return _shown(call, memory_id)
        operation = memory_forgets.forget_memory(
            user=call.user, memory=memory, requested_by_key=call.key_id
        )
        return accepted_response(operation)


_NEWEST = Order("id")


class MemoryVersionsView(MemcenterView):
    @endpoint(
        summary="List the versions of a memory, newest first",
        takes=Personal,
        pages=response_shapes.MemoryVersion,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        sources = Prefetch("sources", selectors.sources_of(memory), to_attr="shown_sources")
        rows = selectors.versions_of(memory).prefetch_related(sources)
        return Response(
            call.page.of(rows, order=Order("number"), show=response_shapes.MemoryVersion.show)
        )


class MemorySourcesView(MemcenterView):
    @endpoint(
        summary="List the sources of a memory, newest first",
        takes=Personal,
        pages=response_shapes.NumberedSource,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        rows = selectors.sources_of(selectors.memory_of(call.user, memory_id))
        return Response(call.page.of(rows, order=_NEWEST, show=response_shapes.NumberedSource.show))


class MemoryRecallsView(MemcenterView):
    @endpoint(
        summary="List the uses of a memory in prompts, newest first",
        takes=Personal,
        pages=response_shapes.MemoryRecall,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        rows = selectors.recalls_of(call.user, memory)
        return Response(call.page.of(rows, order=_NEWEST, show=response_shapes.MemoryRecall.show))


class MemoryRelationsView(MemcenterView):
    @endpoint(
        summary="List the memories that support or contradict a memory",
        takes=Personal,
        pages=response_shapes.MemoryRelation,
    )
    def get(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        show = partial(rendering.relation, seen_from=memory)
        rows = selectors.relations_of(memory)
        return Response(call.page.of(rows, order=_NEWEST, show=show))


def _prepare_restore(call: Call) -> Any:
    number = call.data.get("version")
    if number is None:
        return None
    with as_user(call.user):
        memory = selectors.memory_of(call.user, call.parsed.ids["memory_id"])
        old = selectors.versions_of(memory).filter(number=number).first()
    if old is None:
        raise Invalid.field("version", "This version doesn’t exist.")
    return old.content, *search_index.embed_memory(old.content)


class MemoryRestoreView(MemcenterView):
    @endpoint(
        summary="Restore a memory from the recycle bin or archive, or restore an old version",
        takes=serializers.RestoreInput,
        answers={200: response_shapes.Memory},
        prepare=_prepare_restore,
    )
    def post(self, call: Call, memory_id: str) -> Response:
        memory = selectors.memory_of(call.user, memory_id)
        if memory.deleted_at is None and memory.archived_at is not None:
            memory = curation.enable(user=call.user, memory=memory)
        memory = curation.restore_from_bin(user=call.user, memory=memory)
        if call.ready is not None:
            text, vectors, pieces = call.ready
            memory_writes.restore_version(
                memory, number=call.data["version"], text=text, vectors=vectors, pieces=pieces
            )
        return _shown(call, memory_id)


class ConfirmView(MemcenterView):
    @endpoint(
        summary="Decide on memories that wait for review",
        takes=serializers.ConfirmInput,
        answers={200: response_shapes.Decisions},
    )
    def post(self, call: Call) -> Response:
        decisions = [
            ReviewInput(one["id"], one["decision"], one.get("valid_from"))
            for one in call.data["decisions"]
        ]
        done = review.confirm(user=call.user, decisions=decisions)
        return Response({"results": [response_shapes.Decision.show(one) for one in done]})


class BulkView(MemcenterView):
    @endpoint(
        summary="Apply the same action to many memories",
        takes=serializers.BulkInput,
        answers={200: response_shapes.BulkResults},
    )
    def post(self, call: Call) -> Response:
        data = call.data
        if data["action"] == "forget":
            return _forget(call)
        done = curation.apply_to_many(
            user=call.user, ids=data["ids"], action=data["action"], tag_name=data.get("tag", "")
        )
        return Response({"results": [{"id": one, "result": result} for one, result in done]})


def _forget(call: Call) -> Response:
    if call.parsed.key is None or Scope.FORGET not in call.parsed.key.scopes:
        raise NotAllowed("This key lacks the scope “forget”.")
    ids = list(dict.fromkeys(call.data["ids"]))
    found = list(Memory.visible.filter(user=call.user, public_id__in=ids).order_by("pk"))
    here = {one.public_id for one in found}
    answer: dict[str, object] = {
        "results": [{"id": one, "result": "done" if one in here else "not_found"} for one in ids]
    }
    if found:
        operation = memory_forgets.forget_memories(
            user=call.user, memories=found, requested_by_key=call.key_id
        )
        answer["op_id"] = operation.public_id
    return Response(answer)
