"""Vectors in PostgreSQL: the user's btree index and an exact scan, so that nothing is missed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from memcenter.lib.database import statements
from memcenter.lib.database.statements import Sql
from memories.retrieval.stores import own_index
from memories.retrieval.stores.base import UnitVector
from memories.retrieval.stores.own_index import OwnIndex

# "IS TRUE" keeps the planner from making it a join: it looks each id up in a hash of the eligible
# ids, however many it expects.
_EXACT = """
SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
 WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = %s
   AND (v.target_id IN ({eligible})) IS TRUE
 ORDER BY distance, v.target_id LIMIT %s
"""


# The numbers are literals, since only then does the planner use the partial index. The scalar
# subquery looks each id up by its key, in index order, and stops when enough are eligible.
_APPROXIMATE = """
SELECT v.target_id, v.embedding::halfvec({size}) <#> %s::halfvec({size}) AS distance
  FROM memories_vector v
 WHERE v.user_id = {user} AND v.space_id = {space} AND v.target_kind = 'memory'
   AND (SELECT true FROM ({eligible}) e WHERE e.id = v.target_id)
 ORDER BY distance LIMIT %s
"""
_PATIENT = (
    "SELECT set_config('hnsw.ef_search', %s, true),"
    " set_config('hnsw.iterative_scan', 'relaxed_order', true)"
)


class PgVectorStore:
    """Exact search; it costs 1-2 microseconds per vector of the user, whatever others have.

    There is no HNSW index over all users: the planner would choose it and lose a user's own
    memories behind other users' (measured: 0.6-0.75 of the true neighbours found).
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
        many: bool = False,
    ) -> Mapping[int, float]:
        asked = orjson.dumps(np.asarray(vector), option=orjson.OPT_SERIALIZE_NUMPY).decode()
        own = OwnIndex(user_id, space_id)
        if many and kind == "memory" and (size := own_index.dimensions(own)) is not None:
            return _approximate(asked, own, size=size, eligible=eligible, limit=limit)
        values = [asked, user_id, space_id, kind, *eligible.values, limit]
        found = statements.rows(_EXACT.format(eligible=eligible.text), values, anew=many)
        return {target_id: -distance for target_id, distance in found}


def _approximate(
    asked: str, own: OwnIndex, *, size: int, eligible: Sql, limit: int
) -> Mapping[int, float]:
    statements.rows(_PATIENT, [str(own_index.EF_SEARCH)])
    text = _APPROXIMATE.format(
        size=size, user=own.user_id, space=own.space_id, eligible=eligible.text
    )
    found = statements.rows(text, [asked, *eligible.values, limit], anew=True)
    return {target_id: -distance for target_id, distance in sorted(found, key=_by_distance)}


def _by_distance(row: tuple[Any, ...]) -> tuple[float, int]:
    return row[1], row[0]
