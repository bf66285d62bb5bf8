"""Join similar, old, rarely used memories of the same kind, so that a user has fewer memories.

The originals are archived and remain traceable: their versions are inputs of the new memory's
version, which gets copies of their sources. If an original is forgotten, the new memory is derived
again from the remaining originals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from foundation.providers.base import Vectors
from foundation.text import segment
from memories.extraction.arbitration.pairs import Consolidator
from memories.extraction.wording.languages import without_twins
from memories.indexing import search_index
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
from memories.models.memory import OF_PROJECTS
from memories.writing import memory_writes, verdict_effects
from memories.writing.memory_writes import Draft
from ops.accounts import users
from ops.models import Kind as OperationKind
from ops.models import Operation, Priority, User
from ops.queue import outbox

FEWEST = 3
_LARGEST = 12  # memories per group
_COMPARED = 2_000  # maximum number of memories of a kind and project to compare, oldest first
GROUPS = 20  # maximum per run; the next night's run continues

Group = Sequence[Memory]


@dataclass(frozen=True)
class Proposal:
    """A statement that would replace several memories, with its vectors and search fragments."""

    content: str
    memories: Group
    vectors: Vectors
    pieces: Sequence[str]


@dataclass(frozen=True)
class JoinedMemory:
    """A joined memory and its archived originals, as public ids."""

    memory: str
    originals: tuple[str, ...]


def eligible_memories(now: datetime) -> QuerySet[Memory]:
    """Return all users' memories that may be joined: old, rarely used, neither pinned nor disputed.

    These memories are never joined: constraints, skills, memories with a limited validity, and
    memories whose removal awaits the user's decision. Project memories written by agents aren't
    joined either: when an agent rewrites such a text, the new text must be recognized as its next
    edition. A joined memory can be joined again after `CONSOLIDATE_AGAIN_DAYS`.
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
        removal_asked_at__isnull=True,
    ).exclude(
        Q(kind__in=(Kind.CONSTRAINT, Kind.SKILL))
        | Q(kind__in=OF_PROJECTS, origin=Origin.AGENT)
        | Q(Exists(consolidated), created_at__gt=older)
    )


def groups_of(user: User, *, now: datetime) -> list[Group]:
    """Return groups of at least `FEWEST` similar memories of the same kind, project and language.

    At most `GROUPS` groups are returned. The list is empty while long-term memory is off.
    """
    if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
        return []
    found = (
        group
        for rows in _pools(eligible_memories(now).filter(user=user))
        for pool in _by_language(rows)
        if len(pool) >= FEWEST
        for group in _similar_groups(pool, user=user)
    )
    return list(islice(found, GROUPS))


def propose(groups: Sequence[Group], *, consolidator: Consolidator) -> list[Proposal]:
    """Return proposals that join the memories of each group. Call it outside a transaction.

    Raise `ProviderError` if a model call fails or an answer is unusable. Nothing is changed in the
    database.
    """
    return [
        Proposal(joined.content, [group[place] for place in joined.inputs], vectors, pieces)
        for group in groups
        for joined in consolidator.consolidate([memory.content for memory in group])
        for vectors, pieces in [search_index.embed_memory(joined.content)]
    ]


def apply(proposals: Sequence[Proposal], *, user: User) -> list[JoinedMemory]:
    """Store the joined memories and archive their originals, in the caller's transaction.

    A proposal is skipped if the text of one of its memories has changed, or if that memory may no
    longer be joined, for example because it was pinned. A repeated run finds the originals archived
    and does nothing.
    """
    current = User.objects.get(pk=user.pk)
    if current.hidden_at is not None or not users.settings_held(user).longterm_enabled:
        return []
    made = [one for one in (_apply(proposal, user) for proposal in proposals) if one]
    if made:
        memory_writes.drop_cached_counts(user.pk)
    return made


