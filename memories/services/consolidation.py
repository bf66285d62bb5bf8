"""Keeping memory small: similar, old, rarely used memories of one kind become fewer.

What is joined is archived and stays traceable: the new memory's version has theirs as its inputs,
with copies of their sources, so that forgetting one of them derives it again from the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import numpy as np
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memcenter.lib import segment
from memcenter.providers.base import Vectors
from memories.extraction.consolidate import Consolidator
from memories.models import (
    Change,
    Kind,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    TargetKind,
    Vector,
)
from memories.services import hot_cache, indexing, noted, writing
from memories.services.writing import Draft
from ops.models import Kind as OperationKind
from ops.models import Operation, Priority, User
from ops.services import outbox, users

FEWEST = 3
_LARGEST = 12  # memories of one group
_COMPARED = 2_000  # memories of one kind and project, the oldest
_GROUPS = 20  # of one run; the next night goes on

Group = Sequence[Memory]


@dataclass(frozen=True)
class Proposal:
    """One statement that several memories would become. `vectors` and `pieces` index it."""

    content: str
    memories: Group
    vectors: Vectors
    pieces: Sequence[str]


@dataclass(frozen=True)
class Made:
    """A consolidated memory and the archived ones that it was made from, by public id."""

    memory: str
    originals: tuple[str, ...]


def eligible(now: datetime) -> QuerySet[Memory]:
    """Everybody's memories that may be joined: old, rarely used, neither pinned nor in dispute.

    Constraints always stay. What was consolidated once takes part again when it is old enough.
    """
    old = now - timedelta(days=settings.CONSOLIDATE_DAYS)
    older = now - timedelta(days=settings.CONSOLIDATE_AGAIN_DAYS)
    consolidated = MemoryVersion.objects.filter(
        memory=OuterRef("pk"), number=OuterRef("current_version"), change=Change.CONSOLIDATED
    )
    return Memory.objects.filter(
        status=MemoryStatus.ACTIVE,
        pinned=False,
        access_count__lt=settings.CONSOLIDATE_USES,
        created_at__lte=old,
        valid_from__isnull=True,
        valid_until__isnull=True,
        conflicts_with__isnull=True,
        contested_by__isnull=True,
    ).exclude(
        Q(kind__in=(Kind.CONSTRAINT, Kind.SKILL)) | Q(Exists(consolidated), created_at__gt=older)
    )


def groups_of(user: User, *, now: datetime) -> list[Group]:
    """Similar memories of one kind, project and language, at least `FEWEST` together.

    At most so many as one run joins: of one kind and project after the other, so that never more
    than one shelf is read at a time. None while long-term memory is off.
    """
    if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
        return []
    found = (
        group
        for rows in _shelves(eligible(now).filter(user=user))
        for shelf in _by_language(rows)
        if len(shelf) >= FEWEST
        for group in _alike(shelf, user=user)
    )
    return list(islice(found, _GROUPS))


def propose(groups: Sequence[Group], *, consolidator: Consolidator) -> list[Proposal]:
    """Ask what each group becomes; outside any transaction. Raises `ProviderError`.

    An answer that can't be used fails all of it: nothing was changed yet.
    """
    return [
        Proposal(joined.content, [group[place] for place in joined.inputs], vectors, pieces)
        for group in groups
        for joined in consolidator.consolidate([memory.content for memory in group])
        for vectors, pieces in [indexing.embed_memory(joined.content)]
    ]


def apply(proposals: Sequence[Proposal], *, user: User) -> list[Made]:
    """Write the new memories and archive their originals, in the caller's one transaction.

    What changed since it was read (a text, a pin, a use, the switch) is left as it is. Running it
    again finds the originals archived and does nothing.
    """
    current = User.objects.get(pk=user.pk)
    if current.hidden_at is not None or not users.settings_held(user).longterm_enabled:
        return []
    made = [one for one in (_apply(proposal, user) for proposal in proposals) if one]
    if made:
        hot_cache.drop(user.pk)
    return made


def request(*, user: User, dry_run: bool = False) -> Operation:
    """Enqueue consolidating one person's memories; one that already waits does it."""
    how = ":dry" if dry_run else ""
    return outbox.enqueue(
        OperationKind.CONSOLIDATE,
        subject=user.subject,
        payload={"dry_run": dry_run},
        priority=Priority.BULK,
        dedupe_key=f"consolidate:{user.subject}{how}",
        serial_key=str(user.subject),
    )


