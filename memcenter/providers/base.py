"""What an embedder and a chat model must do, whoever serves them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class ChatMessage:
    role: str
    content: str


class Embedder(Protocol):
    """Gives unit vectors: float32 of shape (len(texts), dimensions), in the order of `texts`.

    Raises `ProviderError`.
    """

    name: str
    model: str
    dimensions: int
    version: int

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class ChatModel(Protocol):
    """Answers a conversation, whole or piece by piece. Raises `ProviderError`."""

    name: str
    model: str

    def reply(self, messages: Sequence[ChatMessage]) -> Iterator[str]: ...
