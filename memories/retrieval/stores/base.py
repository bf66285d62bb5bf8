"""The interface of a vector store; every call is for a single user."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from foundation.database.statements import Sql

UnitVector = NDArray[np.float32]


class VectorStore(Protocol):
    """The interface of a vector store, which finds the vectors that are nearest to a query."""

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
        """Return the `limit` nearest targets as target id -> cosine (-1 to 1), nearest first.

        Only the targets of one user and one kind in one embedding space are searched. `vector` has
        shape (dimensions,) and unit length; `eligible` is a query for the ids of the allowed
        targets. `many` means that the user has very many targets, so an approximate index may be
        used.
        """
