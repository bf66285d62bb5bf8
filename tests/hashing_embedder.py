"""An embedder: quick, deterministic, without weights or network."""

import hashlib
from collections.abc import Sequence

import numpy as np

from foundation.providers.base import Vectors
from foundation.text import segment


class HashingEmbedder:
    """Vectors of hashed words: texts are similar if they share words."""

    name = "fake"
    model = "hashing"
    version = 1

    def __init__(self, *, dimensions: int = 512) -> None:
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for term in segment.terms(text) or [""]:
                row[self._place(term)] += 1.0
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _place(self, term: str) -> int:
        digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.dimensions
