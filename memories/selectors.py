"""Read-only queries on memories and on recorded recalls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Manager, Max, Prefetch, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from conversations.models import Episode, Message, Summary
from foundation.errors import NotFound
from memories.models import (
    Arbitration,
    DailyNote,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Project,
    RecallHit,
    RecallTrace,
    Refusal,
    Relation,
    Source,
)
from ops.access import as_system
from ops.accounts import users
from ops.models import User

_VISIBLE: Mapping[str, Manager[Any]] = {
    "memory": Memory.visible,
    "message": Message.objects,
    "episode": Episode.objects,
    "summary": Summary.objects,
    "note": DailyNote.objects,
}
LISTED = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED)  # statuses that are listed without a filter
# Memories archived because they were unused; excludes those joined with other memories.
ARCHIVED = Q(status=MemoryStatus.ARCHIVED, archived_at__isnull=False)
BIN = "deleted"
ANY = "any"  # every status, but not the recycle bin
WAITING = Q(status=MemoryStatus.CANDIDATE) | Q(removal_asked_at__isnull=False)


@dataclass(frozen=True)
class MemoryFilter:
    """The filters for a list of memories.

    `other_tags` are alternatives to `tag`, and have no effect without it. The status `candidate`
    also selects memories whose removal awaits the user's decision. `status` may also be `deleted`,
    which means the recycle bin, or `any`, which means everything outside the recycle bin. An empty
    status selects active and disabled memories; then `archived` adds memories that were archived
    because they were unused, and `waiting` adds candidates.
    """

    query: str = ""
    kinds: Sequence[str] = ()
    tag: str = ""
    other_tags: Sequence[str] = ()
    status: str = ""
    project_key: str = ""
    origin: str = ""
    pinned: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    archived: bool = False
    waiting: bool = False


@dataclass(frozen=True)
class Totals:
    """The figures of the status line at the top of the Memory Center.

    `memories` is the number of memories in use. `listed` also counts disabled and expired memories.
    `conversations` is the number of conversations that are sources of memories.
    """

    memories: int
    listed: int
    conversations: int
    waiting: int
    binned: int
    last_learned_at: datetime | None


def memories_of(user: User, filters: MemoryFilter) -> QuerySet[Memory]:
    """Return the user's memories that match the filters, unsorted, each with its sources."""
    if filters.status == BIN:
        found = Memory.visible.filter(user=user, deleted_at__isnull=False)
    else:
        found = Memory.objects.filter(user=user)
        found = found.filter(_of_status(filters))
    found = found.filter(_conditions(filters))
    return found.select_related("project", "conflicts_with").prefetch_related(
        _sources_prefetch(user)
    )


def _of_status(filters: MemoryFilter) -> Q:
    if filters.status == MemoryStatus.CANDIDATE:
        return WAITING
    if filters.status == ANY:
        return Q()
    if filters.status:
        return Q(status=filters.status)
    listed = Q(status__in=LISTED)
    if filters.archived:
        listed |= ARCHIVED
    return listed | Q(status=MemoryStatus.CANDIDATE) if filters.waiting else listed


def in_use() -> Q:
    """Return the condition for memories that answers may use now: active and not expired."""
    holds = Q(valid_until=None) | Q(valid_until__gt=timezone.now())
    return holds & Q(status=MemoryStatus.ACTIVE)


def _conditions(filters: MemoryFilter) -> Q:
    wanted = Q()
    if filters.query:
        wanted &= Q(content__icontains=filters.query) | Q(tags__icontains=filters.query)
    if filters.kinds:
        wanted &= Q(kind__in=filters.kinds)
    if filters.tag:
        wanted &= Q(tags__overlap=[filters.tag, *filters.other_tags])
    if filters.project_key:
        wanted &= Q(project__key=filters.project_key)
    if filters.origin:
        wanted &= Q(origin=filters.origin)
    if filters.pinned is not None:
        wanted &= Q(pinned=filters.pinned)
    if filters.since:
        wanted &= Q(created_at__gte=filters.since)
    if filters.until:
        wanted &= Q(created_at__lt=filters.until)
    return wanted


_OF_SOURCE = (
    "message__conversation",
    "turn__user_message",
    "turn__assistant_message",
    "turn__conversation",
)