def request(*, user: User, dry_run: bool = False) -> Operation:
    """Enqueue a consolidation of a user's memories, unless one is already queued.

    A dry run and a real run don't exclude each other.
    """
    suffix = ":dry" if dry_run else ""
    return outbox.enqueue(
        OperationKind.CONSOLIDATE,
        subject=user.subject,
        payload={"dry_run": dry_run},
        priority=Priority.BULK,
        dedupe_key=f"consolidate:{user.subject}{suffix}",
        serial_key=str(user.subject),
    )


def _pools(memories: QuerySet[Memory]) -> Iterator[QuerySet[Memory]]:
    named = memories.order_by("kind", "project_id").values("kind", "project_id")
    for one in named.annotate(count=Count("pk")).filter(count__gte=FEWEST):
        pool = memories.filter(kind=one["kind"], project=one["project_id"])
        yield pool.order_by("created_at", "pk")[:_COMPARED]


def _by_language(rows: QuerySet[Memory]) -> Iterable[list[Memory]]:
    pools: dict[str, list[Memory]] = defaultdict(list)
    for memory in rows:
        pools[segment.language(memory.content)].append(memory)
    return pools.values()


def _similar_groups(pool: Sequence[Memory], *, user: User) -> list[Group]:
    """Return groups of at least `FEWEST` similar memories; skip memories without a vector.

    Each group starts with the oldest remaining memory. A memory is added if both its similarity to
    that first memory and its average similarity to the whole group reach `CONSOLIDATE_LIKENESS`.
    """
    rows = Vector.objects.filter(
        user=user,
        space=search_index.active_space(),
        target_kind=TargetKind.MEMORY,
        target_id__in=[memory.pk for memory in pool],
    )
    vectors = dict(rows.values_list("target_id", "embedding"))
    indexed = [memory for memory in pool if memory.pk in vectors]
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


def _apply(proposal: Proposal, user: User) -> JoinedMemory | None:
    pks = sorted(memory.pk for memory in proposal.memories)
    said = {memory.pk: memory.content for memory in proposal.memories}
    locked = Memory.objects.select_for_update(of=("self",)).filter(user=user, pk__in=pks)
    eligible = eligible_memories(timezone.now()).values("pk")
    found = list(locked.filter(pk__in=eligible).order_by("created_at", "pk"))
    if {memory.pk: memory.content for memory in found} != said:
        return None
    inputs = [memory_writes.current_version(memory) for memory in found]
    made = memory_writes.create(_draft(proposal, found), user=user, source=None, inputs=inputs)
    made.access_count = sum(memory.access_count for memory in found)
    made.last_accessed_at = max(memory.last_accessed_at or memory.created_at for memory in found)
    made.save(update_fields=["access_count", "last_accessed_at", "updated_at"])
    verdict_effects.fold(found, into=made)
    return JoinedMemory(made.public_id, tuple(memory.public_id for memory in found))


def _draft(proposal: Proposal, found: Group) -> Draft:
    moments = {memory.occurred_at for memory in found}
    return Draft(
        content=proposal.content,
        kind=found[0].kind,
        vectors=proposal.vectors,
        pieces=proposal.pieces,
        importance=max(memory.importance for memory in found),
        confidence=sum(memory.confidence for memory in found) / len(found),
        tags=tuple(sorted(without_twins(tag for memory in found for tag in memory.tags)))[:20],
        data=_joined_data([memory.data for memory in found]),
        project=found[0].project,
        origin=Origin.EXTRACTED,
        occurred_at=moments.pop() if len(moments) == 1 else None,
    )


def _joined_data(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the combined `data` of the memories.

    Lists under the same key are joined without duplicates. Any other value is kept only if all
    memories that have its key have the same value.
    """
    joined: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in found for name in one):
        values = [one[name] for one in found if name in one]
        if all(isinstance(one, list) for one in values):
            whole = [one for value in values for one in value]
            joined[name] = [one for place, one in enumerate(whole) if one not in whole[:place]]
        elif all(one == values[0] for one in values):
            joined[name] = values[0]
    return joined
