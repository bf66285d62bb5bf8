"""Vector search in Milvus: it finds near ids, PostgreSQL checks eligibility and ranks them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import orjson

from memcenter.lib.database import statements
from memcenter.lib.database.statements import Sql
from memcenter.lib.errors import ProviderError
from memcenter.providers.breaker import CircuitBreaker
from memories.retrieval.stores.base import UnitVector, VectorStore
from memories.retrieval.stores.milvus_server import MOST, MilvusServer

logger = logging.getLogger(__name__)
_MORE = 2  # requested factor above the limit, since some ids may not be eligible

# Changes that are not yet in Milvus are compared here, so that no result is outdated.
_COMPARED = """
SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
 WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = %s
   AND v.target_id = ANY(%s::bigint[] || ARRAY(
         SELECT c.target_id FROM memories_vectorchange c
          WHERE c.user_id = %s AND c.space_id = %s AND c.target_kind = %s))
   AND (v.target_id IN ({eligible})) IS TRUE
 ORDER BY distance, v.target_id LIMIT %s
"""


@dataclass(frozen=True)
class MilvusStore:
    """Searches Milvus.

    `instead` answers while Milvus can't, or if too few of its results are eligible.
    """

    server: MilvusServer
    breaker: CircuitBreaker
    instead: VectorStore

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
        whose = {"user_id": user_id, "space_id": space_id, "kind": kind}
        wanted = min(_MORE * limit, MOST)
        try:
            ids = self._near(vector, limit=wanted, **whose)  # type: ignore[arg-type]
        except ProviderError as error:
            logger.warning("searching in PostgreSQL instead: %s", error)
        else:
            found = _compared(vector, ids, eligible=eligible, limit=limit, **whose)  # type: ignore[arg-type]
            if len(found) >= limit or len(ids) < wanted:
                return found
        return self.instead.nearest(
            vector,
            user_id=user_id,
            space_id=space_id,
            kind=kind,
            eligible=eligible,
            limit=limit,
            many=many,
        )

    def _near(
        self, vector: UnitVector, *, user_id: int, space_id: int, kind: str, limit: int
    ) -> list[int]:
        self.breaker.check()
        try:
            found = self.server.near(
                vector, space_id=space_id, user_id=user_id, kind=kind, limit=limit
            )
        except ProviderError:
            self.breaker.note(failed=True)
            raise
        self.breaker.note(failed=False)
        return found


def _compared(
    vector: UnitVector,
    ids: list[int],
    *,
    user_id: int,
    space_id: int,
    kind: str,
    eligible: Sql,
    limit: int,
) -> Mapping[int, float]:
    asked = orjson.dumps(np.asarray(vector), option=orjson.OPT_SERIALIZE_NUMPY).decode()
    whose = (user_id, space_id, kind)
    values = [asked, *whose, ids, *whose, *eligible.values, limit]
    found = statements.rows(_COMPARED.format(eligible=eligible.text), values)
    return {target_id: -distance for target_id, distance in found}
