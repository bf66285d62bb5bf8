"""The memories that a candidate meets: near in meaning or in words, whatever their kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from pgvector.django import MaxInnerProduct

from memcenter.lib import segment
from memcenter.providers.base import Vectors
from memories.extraction.types import Known
from memories.models import (
    EmbeddingSpace,
    LexicalEntry,
    Memory,
    MemoryStatus,
    Project,
    TargetKind,
    Vector,
)
from memories.retrieval.stores.pgvector import joined_at_once
from memories.services.indexing import space_of
from ops.models import User

_MET = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED, MemoryStatus.CANDIDATE)
_LOOKED_AT = 300
# An event and the state that it ends may share neither words nor much meaning (怀孕了, 生了个儿子).
_ALWAYS_MET = 5


def similar_to(
    vector: Vectors,
    *,
    user: User,
    content: str,
    project: Project | None = None,
    limit: int = 12,
) -> list[Known]:
    """Active, disabled and waiting memories that may speak of the same, most similar first.

    `vector` is one unit vector of shape (dimensions,). Over the gate by meaning or among the
    nearest few, or sharing the most words: short statements that differ in a name ("Lives in
    Leeds", "Lives in Hangzhou") are far apart for the embedder. All only say
    "perhaps the same subject"; no threshold tells a repeat from a contradiction.
    """
    eligible = Memory.objects.filter(user=user, status__in=_MET, project=project)
    space = space_of(vector)
    nearest = _cosines(vector, eligible, user=user, space=space)[:limit]
    alike = _sharing_words(content, eligible, user=user, limit=limit)
    also = _cosines(vector, eligible.filter(pk__in=alike), user=user, space=space)
    with joined_at_once():
        near = _near(nearest)
        similarity = {pk: -distance for pk, distance in [*near, *also]}
    found = Memory.objects.in_bulk(list(similarity))
    order = sorted(found, key=lambda pk: (-similarity[pk], pk))
    return [_known(found[pk], similarity[pk]) for pk in order]


def _near(rows: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Those over the gate, and the first few in any case."""
    return [
        row
        for at, row in enumerate(rows)
        if at < _ALWAYS_MET or -row[1] >= settings.SIMILARITY_GATE
    ]


def _cosines(
    vector: Vectors, eligible: QuerySet[Memory], *, user: User, space: EmbeddingSpace
) -> QuerySet[Any]:
    return (
        Vector.objects.filter(
            user=user,
            space=space,
            target_kind=TargetKind.MEMORY,
            target_id__in=eligible.values("pk"),
        )
        .annotate(distance=MaxInnerProduct("embedding", vector.tolist()))
        .order_by("distance", "target_id")
        .values_list("target_id", "distance")
    )


def _sharing_words(
    content: str, eligible: QuerySet[Memory], *, user: User, limit: int
) -> list[int]:
    terms = set(segment.terms(content))
    rows = LexicalEntry.objects.filter(
        user=user,
        target_kind=TargetKind.MEMORY,
        terms__overlap=sorted(terms),
        target_id__in=eligible.values("pk"),
    ).order_by("-target_id")
    shared = [
        (len(terms.intersection(found)) / max(1, len(set(found))), pk)
        for pk, found in rows.values_list("target_id", "terms")[:_LOOKED_AT]
    ]
    return [pk for _, pk in sorted(shared, reverse=True)[:limit]]


def _known(memory: Memory, similarity: float) -> Known:
    return Known(
        id=memory.public_id,
        kind=memory.kind,
        content=memory.content,
        similarity=min(1.0, max(0.0, similarity)),
        status=memory.status,
        origin=memory.origin,
        said_at=memory.occurred_at or memory.created_at,
    )


def same_words(content: str, *, known: Sequence[Known]) -> Known | None:
    """The one that says the very same, apart from case and space."""
    wanted = " ".join(content.casefold().split())
    for one in known:
        if " ".join(one.content.casefold().split()) == wanted:
            return one
    return None
