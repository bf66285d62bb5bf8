"""`ping`, batches, exports, summary, feedback, events, and endpoints that aren't offered."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.core import signing
from rest_framework.response import Response

from conversations.models import Rating, Turn
from memcenter.compat.mem0 import memory_search, people, rendering
from memcenter.compat.mem0.base import AnyKey, Mem0View, NotOffered, key_id
from memcenter.compat.mem0.memories import change
from memcenter.lib.errors import Invalid, NotFound
from memcenter.rest.endpoint import Asked, endpoint
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Memory
from memories.writing import ratings
from ops import selectors as operation_selectors
from ops.access import as_system, as_user
from ops.api import access
from ops.models import Kind, Operation, Scope, User

_MOST = 1_000
_EXPORTED = 10_000
_SUMMARIZED = 100
_SALT = "mem0 export"
_RATINGS = {one.upper(): one for one in Rating.values}


class PingView(Mem0View):
    permission_classes = (AnyKey,)

    @endpoint(summary="Whether the key is good", answers={})
    def get(self, asked: Asked) -> Response:
        places = {"org_id": "memcenter", "project_id": "memcenter"}
        return Response({"status": "ok", **places, "user_email": None})


class BatchView(Mem0View):
    @endpoint(summary="Change several memories", answers={}, idempotent=False)
    def put(self, asked: Asked) -> Response:
        listed = _listed(asked)
        whose = _whose(asked, listed)
        for one in listed:
            change(one["memory_id"], one, user=whose[one["memory_id"]])
        return Response({"message": f"Successfully updated {len(listed)} memories"})

    @endpoint(summary="Forget several memories", answers={})
    def delete(self, asked: Asked) -> Response:
        listed = _listed(asked)
        by_user: dict[User, list[str]] = defaultdict(list)
        for memory_id, user in _whose(asked, listed).items():
            by_user[user].append(memory_id)
        for user, ids in by_user.items():
            with as_user(user, changing=True):
                rows = list(Memory.visible.filter(user=user, public_id__in=ids))
                memory_forgets.forget_memories(
                    user=user, memories=rows, requested_by_key=key_id(asked)
                )
        return Response({"message": f"Successfully deleted {len(listed)} memories"})


class ExportsView(Mem0View):
    @endpoint(summary="Ask for an export", answers={}, scope=Scope.EXPORT, idempotent=False)
    def post(self, asked: Asked) -> Response:
        """The id encodes the filters, so an export never contains memories forgotten in the
        meantime.
        """
        people.readers(asked, memory_search.wanted(asked.data).tree)
        kept = {name: value for name, value in asked.data.items() if name != "schema"}
        made = signing.dumps(kept, salt=_SALT, compress=True)
        return Response({"message": "The export is ready to be read.", "id": made})


class ExportView(Mem0View):
    @endpoint(summary="The memories of an export", answers={}, scope=Scope.EXPORT)
    def post(self, asked: Asked) -> Response:
        what = memory_search.wanted(_kept(asked))
        whose = people.readers(asked, what.tree)
        count, found = memory_search.page(whose, what, number=1, size=_EXPORTED)
        return Response({"memories": [rendering.found(one) for one in found], "count": count})


class SummaryView(Mem0View):
    @endpoint(summary="What is known, in words", answers={}, scope=Scope.READ, idempotent=False)
    def post(self, asked: Asked) -> Response:
        what = memory_search.wanted(asked.data)
        whose = people.readers(asked, what.tree)
        count, found = memory_search.summarized(whose, what, most=_SUMMARIZED)
        text = "\n".join(one.memory.content for one in found)
        return Response({"summary": text, "total_memories": count})


class FeedbackView(Mem0View):
    @endpoint(summary="Rate a memory", answers={}, idempotent=False)
    def post(self, asked: Asked) -> Response:
        data = asked.data
        rating, reason = data.get("feedback"), data.get("feedback_reason") or ""
        if rating is not None and rating not in _RATINGS:
            raise Invalid.field("feedback", f"Must be one of {', '.join(_RATINGS)} or null.")
        if not isinstance(reason, str) or len(reason) > 2_000:
            raise Invalid.field("feedback_reason", "Must be text of at most 2,000 characters.")
        memory_id = _id(data.get("memory_id"))
        user = people.of_memory(asked, memory_id)
        with as_user(user, changing=True):
            row = selectors.memory_of(user, memory_id, with_bin=False)
            rated = _RATINGS[rating] if rating else None
            ratings.rate_memory(user=user, memory=row, rating=rated, comment=reason)
        return Response({"id": memory_id, "feedback": rating, "feedback_reason": reason or None})


class EventsView(Mem0View):
    @endpoint(summary="What was asked for and how far it is", answers={})
    def get(self, asked: Asked) -> Response:
        named = asked.data.get("user_id")
        named = people.default_name(asked) if named is None else named
        tree = memory_search.wanted({"user_id": named}).tree
        rows: list[Operation] = []
        for user in people.readers(asked, tree):
            with as_user(user):
                rows += operation_selectors.operations_of(user).order_by("-pk")[:100]
        results = [rendering.event(row, results=[]) for row in rows]
        answer = {"count": len(results), "next": None, "previous": None, "results": results}
        return Response(answer)


class EventView(Mem0View):
    @endpoint(summary="How far it is, and what came of it", answers={})
    def get(self, asked: Asked) -> Response:
        if asked.ids["op_id"].startswith("mem_"):
            return Response(_stored_at_once(asked, asked.ids["op_id"]))
        access.check(asked, by_id=asked.key is not None and not asked.key.requires_user)
        with as_system():
            row = operation_selectors.operation_by(asked.ids["op_id"])
            user = operation_selectors.user_of(row)
        if user is None or row.kind != Kind.EXTRACT_TURN:
            return Response(rendering.event(row, results=[]))
        with as_user(user):
            rows = _of_the_same_call(row, user)
            results = _learned(rows, user)
        slowest = next((one for one in rows if one.finished_at is None), row)
        return Response({**rendering.event(slowest, results=results), "id": row.public_id})


class AbsentView(Mem0View):
    permission_classes = (AnyKey,)

    @endpoint(summary="Not offered", answers={})
    def get(self, asked: Asked) -> Response:
        raise NotOffered

    post = put = patch = delete = get


def _listed(asked: Asked) -> list[dict[str, Any]]:
    listed = asked.data.get("memories")
    if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST:
        raise Invalid.field("memories", f"Give 1 to {_MOST:,} memories.")
    for one in listed:
        if not isinstance(one, dict):
            raise Invalid.field("memories", "Each is an object with a memory_id.")
        _id(one.get("memory_id"))
    return listed


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Invalid.field("memory_id", "Give the memory's id.")
    return value


def _whose(asked: Asked, listed: list[dict[str, Any]]) -> dict[str, User]:
    """Return the owner of each memory. Raises `NotFound` before any change."""
    wanted = {one["memory_id"] for one in listed}
    with as_system():
        rows = Memory.visible.filter(public_id__in=wanted).select_related("user")
        owners = {row.public_id: row.user for row in rows}
    if wanted - set(owners):
        raise NotFound("There is no such memory.")
    for user in set(owners.values()):
        people.check_reach(asked, user)
    return owners


def _kept(asked: Asked) -> dict[str, Any]:
    made = asked.data.get("memory_export_id")
    if made is None:
        return dict(asked.data)
    try:
        kept = signing.loads(made, salt=_SALT)
    except (signing.BadSignature, TypeError, ValueError, AttributeError) as error:
        raise NotFound("There is no such export.") from error
    return kept if isinstance(kept, dict) else {}


def _stored_at_once(asked: Asked, memory_id: str) -> dict[str, Any]:
    user = people.of_memory(asked, memory_id)
    with as_user(user):
        row = selectors.memory_of(user, memory_id)
    return {
        "id": memory_id,
        "event_type": "ADD",
        "status": "SUCCEEDED",
        "results": [rendering.stored(row)],
        "created_at": row.created_at,
        "completed_at": row.created_at,
        "latency": 0.0,
        "error": None,
    }


def _of_the_same_call(row: Operation, user: User) -> list[Operation]:
    """Return the other operations of the same `add`, which enqueues one for each turn."""
    turn = Turn.objects.filter(user=user, pk=row.payload.get("turn")).first()
    if turn is None or "call" not in turn.labels:
        return [row]
    turns = Turn.objects.filter(user=user, labels__call=turn.labels["call"])
    pks = list(turns.values_list("pk", flat=True))
    same = operation_selectors.operations_of(user, kind=Kind.EXTRACT_TURN)
    return list(same.filter(payload__turn__in=pks).order_by("pk")) or [row]


def _learned(rows: list[Operation], user: User) -> list[dict[str, Any]]:
    told = [one for row in rows for one in row.result.get("memories", ())]
    known = selectors.memories_by_ids(user, [one["id"] for one in told])
    return [
        rendering.learned(one["result"], known[one["id"]]) for one in told if one["id"] in known
    ]
