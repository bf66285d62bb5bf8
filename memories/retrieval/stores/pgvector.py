"""Vectors in PostgreSQL: the user's btree and an exact scan, so that nothing is missed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from pgvector.django import MaxInnerProduct

from memories.models import Vector
from memories.retrieval.stores.base import UnitVector


@contextmanager
def joined_at_once() -> Iterator[None]:
    """Keep the planner from comparing each vector with each eligible row.

    It takes a person whose rows are new, and not yet in its statistics, for one with a single
    row, and loops: a thousand memories cost 300 ms instead of 3.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        yield
        cursor.execute("SET LOCAL enable_nestloop = on")


class PgVectorStore:
    """Costs 1-2 microseconds per vector of this user, whatever the others have.

    There is no HNSW index over everybody: the planner would choose it and lose a user's own
    memories behind other people's (measured: 0.6-0.75 of the true neighbours found).
    """

    def nearest(
        self,
        vector: UnitVector,
        *,
        user_id: int,
        space_id: int,
        kind: str,
        eligible: QuerySet[Any],
        limit: int,
    ) -> Mapping[int, float]:
        rows = (
            Vector.objects.filter(
                user=user_id, space=space_id, target_kind=kind, target_id__in=eligible
            )
            .annotate(distance=MaxInnerProduct("embedding", vector.tolist()))
            .order_by("distance", "target_id")
            .values_list("target_id", "distance")[:limit]
        )
        with joined_at_once():
            return {target_id: -distance for target_id, distance in rows}
