import numpy as np

from foundation.providers.base import Embedder
from foundation.providers.embedders import BundledEmbedder

embedder: Embedder = BundledEmbedder()


def test_vectors_are_unit_float32_in_the_order_of_the_texts() -> None:
    texts = ["我对花生过敏", "I play the cello", ""]
    vectors = embedder.embed(texts)
    assert vectors.shape == (3, embedder.dimensions) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(embedder.embed([text])[0], vector, atol=1e-4)


def test_no_texts_give_no_vectors() -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_the_same_statement_in_two_languages_is_nearer_than_another() -> None:
    chinese, english, other = embedder.embed(
        ["我对花生过敏", "I am allergic to peanuts", "The train leaves at nine"]
    )
    assert chinese @ english > 0.5 > chinese @ other


def test_long_texts_are_cut_before_they_cost() -> None:
    words = "one two three four " * 5_000
    beginning, whole = embedder.embed([words[:4_000], words])
    assert np.allclose(beginning, whole, atol=1e-4)
