"""An embedder and a chat model for tests: quick, deterministic, without weights or network."""

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from memcenter.lib import segment
from memcenter.lib.errors import ProviderError
from memcenter.providers.base import ChatMessage, Vectors


class HashingEmbedder:
    """Texts are alike as far as they share words; each word has its own place by its hash."""

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


class ScriptedChatModel:
    """Gives the scripted answers in their order and remembers what it was asked.

    An answer is a text, the pieces of one, or the error to raise.
    """

    name = "fake"
    model = "scripted"

    def __init__(self, *answers: str | Sequence[str] | ProviderError) -> None:
        self._answers = list(answers)
        self.asked: list[list[ChatMessage]] = []

    def reply(self, messages: Sequence[ChatMessage]) -> Iterator[str]:
        self.asked.append(list(messages))
        if not self._answers:
            raise ProviderError("The script has no answer left.", retryable=False)
        answer = self._answers.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        return iter([answer] if isinstance(answer, str) else answer)
