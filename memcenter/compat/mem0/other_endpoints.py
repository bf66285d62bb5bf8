"""Views for entities, `ping`, batches, exports, summary, feedback, events and unsupported calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.core import signing
from django.db.models import Count, Max, Min, Q
from django.urls import path, re_path
from rest_framework.response import Response

from conversations.models import Rating, Turn
from foundation.errors import Invalid, NotFound
from memcenter.compat.mem0 import filters, memories, memory_search, people, rendering
from memcenter.compat.mem0.filters import Combination, parse
from memcenter.compat.mem0.people import AnyKey, Mem0View, NotOffered
from memcenter.rest.endpoint import ParsedRequest, endpoint
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Memory
from memories.writing import curation
from ops import selectors as operation_selectors
from ops.access import as_system, as_user
from ops.api import views_operations
from ops.forgetting import person_forgets
from ops.models import Kind, Operation, Scope, User

_MOST = 1_000
_EXPORTED = 10_000
_SUMMARIZED = 100
_SALT = "mem0 export"
_RATINGS = {rating.upper(): rating for rating in Rating.values}
_ENTITY_KINDS = ("agent", "app", "run")
_REACHABLE = Q(external_id__isnull=False, is_staff=False, is_active=True, hidden_at__isnull=True)


class EntitiesView(Mem0View):
    @endpoint(
        summary="List users, agents, apps and runs that have memories",
        answers={},
        scope=Scope.ADMIN,
    )
    def get(self, parsed: ParsedRequest) -> Response:
        bound = parsed.key.user_id if parsed.key else None
        with as_system():
            whose = User.objects.filter(Q(pk=bound) if bound else _REACHABLE)
            # Users come last: mem0's `reset` deletes the entities in this order, and deleting a
            # user also deletes the user's API keys.
            results = [
                *(entity for kind in _ENTITY_KINDS for entity in _named(kind, whose)),
                *_users(whose),
            ]
        totals = {f"total_{kind}s": 0 for kind in ("user", *_ENTITY_KINDS)}
        for entity in results:
            totals[f"total_{entity['type']}s"] += 1
        return Response({**_single_page(results), **totals})


class EntityView(Mem0View):
    @endpoint(summary="Get a user's profile", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        raise NotOffered

    @endpoint(summary="Forget a user, or all memories of an agent, app or run", answers={})
    def delete(self, parsed: ParsedRequest) -> Response:
        kind, name = parsed.ids["kind"], parsed.ids["name"]
        if kind == "user":
            user = people.resolve_entity(parsed, name)
            with as_user(user, changing=True):
                operation, _ = person_forgets.forget_user(user=user, requested_by_key=parsed.key_id)
            begun: Operation | None = operation
        elif kind in _ENTITY_KINDS:
            tree = parse({f"{kind}_id": filters.read_name(name, field=f"{kind}_id")})
            whose = _people_of(parsed, kind, name, tree)
            begun = memory_search.forget_matching(whose, tree, key_id=parsed.key_id)
        else:
            raise NotFound("An entity is a user, an agent, an app or a run.")
        event_id = begun.public_id if begun else None
        return Response({"message": "Entity deleted successfully!", "event_id": event_id})


class PingView(Mem0View):
    permission_classes = (AnyKey,)

    @endpoint(summary="Check the API key", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        places = {"org_id": "memcenter", "project_id": "memcenter"}
        return Response({"status": "ok", **places, "user_email": None})


class BatchView(Mem0View):
    @endpoint(summary="Change several memories", answers={}, idempotent=False)
    def put(self, parsed: ParsedRequest) -> Response:
        listed = _listed(parsed)
        owners = _owners_of(parsed, listed)
        by_user: dict[User, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
        for item in listed:  # if a memory is listed twice, the last value of each field wins
            by_user[owners[item["memory_id"]]][item["memory_id"]].update(item)
        for user, items in by_user.items():
            memories.change_several(items, user=user)
        return Response({"message": f"Successfully updated {len(listed)} memories"})

    @endpoint(summary="Forget several memories", answers={})
    def delete(self, parsed: ParsedRequest) -> Response:
        listed = _listed(parsed)
        by_user: dict[User, list[str]] = defaultdict(list)
        for memory_id, user in _owners_of(parsed, listed).items():
            by_user[user].append(memory_id)
        for user, ids in by_user.items():
            with as_user(user, changing=True):
                rows = list(Memory.visible.filter(user=user, public_id__in=ids))
                memory_forgets.forget_memories(
                    user=user, memories=rows, requested_by_key=parsed.key_id
                )
        return Response({"message": f"Successfully deleted {len(listed)} memories"})


class ExportsView(Mem0View):
    @endpoint(summary="Request an export", answers={}, scope=Scope.EXPORT, idempotent=False)
    def post(self, parsed: ParsedRequest) -> Response:
        """Return an export id that contains the signed filters; nothing is exported yet.

        The memories are loaded when the client fetches the export, so memories forgotten in the
        meantime aren't exported.
        """
        people.resolve_readable_users(parsed, memory_search.parse_filters(parsed.data).tree)
        kept = {name: value for name, value in parsed.data.items() if name != "schema"}
        made = signing.dumps(kept, salt=_SALT, compress=True)
        return Response({"message": "The export is ready to be read.", "id": made})


class ExportView(Mem0View):
    @endpoint(summary="Get the memories of an export", answers={}, scope=Scope.EXPORT)
    def post(self, parsed: ParsedRequest) -> Response:
        search = memory_search.parse_filters(_export_parameters(parsed))
        whose = people.resolve_readable_users(parsed, search.tree)
        count, found = memory_search.page(whose, search, number=1, size=_EXPORTED)
        return Response(
            {"memories": [rendering.found_memory(match) for match in found], "count": count}
        )


class SummaryView(Mem0View):
    @endpoint(
        summary="Summarize the known memories", answers={}, scope=Scope.READ, idempotent=False
    )
    def post(self, parsed: ParsedRequest) -> Response:
        search = memory_search.parse_filters(parsed.data)
        whose = people.resolve_readable_users(parsed, search.tree)
        count, found = memory_search.find_for_summary(whose, search, most=_SUMMARIZED)
        text = "\n".join(match.memory.content for match in found)
        return Response({"summary": text, "total_memories": count})


class FeedbackView(Mem0View):
    @endpoint(summary="Rate a memory", answers={}, idempotent=False)
    def post(self, parsed: ParsedRequest) -> Response:
        data = parsed.data
        rating, reason = data.get("feedback"), data.get("feedback_reason") or ""
        if rating is not None and rating not in _RATINGS:
            raise Invalid.field("feedback", f"Must be one of {', '.join(_RATINGS)} or null.")
        if not isinstance(reason, str) or len(reason) > 2_000:
            raise Invalid.field("feedback_reason", "Must be text of at most 2,000 characters.")
        memory_id = _id(data.get("memory_id"))
        user = people.owner_of_memory(parsed, memory_id)
        with as_user(user, changing=True):
            row = selectors.memory_of(user, memory_id, with_bin=False)
            rated = _RATINGS[rating] if rating else None
            curation.rate_memory(user=user, memory=row, rating=rated, comment=reason)
        return Response({"id": memory_id, "feedback": rating, "feedback_reason": reason or None})


class EventsView(Mem0View):
    @endpoint(summary="List events with their progress", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        named = parsed.data.get("user_id")
        named = people.default_name(parsed) if named is None else named
        tree = memory_search.parse_filters({"user_id": named}).tree
        rows: list[Operation] = []
        for user in people.resolve_readable_users(parsed, tree):
            with as_user(user):
                rows += operation_selectors.operations_of(user).order_by("-pk")[:100]
        results = [rendering.event(row, results=[]) for row in rows]
        return Response(_single_page(results))


class EventView(Mem0View):
    @endpoint(summary="Get the progress and result of an event", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        if parsed.ids["op_id"].startswith("mem_"):
            return Response(_stored_at_once(parsed, parsed.ids["op_id"]))
        views_operations.check_access(
            parsed, by_id=parsed.key is not None and not parsed.key.requires_user
        )
        with as_system():
            row = operation_selectors.operation_by(parsed.ids["op_id"])
            user = operation_selectors.user_of(row)
        if user is None or row.kind != Kind.EXTRACT_TURN:
            return Response(rendering.event(row, results=[]))
        with as_user(user):
            rows = _of_the_same_call(row, user)
            entries = [entry for row in rows for entry in row.result.get("memories", ())]
            known = selectors.memories_by_ids(user, [entry["id"] for entry in entries])
            results = [
                rendering.learned_memory(entry["result"], known[entry["id"]])
                for entry in entries
                if entry["id"] in known
            ]
        slowest = next((other for other in rows if other.finished_at is None), row)
        return Response({**rendering.event(slowest, results=results), "id": row.public_id})


class AbsentView(Mem0View):
    permission_classes = (AnyKey,)

    @endpoint(summary="Not supported", answers={})
    def get(self, parsed: ParsedRequest) -> Response:
        raise NotOffered

    post = put = patch = delete = get


def _single_page(results: list[Any]) -> dict[str, Any]:
    return {"count": len(results), "next": None, "previous": None, "results": results}


def _listed(parsed: ParsedRequest) -> list[dict[str, Any]]:
    listed = parsed.data.get("memories")
    if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST:
        raise Invalid.field("memories", f"Give 1 to {_MOST:,} memories.")
    for item in listed:
        if not isinstance(item, dict):
            raise Invalid.field("memories", "Each is an object with a memory_id.")
        _id(item.get("memory_id"))
    return listed


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Invalid.field("memory_id", "Give the memory's id.")
    return value


def _owners_of(parsed: ParsedRequest, listed: list[dict[str, Any]]) -> dict[str, User]:
    """Return the owner of each memory, by the memory's id.

    Raise `NotFound` if a memory doesn't exist or the key may not access its owner. All ids are
    checked before the first change, so that an unknown id doesn't leave a batch half done.
    """
    wanted = {item["memory_id"] for item in listed}
    with as_system():
        rows = Memory.visible.filter(public_id__in=wanted).select_related("user")
        owners = {row.public_id: row.user for row in rows}
    if wanted - set(owners):
        raise NotFound("This memory doesn’t exist.")
    for user in set(owners.values()):
        people.check_access(parsed, user)
    return owners


def _export_parameters(parsed: ParsedRequest) -> dict[str, Any]:
    made = parsed.data.get("memory_export_id")
    if made is None:
        return dict(parsed.data)
    try:
        kept = signing.loads(made, salt=_SALT)
    except (signing.BadSignature, TypeError, ValueError, AttributeError) as error:
        raise NotFound("This export doesn’t exist.") from error
    return kept if isinstance(kept, dict) else {}


def _stored_at_once(parsed: ParsedRequest, memory_id: str) -> dict[str, Any]:
    user = people.owner_of_memory(parsed, memory_id)
    with as_user(user):
        row = selectors.memory_of(user, memory_id)
    return {
        "id": memory_id,
        "event_type": "ADD",
        "status": "SUCCEEDED",
        "results": [rendering.stored_memory(row)],
        "created_at": row.created_at,
        "completed_at": row.created_at,
        "latency": 0.0,
        "error": None,
    }


def _of_the_same_call(row: Operation, user: User) -> list[Operation]:
    """Return all operations that were enqueued by the same `add` call as the operation `row`.

    An `add` call enqueues one operation for each turn.
    """
    turn = Turn.objects.filter(user=user, pk=row.payload.get("turn")).first()
    if turn is None or "call" not in turn.labels:
        return [row]
    turns = Turn.objects.filter(user=user, labels__call=turn.labels["call"])
    pks = list(turns.values_list("pk", flat=True))
    same = operation_selectors.operations_of(user, kind=Kind.EXTRACT_TURN)
    return list(same.filter(payload__turn__in=pks).order_by("pk")) or [row]


def _people_of(parsed: ParsedRequest, kind: str, name: str, tree: Combination) -> list[User]:
    if parsed.key is not None and parsed.key.user_id is not None:
        return list(people.resolve_readable_users(parsed, tree))
    people.check_named(parsed)
    with as_system():
        rows = Memory.visible.filter(**{f"{kind}_id": name})
        whose = User.objects.filter(_REACHABLE, pk__in=rows.values("user"))
        return list(whose.order_by("pk"))


def _users(whose: Any) -> Iterator[dict[str, Any]]:
    counts = dict(
        Memory.objects.filter(user__in=whose)
        .order_by()
        .values_list("user")
        .annotate(total=Count("pk"))
    )
    for user in whose.order_by("pk"):
        yield {
            "id": str(user.subject),
            "name": people.name_of(user),
            "type": "user",
            "created_at": user.created_at,
            "updated_at": user.updated_at,
            "total_memories": counts.get(user.pk, 0),
        }


def _named(kind: str, whose: Any) -> Iterator[dict[str, Any]]:
    column = f"{kind}_id"
    rows = (
        Memory.objects.filter(user__in=whose)
        .exclude(**{column: ""})
        .order_by()
        .values(column)
        .annotate(total=Count("pk"), first=Min("created_at"), last=Max("updated_at"))
    )
    for row in rows.order_by(column):
        yield {
            "id": row[column],
            "name": row[column],
            "type": kind,
            "created_at": row["first"],
            "updated_at": row["last"],
            "total_memories": row["total"],
        }


# The paths of mem0's client, relative to the root. They always end in a slash.
urlpatterns = [
    path("v1/ping/", PingView.as_view()),
    path("v3/memories/add/", memories.AddView.as_view()),
    path("v3/memories/search/", memories.SearchView.as_view()),
    path("v3/memories/", memories.MemoriesView.as_view()),
    path("v1/memories/", memories.DeleteAllView.as_view()),
    path("v1/memories/<str:memory_id>/history/", memories.HistoryView.as_view()),
    path("v1/memories/<str:memory_id>/", memories.MemoryView.as_view()),
    path("v1/batch/", BatchView.as_view()),
    path("v1/entities/", EntitiesView.as_view()),
    path("v2/entities/<str:kind>/<path:name>/", EntityView.as_view()),
    path("v1/exports/", ExportsView.as_view()),
    path("v1/exports/get/", ExportView.as_view()),
    path("v1/summary/", SummaryView.as_view()),
    path("v1/feedback/", FeedbackView.as_view()),
    path("v1/events/", EventsView.as_view()),
    path("v1/event/<str:op_id>/", EventView.as_view()),
    path("v2/profiles/<path:rest>", AbsentView.as_view()),
    # These paths of mem0 look like our own API but aren't part of it.
    re_path(r"^api/v1/(?:orgs|webhooks)/.+/$", AbsentView.as_view()),
]