def _sources_prefetch(user: User) -> Prefetch[Any]:
    sources = Source.objects.filter(user=user).select_related(*_OF_SOURCE).order_by("-pk")
    return Prefetch("sources", queryset=sources, to_attr="shown_sources")


def memories_by_ids(user: User, public_ids: Sequence[str]) -> Mapping[str, Memory]:
    """Return the user's memories by public id, each with its sources (newest first).

    Unknown ids and memories in the recycle bin are left out.
    """
    rows = (
        Memory.objects.filter(user=user, public_id__in=list(public_ids))
        .select_related("project", "conflicts_with")
        .prefetch_related(_sources_prefetch(user))
    )
    return {row.public_id: row for row in rows}


def memory_of(user: User, public_id: str, *, with_bin: bool = True) -> Memory:
    """Return the user's memory with this id.

    `with_bin` includes memories in the recycle bin. Raise `NotFound` if there is no such memory.
    """
    rows = Memory.visible if with_bin else Memory.objects
    found = (
        rows.filter(user=user, public_id=public_id)
        .select_related("project", "conflicts_with", "superseded_by", "user")
        .prefetch_related(_sources_prefetch(user))
        .first()
    )
    if found is None:
        raise NotFound("This memory doesn’t exist.")
    return found


def version_in_use(memory: Memory) -> MemoryVersion | None:
    return MemoryVersion.objects.filter(memory=memory, number=memory.current_version).first()


def last_verdict_on(memory: Memory) -> Arbitration | None:
    """Return the newest logged verdict that resulted in this memory, or None."""
    return Arbitration.objects.filter(user=memory.user_id, memory=memory).order_by("-pk").first()


def versions_of(memory: Memory) -> QuerySet[MemoryVersion]:
    return MemoryVersion.objects.filter(memory=memory).order_by("-number")


def sources_of(memory: Memory) -> QuerySet[Source]:
    rows = Source.objects.filter(memory=memory)
    return rows.select_related("version", *_OF_SOURCE).order_by("-pk")


def recalls_of(user: User, memory: Memory) -> QuerySet[RecallHit]:
    """Return the recorded recalls that put the memory into a prompt, newest first.

    Recalls whose answer or conversation is being forgotten are left out.
    """
    return (
        RecallHit.objects.filter(
            trace__answer__hidden_at=None,
            trace__conversation__hidden_at=None,
            user=user,
            type="memory",
            target_public_id=memory.public_id,
            in_block=True,
        )
        .select_related("trace__conversation", "trace__answer")
        .order_by("-pk")
    )


def uses_of(user: User, memory: Memory) -> QuerySet[RecallHit]:
    """Return the recorded uses in which the memory was relevant to the question.

    A memory that is always included, for example because it is pinned, is also recalled for
    questions to which it isn't relevant; those uses are left out. `access_count` counts the same
    uses, including those whose records have been deleted.
    """
    relevant = settings.RELEVANCE_FLOOR
    return recalls_of(user, memory).filter(components__raw_relevance__gte=relevant)


def use_count(user: User, memory: Memory) -> int:
    """Return how often the memory was used: the larger of `access_count` and the recorded uses.

    `access_count` lacks uses that happened while the memory was locked; old records are deleted.
    """
    return max(memory.access_count, uses_of(user, memory).count())


def relations_of(memory: Memory) -> QuerySet[Relation]:
    return (
        Relation.objects.filter(Q(memory=memory) | Q(other=memory))
        .filter(
            memory__hidden_at__isnull=True,
            other__hidden_at__isnull=True,
            memory__deleted_at__isnull=True,
            other__deleted_at__isnull=True,
        )
        .select_related("memory", "other")
        .order_by("pk")
    )


def trace_of(user: User, request_id: str) -> RecallTrace:
    """Return the record of a recall or search.

    Raise `NotFound` if there is no such record, or if its answer or conversation is being
    forgotten.
    """
    shown = RecallTrace.objects.filter(answer__hidden_at=None, conversation__hidden_at=None)
    found = shown.filter(user=user, request_id=request_id).first()
    if found is None:
        raise NotFound("This request doesn’t exist.")
    return found


