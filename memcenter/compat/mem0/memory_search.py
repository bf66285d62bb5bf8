"""Find or forget the memories that match a filter, for one or more users."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations.forgetting import message_forgets
from conversations.models import Conversation
from memcenter.compat.mem0 import filters
from memcenter.compat.mem0.filters import Combination, Node, parse
from memcenter.compat.mem0.people import name_of
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Memory, MemoryStatus, TraceKind
from memories.recall import candidate_pool, traces
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.search import rank
from memories.recall.searchable_texts import scope_of
from memories.recall.traces import Hit, Stage
from ops.access import as_user
from ops.accounts import users
from ops.models import Operation, User

THREADS = "mem0:"  # prefix of the external ids of conversations recorded by `add`


@dataclass(frozen=True)
class SearchParameters:
    """A search: the filter, and whether to include expired memories."""

    tree: Combination
    expired: bool = False


@dataclass(frozen=True)
class FoundMemory:
    memory: Memory
    user: User
    score: float = 0.0


def parse_filters(body: Mapping[str, Any]) -> SearchParameters:
    """Parse the filter parameters of a call. Raise `Invalid` if a parameter is invalid."""
    others: dict[str, Any] = {
        key: body[key]
        for key in (*filters.ENTITIES, "categories", "metadata")
        if body.get(key) not in (None, [], {})
    }
    created = {
        how: body[key]
        for key, how in (("start_date", "gte"), ("end_date", "lte"))
        if body.get(key) is not None
    }
    if created:
        others["created_at"] = created
    tree = Combination("AND", (parse(body.get("filters")), parse(others)))
    return SearchParameters(tree, expired=body.get("show_expired") is True)


def rows_of(user: User, search: SearchParameters) -> QuerySet[Memory]:
    """Return the user's active memories that match the filter."""
    rows = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE)
    if not search.expired:
        now = timezone.now()
        rows = rows.filter(Q(valid_until__isnull=True) | Q(valid_until__gt=now))
    return rows.filter(filters.query(search.tree, user_name=name_of(user)))


def page(
    people: Sequence[User], search: SearchParameters, *, number: int, size: int
) -> tuple[int, list[FoundMemory]]:
    """Return the total count and one page of the matching memories, newest first."""
    count = 0
    places: list[tuple[datetime, int, User]] = []
    for user in people:
        with as_user(user):
            rows = rows_of(user, search)
            count += rows.count()
            newest = rows.order_by("-created_at", "-pk").values_list("created_at", "pk")
            places += [(at, pk, user) for at, pk in newest[: number * size]]
    places.sort(key=lambda place: place[:2], reverse=True)
    chosen = places[(number - 1) * size : number * size]
    read: dict[int, Memory] = {}
    for user in people:
        with as_user(user):
            rows = Memory.objects.filter(user=user)
            read |= rows.in_bulk([pk for _, pk, whose in chosen if whose is user])
    return count, [FoundMemory(read[pk], whose) for _, pk, whose in chosen if pk in read]


def find_for_summary(
    people: Sequence[User], search: SearchParameters, *, most: int
) -> tuple[int, list[FoundMemory]]:
    """Return the number of matching memories, and up to `most` of the newest for a summary.

    Users whose long-term memory is switched off are left out.
    """
    on: list[User] = []
    for user in people:
        with as_user(user):
            if users.settings_of(user).longterm_enabled:
                on.append(user)
    return page(on, search, number=1, size=most)


def find_best(
    prepared: PreparedQuery,
    people: Sequence[User],
    search: SearchParameters,
    *,
    limit: int,
    threshold: float,
) -> list[FoundMemory]:
    """Return the memories that best match a query, highest score first.

    Users whose long-term memory is switched off are left out. For each of the other users, a trace
    with the query and the results is recorded.
    """
    found: list[FoundMemory] = []
    for user in people:
        with as_user(user):
            if users.settings_of(user).longterm_enabled:
                found += _best_of(prepared, user, search, limit=limit, threshold=threshold)
    found.sort(key=lambda match: (-match.score, match.memory.public_id))
    return found[:limit]


def _best_of(
    prepared: PreparedQuery, user: User, search: SearchParameters, *, limit: int, threshold: float
) -> list[FoundMemory]:
    began = time.perf_counter()
    candidates = candidate_pool.fill(prepared, scope_of(rows_of(user, search)), user=user)
    ranked = rank(prepared, candidates, limit=limit)
    near = [candidate for candidate in ranked if candidate.relevance >= threshold]
    took = (time.perf_counter() - began) * 1000
    hits = [
        Hit("memory", candidate.unit.id, round(candidate.relevance, 6), candidate.components)
        for candidate in near
    ]
    stages = [Stage("memory", took, len(candidates.units))]
    traces.record(
        user=user,
        kind=TraceKind.SEARCH,
        query=prepared.text,
        hits=hits,
        stages=stages,
        took_ms=took,
    )
    rows = selectors.memories_by_ids(user, [hit.id for hit in hits])
    return [FoundMemory(rows[hit.id], user, hit.score) for hit in hits if hit.id in rows]


def parse_query_filters(body: Mapping[str, Any]) -> SearchParameters:
    """Parse the filters in a query string, where objects are written as text.

    Raise `Invalid` if a filter is invalid. This includes an empty name of a user, agent, app or
    run: ignoring it would make the filter match more memories.
    """
    given: dict[str, Any] = {
        key: filters.read_name(body[key], field=key) for key in filters.ENTITIES if key in body
    }
    for key in ("filters", "metadata"):
        if key in body:
            given[key] = filters.read_object(str(body[key]), field=key)
    return parse_filters(given)


def forget_matching(people: Sequence[User], tree: Node, *, key_id: int | None) -> Operation | None:
    """Forget each user's memories that match a filter.

    Return the first enqueued operation, or None if nothing matched.
    """
    begun = [_forget(user, tree, key_id=key_id) for user in people]
    return next((operation for operation in begun if operation is not None), None)


def _forget(user: User, tree: Node, *, key_id: int | None) -> Operation | None:
    """Forget the user's memories that match a filter, whatever their status.

    If the filter consists only of names (of a user, agent, app or run), also forget the
    conversations that `add` recorded under these names. Return the first of the enqueued
    operations, or None if nothing matched.
    """
    with as_user(user, changing=True):
        matching = filters.query(tree, user_name=name_of(user))
        memories = list(Memory.visible.filter(matching, user=user))
        begun = [
            message_forgets.forget_conversation(
                user=user, conversation=conversation, requested_by_key=key_id
            )
            for conversation in _threads(user, tree)
        ]
        if memories:
            return memory_forgets.forget_memories(
                user=user, memories=memories, requested_by_key=key_id
            )
    return begun[0] if begun else None


def _threads(user: User, tree: Node) -> list[Conversation]:
    names = filters.plain_entities(tree)
    if names is None or names.get("user_id", name_of(user)) != name_of(user):
        return []
    labels = {f"turns__labels__{key}": name for key, name in names.items() if key != "user_id"}
    rows = Conversation.objects.filter(user=user, external_id__startswith=THREADS)
    return list(rows.filter(Q(**labels)).distinct().order_by("pk"))
