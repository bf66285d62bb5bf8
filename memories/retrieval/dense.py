"""The query's side of dense retrieval; comparing with what is stored is the store's work."""

import numpy as np
from numpy.typing import NDArray

from memcenter.providers.base import Embedder, QuestionEmbedder
from memories.retrieval.query import Query

Vector = NDArray[np.float32]


def query_vector(query: Query, *, embedder: Embedder) -> Vector:
    """The unit vector of what the query asks, shape (dimensions,)."""
    asks = embedder.embed_questions if isinstance(embedder, QuestionEmbedder) else embedder.embed
    vector: Vector = asks([query.dense_text])[0]
    return vector
