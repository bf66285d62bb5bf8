"""The interface of a vector store; every call is for a single user."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from foundation.database.statements import Sql

UnitVector = NDArray[np.float32]


@dataclass(frozen=True)
class NearestQuery:
    """A query for the `limit` targets whose vectors are nearest to `vector`.

    Only the targets of one user and one kind in one embedding space are searched. `vector` has
    shape (dimensions,) and unit length; `eligible` is a query for the ids of the allowed targets.
    `many` means that the user has very many targets, so an approximate index may be used.
    """

    vector: UnitVector
    user_id: int
    space_id: int
    kind: str
    eligible: Sql
    limit: int
    many: bool = False

    @property
    def vector_json(self) -> str:
        """Return the vector in the text format of pgvector."""
        return orjson.dumps(np.asarray(self.vector), option=orjson.OPT_SERIALIZE_NUMPY).decode()


class VectorStore(Protocol):
    """The interface of a vector store, which finds the vectors that are nearest to a query."""

    def nearest(self, query: NearestQuery) -> Mapping[int, float]:
        """Return a map from the nearest target ids to their cosines (-1 to 1), nearest first."""
