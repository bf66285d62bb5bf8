"""`add`, `get_all`, `search`, `delete_all`, and single memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from conversations.models import ToldAs
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memcenter.compat.mem0 import (
    add_input,
    forget_by_filter,
    memory_search,
    people,
    rendering,
    values,
)
from memcenter.compat.mem0.add_input import Given
from memcenter.compat.mem0.base import Mem0View, key_id
from memcenter.lib.errors import Invalid
from memcenter.rest.endpoint import Asked, endpoint
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Memory, Origin
from memories.recall import search
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.models import Operation, Scope, User

_PAGE, _LARGEST_PAGE, _LAST_PAGE = 100, 200, 10_000
_BEST, _MOST, _THRESHOLD = 10, 1_000, 0.1


class AddView(Mem0View):
    @endpoint(summary="Remember what was said", answers={}, idempotent=False)
    def post(self, asked: Asked) -> Response:
        given = add_input.added(asked.data)
        user = people.writer(asked, given.ids.user)
        if given.infer:
            operation = _record(given, user=user)
            answer = {"event_id": operation.public_id, "status": "PENDING", "results": []}
            return Response(answer)
        stored = _store(given, user=user)
        return Response(
            {
                "message": "Memories stored as they are.",
                "status": "SUCCEEDED",
                "event_id": stored[0].public_id,  # done already: nothing runs any more
                "results": [rendering.stored(one) for one in stored],
            }
        )


class MemoriesView(Mem0View):
    @endpoint(summary="List memories", answers={}, scope=Scope.READ, idempotent=False)
    def post(self, asked: Asked) -> Response:
        request = asked.request
        number = values.number(
            request.query_params.get("page") or asked.data.get("page"),
            field="page",
            default=1,
            most=_LAST_PAGE,
        )
        size = values.number(
            request.query_params.get("page_size") or asked.data.get("page_size"),
            field="page_size",
            default=_PAGE,
            most=_LARGEST_PAGE,
        )
        what = memory_search.wanted(asked.data)
        whose = people.readers(asked, what.tree)
        count, found = memory_search.page(whose, what, number=number, size=size)
        return Response(
            {
                "count": count,
                "next": _link(request._request, number + 1) if number * size < count else None,
                "previous": _link(request._request, number - 1) if number > 1 else None,
                "results": [rendering.found(one) for one in found],
            }
        )


class SearchView(Mem0View):
    @endpoint(summary="Search memories", answers={}, scope=Scope.READ, idempotent=False)
    def post(self, asked: Asked) -> Response:
        text = asked.data.get("query")
        if not isinstance(text, str) or not text.strip():
            raise Invalid.field("query", "Say what to search for.")
        limit = values.number(asked.data.get("top_k"), field="top_k", default=_BEST, most=_MOST)
        what = memory_search.wanted(asked.data)
        whose = people.readers(asked, what.tree)
        prepared = search.prepare_query(text.strip())
        threshold = _threshold(asked.data.get("threshold"))
        found = memory_search.best(prepared, whose, what, limit=limit, threshold=threshold)
        return Response({"results": [rendering.hit(one) for one in found]})


class DeleteAllView(Mem0View):
    @endpoint(summary="Forget the memories of a user, agent, app or run", answers={})
    def delete(self, asked: Asked) -> Response:
        what = memory_search.every(asked.data)
        whose = people.readers(asked, what.tree)
        begun = [forget_by_filter.forget(user, what.tree, key_id=key_id(asked)) for user in whose]
        first = next((one for one in begun if one is not None), None)
        event_id = first.public_id if first else None
        return Response({"message": "Memories deleted successfully!", "event_id": event_id})


class MemoryView(Mem0View):
    @endpoint(summary="One memory", answers={})
    def get(self, asked: Asked) -> Response:
        user = people.of_memory(asked, asked.ids["memory_id"])
        with as_user(user):
            row = selectors.memory_of(user, asked.ids["memory_id"], with_bin=False)
        return Response(rendering.memory(row, user=user))

    @endpoint(summary="Change a memory", answers={}, idempotent=False)
    def put(self, asked: Asked) -> Response:
        user = people.of_memory(asked, asked.ids["memory_id"])
        row = change(asked.ids["memory_id"], asked.data, user=user)
        return Response(rendering.memory(row, user=user))

    @endpoint(summary="Forget a memory", answers={})
    def delete(self, asked: Asked) -> Response:
        user = people.of_memory(asked, asked.ids["memory_id"])
        with as_user(user, changing=True):
            row = selectors.memory_of(user, asked.ids["memory_id"])
            memory_forgets.forget_memory(user=user, memory=row, requested_by_key=key_id(asked))
        return Response({"message": "Memory deleted successfully!", "cascade_count": 0})


class HistoryView(Mem0View):
    @endpoint(summary="What a memory said before", answers={})
    def get(self, asked: Asked) -> Response:
        user = people.of_memory(asked, asked.ids["memory_id"])
        with as_user(user):
            row = selectors.memory_of(user, asked.ids["memory_id"])
            versions = list(selectors.versions_of(row).order_by("number"))
        return Response(rendering.history(row, versions, user=user))


def change(memory_id: str, given: Mapping[str, Any], *, user: User) -> Memory:
    """Apply those of `text`, `metadata`, `timestamp` and `expiration_date` that are given."""
    changes = _changes(given)
    with as_user(user):
        row = selectors.memory_of(user, memory_id, with_bin=False)
    edit = curation.prepare_edit(changes, memory=row, actor=Origin.API)
    with as_user(user, changing=True):
        return curation.edit(edit, user=user, memory=row, actor=Origin.API)


def _changes(given: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if given.get("text") is not None:
        if not isinstance(given["text"], str):
            raise Invalid.field("text", "Must be text.")
        changes["content"] = given["text"]
    if given.get("metadata") is not None:
        changes["metadata"] = values.metadata(given["metadata"])
    if given.get("timestamp") is not None:
        changes["occurred_at"] = values.moment(given["timestamp"], field="timestamp")
    if "expiration_date" in given:
        changes["valid_until"] = values.expiry(given["expiration_date"])
    if not changes:
        raise Invalid.field("text", "Give text, metadata, timestamp or expiration_date.")
    return changes


def _record(given: Given, *, user: User) -> Operation:
    """Record the messages as turns; the returned operation learns from them."""
    labels = given.labels()
    learning: list[Operation] = []
    with as_user(user):
        direct_writes.check_on(user)
        thread = conversation_names.find_or_create(user=user, reference=given.ids.thread)
        for said, reply in _inputs(given):
            recorded = turns.record_turn(
                user=user,
                conversation=thread,
                user_message=said,
                assistant_message=reply,
                labels=labels,
                occurred_at=given.at,
            )
            learning.append(recorded.operations[0])
    return learning[-1]


def _inputs(given: Given) -> Iterator[tuple[MessageInput, MessageInput]]:
    """Return the turns; only the last one of a call is new, since clients repeat earlier messages.

    With a `timestamp` all of them were said at that time.
    """
    pairs = add_input.pairs(given.messages)
    for place, (said, reply) in enumerate(pairs, start=1):
        told = ToldAs.TO_US if place == len(pairs) else ToldAs.UNDATED
        told = ToldAs.DATED if given.at is not None else told
        yield MessageInput(said, told=told), MessageInput(reply, told=told)


def _store(given: Given, *, user: User) -> list[Memory]:
    prepared = [
        direct_writes.prepare(
            MemoryInput(
                content=text,
                kind=direct_writes.kind_of(text),
                occurred_at=given.at,
                valid_until=given.until,
                agent_id=given.ids.agent,
                app_id=given.ids.app,
                run_id=given.ids.run,
                metadata=given.metadata,
            ),
            origin=Origin.API,
            describes=False,
        )
        for _, text in given.messages
    ]
    with as_user(user, changing=True):
        return [direct_writes.store(one, user=user) for one in prepared]


def _threshold(value: Any) -> float:
    if value is None:
        return _THRESHOLD
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Invalid.field("threshold", "Must lie between 0 and 1.")
    return float(value)


def _link(request: HttpRequest, number: int) -> str:
    return replace_query_param(request.build_absolute_uri(), "page", number)