def hits_of(trace: RecallTrace) -> list[RecallHit]:
    """Return the results of a recorded recall, except those forgotten or being forgotten."""
    hits = list(RecallHit.objects.filter(user=trace.user_id, trace=trace).order_by("rank"))
    shown: set[str] = set()
    for kind, rows in _VISIBLE.items():
        ids = [hit.target_public_id for hit in hits if hit.type == kind]
        if ids:
            found = rows.filter(user=trace.user_id, public_id__in=ids)
            shown.update(found.values_list("public_id", flat=True))
    return [hit for hit in hits if hit.target_public_id in shown]


def totals_of(user: User) -> Totals:
    rows = Memory.visible.filter(user=user)
    present = Q(deleted_at__isnull=True)
    counts = rows.aggregate(
        memories=Count("pk", filter=present & in_use()),
        listed=Count("pk", filter=present & Q(status__in=LISTED)),
        waiting=Count("pk", filter=present & WAITING),
        binned=Count("pk", filter=Q(deleted_at__isnull=False)),
        last=Max("created_at", filter=present),
    )
    conversations = (
        Source.objects.filter(user=user, turn__isnull=False)
        .values("turn__conversation")
        .distinct()
        .count()
    )
    return Totals(
        memories=counts["memories"],
        listed=counts["listed"],
        conversations=conversations,
        waiting=counts["waiting"],
        binned=counts["binned"],
        last_learned_at=counts["last"],
    )


def projects_of(user: User) -> QuerySet[Project]:
    """Return the user's projects, annotated with `memory_count` and `last_memory_at`.

    Only active and disabled memories count. `last_memory_at` is the time of the latest change.
    """
    counted = Q(
        memories__hidden_at__isnull=True,
        memories__deleted_at__isnull=True,
        memories__status__in=LISTED,
    )
    return (
        Project.objects.filter(user=user)
        .annotate(
            memory_count=Count("memories", filter=counted),
            last_memory_at=Max("memories__updated_at", filter=counted),
        )
        .order_by("key")
    )


@dataclass(frozen=True)
class TimelineFilter:
    """The filters for a timeline of memories."""

    project_key: str = ""
    kinds: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None


def timeline_of(user: User, filters: TimelineFilter) -> QuerySet[Memory]:
    """Return the active memories with the annotation `at`, their time on the timeline.

    `at` is the time of the event, or else the time at which the memory was created. The timeline is
    empty while long-term memory is off, since reading the timeline counts as a recall.
    """
    rows = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE).annotate(
        at=Coalesce("occurred_at", "created_at")
    )
    if not users.settings_of(user).longterm_enabled:
        rows = rows.none()
    if filters.project_key:
        rows = rows.filter(project__key=filters.project_key, project__hidden_at__isnull=True)
    if filters.kinds:
        rows = rows.filter(kind__in=filters.kinds)
    if filters.since:
        rows = rows.filter(at__gte=filters.since)
    if filters.until:
        rows = rows.filter(at__lt=filters.until)
    return rows.select_related("project")


def refusals_of(user: User) -> QuerySet[Refusal]:
    return Refusal.objects.filter(user=user).select_related("turn__conversation").order_by("-pk")


def owner_of_memory(public_id: str) -> User | None:
    if not public_id.startswith("mem_"):
        return None
    with as_system():
        row = Memory.visible.filter(public_id=public_id).select_related("user").first()
    return row.user if row is not None else None


# A trace is written after the response is sent, so a client may request the trace too early.
_PAUSES = (0.01, 0.02, 0.04, 0.08, 0.16)


def owner_of_request(request_id: str) -> User | None:
    """Return the user whose recall or search has this request id, or None.

    The record may be written a moment after the response, so the function waits up to 0.3 s for the
    record. Call it outside a transaction.
    """
    user = _of_request(request_id)
    for pause in _PAUSES if request_id.startswith("req_") else ():
        if user is not None:
            break
        time.sleep(pause)
        user = _of_request(request_id)
    return user


def _of_request(request_id: str) -> User | None:
    with as_system():
        row = RecallTrace.objects.filter(request_id=request_id).select_related("user").first()
    return row.user if row is not None else None
