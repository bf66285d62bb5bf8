import numpy as np

from foundation.providers.base import Embedder
from tests.hashing_embedder import HashingEmbedder


def test_hashed_vectors_are_unit_and_alike_where_words_are_shared() -> None:
    embedder: Embedder = HashingEmbedder(dimensions=64)
    cat, cats, train, empty = embedder.embed(["a black cat", "black cats", "a late train", ""])
    assert np.allclose([np.linalg.norm(each) for each in (cat, train, empty)], 1)
    assert cat @ cats > 0.99 > 0.5 > cat @ train
