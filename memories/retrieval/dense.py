"""The query's side of dense retrieval; comparing with what is stored is the store's work."""

import numpy as np
from numpy.typing import NDArray

from memcenter.providers.base import Embedder
from memories.retrieval.query import Query

Vector = NDArray[np.float32]


def query_vector(query: Query, *, embedder: Embedder) -> Vector:
    """The unit vector between the query's dense texts, shape (dimensions,)."""
    total: Vector = embedder.embed(query.dense_texts).sum(axis=0)
    norm = np.linalg.norm(total)
    return total / norm if norm else total
