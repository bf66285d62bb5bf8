"""The memories that a candidate meets: near in meaning, whatever their kind."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from pgvector.django import MaxInnerProduct

from memcenter.providers.base import Vectors
from memories.extraction.types import Known
from memories.models import Memory, MemoryStatus, Project, TargetKind, Vector
from memories.services.indexing import active_space
from ops.models import User

_MET = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED, MemoryStatus.CANDIDATE)


def similar_to(
    vector: Vectors, *, user: User, project: Project | None = None, limit: int = 12
) -> list[Known]:
    """Active, disabled and waiting memories over the gate, most similar first.

    `vector` is one unit vector of shape (dimensions,). The gate only says "same subject":
    no threshold tells a repeat from a contradiction.
    """
    eligible = Memory.objects.filter(user=user, status__in=_MET, project=project)
    rows = (
        Vector.objects.filter(
            user=user,
            space=active_space(),
            target_kind=TargetKind.MEMORY,
            target_id__in=eligible.values("pk"),
        )
        .annotate(distance=MaxInnerProduct("embedding", vector.tolist()))
        .order_by("distance")
        .values_list("target_id", "distance")[:limit]
    )
    near = {pk: -distance for pk, distance in rows if -distance >= settings.SIMILARITY_GATE}
    found = Memory.objects.in_bulk(list(near))
    return [_known(found[pk], similarity) for pk, similarity in near.items() if pk in found]


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
