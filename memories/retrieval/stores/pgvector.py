"""Vectors in PostgreSQL: the user's btree and an exact scan, so that nothing is missed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import orjson
from django.db import connection

from memcenter.lib import statements
from memcenter.lib.statements import Sql
from memories.retrieval.stores.base import UnitVector

# "IS TRUE" keeps the planner from making it a join: it looks each id up in a hash of the eligible
# ones, however many or few it expects.
_EXACT = """
SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
 WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = %s
   AND (v.target_id IN ({eligible})) IS TRUE
 ORDER BY distance, v.target_id LIMIT %s
"""


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
        eligible: Sql,
        limit: int,
    ) -> Mapping[int, float]:
        asked = orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        values = [asked, user_id, space_id, kind, *eligible.values, limit]
        found = statements.rows(_EXACT.format(eligible=eligible.text), values)
        return {target_id: -distance for target_id, distance in found}
