"""The interfaces of embedders and chat models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from foundation.errors import ProviderError

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class ChatMessage:
    role: str
    content: str


class Embedder(Protocol):
    """Computes unit vectors: float32 of shape (len(texts), dimensions), in the order of `texts`.

    Raises `ProviderError` if the model fails.
    """

    name: str
    model: str
    dimensions: int
    version: int

    def embed(self, texts: Sequence[str]) -> Vectors: ...


@runtime_checkable
class QuestionEmbedder(Protocol):
    """An embedder that embeds questions and passages differently."""

    def embed_questions(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True)
class Completion:
    """The answer of a `CompletionModel`. `truncated` is true if the length limit cut it off.

    The token counts are None if the server doesn't report them.
    """

    text: str
    truncated: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None


class CompletionModel(Protocol):
    """Answers with JSON that should match `schema`; the caller must validate it.

    Raises `ProviderError` if the model fails, in particular `TooLong` if the input exceeds the
    model's context.
    """

    name: str
    model: str

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any], max_tokens: int
    ) -> Completion: ...


class TooLong(ProviderError):
    """The input exceeds the model's context; a shorter input may work."""

    def __init__(self) -> None:
        super().__init__("The text is too long for the model.", retryable=False)


class CircuitOpen(ProviderError):
    """The circuit breaker is open, so nothing was sent."""

    def __init__(self) -> None:
        super().__init__("The model is left in peace after several failures.", retryable=True)


@dataclass(frozen=True)
class ModelUse:
    """The token counts, the duration and the outcome of a model call, without any of its text."""

    step: str  # such as extract, arbitrate, summarize or chat
    provider: str
    model: str
    prompt_version: str
    input_tokens: int
    output_tokens: int
    took_ms: int
    outcome: str  # ok | truncated | unreadable | failed
    dropped: int = 0  # items of the answer that could not be used
