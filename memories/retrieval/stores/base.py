"""The interface of a vector store. Every call names the user."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memcenter.lib.database.statements import Sql

UnitVector = NDArray[np.float32]


class VectorStore(Protocol):
    """Find the nearest targets of one user and one kind, in one embedding space."""

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
        """Return target id -> cosine (-1 to 1) of the `limit` nearest, nearest first.

        `vector` has shape (dimensions,) and unit length; `eligible` is a query of target ids.
        `many` means that the user has very many targets, so an approximate index may be used.
        """
