"""Embeddings by any OpenAI-compatible server, validated before use."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memcenter.lib.errors import ProviderError
from memcenter.lib.text import tokens
from memcenter.providers.base import Vectors
from memcenter.providers.openai_compatible import Endpoint, OpenAICompatibleModel

if TYPE_CHECKING:
    import openai

BATCH = 64  # texts in one call
LONGEST_TOKENS = 512  # what is longer is stored in fragments anyway


class OpenAICompatibleEmbedder:
    """Embeds in batches, in order. An invalid batch fails the whole call.

    Raises `ProviderError`: retryable for temporary failures (time-outs, 5xx, incomplete answers,
    invalid numbers), permanent otherwise (wrong dimension, a refusal, 501).
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

        return self._believed(self._server.ask(ask), count=len(sent))

    def _believed(self, answer: Any, *, count: int) -> Vectors:
        rows = getattr(answer, "data", None)
        if not isinstance(rows, list) or len(rows) != count:
            raise ProviderError("The embedder answered for other texts.", retryable=True)
        # Some servers omit the index or give 0 for each; then the order counts.
        places = [getattr(row, "index", None) for row in rows]
        if sorted(place for place in places if isinstance(place, int)) == list(range(count)):
            rows = sorted(rows, key=lambda row: row.index)
        return self._unit([getattr(row, "embedding", None) for row in rows])

    def _unit(self, rows: Sequence[Any]) -> Vectors:
        try:
            vectors = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError):  # not numbers, or of different lengths
            vectors = np.empty(0, dtype=np.float32)
        if vectors.ndim != 2:
            raise ProviderError("The embedder's answer has no vectors.", retryable=True)
        if vectors.shape != (len(rows), self.dimensions):
            raise ProviderError(
                f"The embedder's vectors haven't {self.dimensions} dimensions.", retryable=False
            )
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ProviderError("The embedder's vectors hold no numbers.", retryable=True)
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit
