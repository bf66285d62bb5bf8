"""What a vector store must do. The user stands in every call."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memcenter.lib.statements import Sql

UnitVector = NDArray[np.float32]


class VectorStore(Protocol):
    """Finds one user's nearest targets of one kind in one space."""

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
        """Target id -> cosine (-1 to 1) of the nearest `limit`, nearest first.

        `vector` has shape (dimensions,) and length one; `eligible` is a query of target ids.
        `many` says that the user has so many that an approximate index may answer, where there
        is one.
        """