def people_to_ask_for(now: datetime) -> list[User]:
    """Who has something to consolidate: old notes, or enough old memories; as the system."""
    found = {one.pk: one for one in noted.people_with_some(now)}
    return list((found | {one.pk: one for one in people_with_enough(now)}).values())


def people_with_enough(now: datetime) -> Iterator[User]:
    """Who has memories that may be joined; to be read as the system."""
    shelves = eligible(now).order_by().values("user", "kind", "project")
    enough = shelves.annotate(count=Count("pk")).filter(count__gte=FEWEST)
    owners = {row["user"] for row in enough}
    yield from User.objects.filter(pk__in=owners, hidden_at__isnull=True).order_by("pk")


def _shelves(memories: QuerySet[Memory]) -> Iterator[QuerySet[Memory]]:
    """The oldest of each kind and project that has enough of them."""
    named = memories.order_by("kind", "project_id").values("kind", "project_id")
    for one in named.annotate(count=Count("pk")).filter(count__gte=FEWEST):
        shelf = memories.filter(kind=one["kind"], project=one["project_id"])
        yield shelf.order_by("created_at", "pk")[:_COMPARED]


def _by_language(rows: QuerySet[Memory]) -> Iterable[list[Memory]]:
    shelves: dict[str, list[Memory]] = defaultdict(list)
    for memory in rows:
        shelves[segment.language(memory.content)].append(memory)
    return shelves.values()


def _alike(shelf: Sequence[Memory], *, user: User) -> list[Group]:
    """Groups in which each is on average as like the others as the setting says.

    `vectors` has one unit row for each memory; the oldest that is left begins a group.
    """
    vectors = _vectors_of(shelf, user=user)
    indexed = [memory for memory in shelf if memory.pk in vectors]
    if len(indexed) < FEWEST:
        return []
    matrix = np.array([vectors[memory.pk] for memory in indexed], dtype=np.float32)
    return [[indexed[place] for place in places] for places in _clusters(matrix @ matrix.T)]


def _clusters(likeness: Vectors) -> Iterator[list[int]]:
    left = list(range(len(likeness)))
    while left:
        group = [left.pop(0)]
        for place in sorted(left, key=lambda one: -likeness[group[0], one]):
            if len(group) == _LARGEST or likeness[group[0], place] < settings.CONSOLIDATE_LIKENESS:
                break
            if likeness[place, group].mean() >= settings.CONSOLIDATE_LIKENESS:
                group.append(place)
        left = [place for place in left if place not in group]
        if len(group) >= FEWEST:
            yield sorted(group)


def _vectors_of(shelf: Sequence[Memory], *, user: User) -> Mapping[int, Sequence[float]]:
    rows = Vector.objects.filter(
        user=user,
        space=indexing.active_space(),
        target_kind=TargetKind.MEMORY,
        target_id__in=[memory.pk for memory in shelf],
    )
    return dict(rows.values_list("target_id", "embedding"))


def _apply(proposal: Proposal, user: User) -> Made | None:
    pks = sorted(memory.pk for memory in proposal.memories)
    said = {memory.pk: memory.content for memory in proposal.memories}
    now = timezone.now()
    locked = Memory.objects.select_for_update(of=("self",)).filter(user=user, pk__in=pks)
    found = list(locked.filter(pk__in=eligible(now).values("pk")).order_by("created_at", "pk"))
    if {memory.pk: memory.content for memory in found} != said:
        return None
    inputs = [writing.current_version(memory) for memory in found]
    made = writing.create(_draft(proposal, found), user=user, source=None, inputs=inputs)
    made.access_count = sum(memory.access_count for memory in found)
    made.last_accessed_at = max(memory.last_accessed_at or memory.created_at for memory in found)
    made.save(update_fields=["access_count", "last_accessed_at", "updated_at"])
    Memory.objects.filter(user=user, pk__in=pks).update(
        status=MemoryStatus.ARCHIVED, superseded_by=made, updated_at=now
    )
    return Made(made.public_id, tuple(memory.public_id for memory in found))


def _draft(proposal: Proposal, found: Group) -> Draft:
    moments = {memory.occurred_at for memory in found}
    return Draft(
        content=proposal.content,
        kind=found[0].kind,
        vectors=proposal.vectors,
        pieces=proposal.pieces,
        importance=max(memory.importance for memory in found),
        confidence=sum(memory.confidence for memory in found) / len(found),
        tags=tuple(sorted({tag for memory in found for tag in memory.tags}))[:20],
        project=found[0].project,
        origin=Origin.EXTRACTED,
        occurred_at=moments.pop() if len(moments) == 1 else None,
    )
