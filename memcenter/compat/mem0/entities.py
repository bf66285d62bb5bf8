"""`users`, `delete_users` and, made of both, `reset`: the entities that have memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Max, Min, Q
from rest_framework.response import Response

from memcenter.compat.mem0 import forget_by_filter, people, values
from memcenter.compat.mem0.base import Mem0View, NotOffered, key_id
from memcenter.compat.mem0.filters import Joined, parse
from memcenter.lib.errors import NotFound
from memcenter.rest.endpoint import Asked, endpoint
from memories.models import Memory
from ops.access import as_system, as_user
from ops.forgetting import person_forgets
from ops.models import Operation, Scope, User

_KINDS = ("agent", "app", "run")
_REACHABLE = Q(external_id__isnull=False, is_staff=False, is_active=True, hidden_at__isnull=True)


class EntitiesView(Mem0View):
    @endpoint(summary="Who there are memories of", answers={}, scope=Scope.ADMIN)
    def get(self, asked: Asked) -> Response:
        bound = asked.key.user_id if asked.key else None
        with as_system():
            whose = User.objects.filter(Q(pk=bound) if bound else _REACHABLE)
            # Users come last: `reset` deletes in this order, and deleting a user deletes their
            # keys.
            results = [*(one for kind in _KINDS for one in _named(kind, whose)), *_users(whose)]
        totals = {f"total_{kind}s": 0 for kind in ("user", *_KINDS)}
        for one in results:
            totals[f"total_{one['type']}s"] += 1
        answer = {"count": len(results), "next": None, "previous": None, "results": results}
        return Response({**answer, **totals})


class EntityView(Mem0View):
    @endpoint(summary="A user's profile", answers={})
    def get(self, asked: Asked) -> Response:
        raise NotOffered

    @endpoint(summary="Forget a user, or all of an agent, app or run", answers={})
    def delete(self, asked: Asked) -> Response:
        kind, name = asked.ids["kind"], asked.ids["name"]
        if kind == "user":
            begun: Operation | None = _forget_user(asked, name)
        elif kind in _KINDS:
            begun = _forget_named(asked, kind, values.name(name, field=f"{kind}_id"))
        else:
            raise NotFound("An entity is a user, an agent, an app or a run.")
        event_id = begun.public_id if begun else None
        return Response({"message": "Entity deleted successfully!", "event_id": event_id})


def _forget_user(asked: Asked, name: str) -> Operation:
    user = people.entity(asked, name)
    with as_user(user, changing=True):
        operation, _ = person_forgets.forget_user(user=user, requested_by_key=key_id(asked))
    return operation


def _forget_named(asked: Asked, kind: str, name: str) -> Operation | None:
    """Forget for every user that the key reaches; return None if nothing is left to forget."""
    tree = parse({f"{kind}_id": name})
    begun = [
        forget_by_filter.forget(user, tree, key_id=key_id(asked))
        for user in _people_of(asked, kind, name, tree)
    ]
    return next((one for one in begun if one is not None), None)


def _people_of(asked: Asked, kind: str, name: str, tree: Joined) -> list[User]:
    if asked.key is not None and asked.key.user_id is not None:
        return list(people.readers(asked, tree))
    people.check_named(asked)
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
