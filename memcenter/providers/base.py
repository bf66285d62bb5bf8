"""What an embedder and a chat model must do, whoever serves them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memcenter.lib.errors import ProviderError

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


@runtime_checkable
class QuestionEmbedder(Protocol):
    """An embedder that places questions otherwise than what answers them."""

    def embed_questions(self, texts: Sequence[str]) -> Vectors: ...


class ChatModel(Protocol):
    """Answers a conversation, whole or piece by piece. Raises `ProviderError`."""

    name: str
    model: str

    def reply(self, messages: Sequence[ChatMessage]) -> Iterator[str]: ...


@dataclass(frozen=True)
class Completion:
    """A whole answer. `truncated`: it ended at its longest, not where the model meant to end.

    Token counts are None where the server doesn't tell them.
    """

    text: str
    truncated: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None


class CompletionModel(Protocol):
    """Answers in one piece, as JSON after `schema`; whoever asks must check it all the same.

    Raises `ProviderError`, and of these `TooLong` when the model can't read that much at once.
    """

    name: str
    model: str

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any], max_tokens: int
    ) -> Completion: ...


class TooLong(ProviderError):
    """More was sent than the model can read at once; less of the same may work."""

    def __init__(self) -> None:
        super().__init__("The text is too long for the model.", retryable=False)


class NotAsked(ProviderError):
    """Nothing was sent: the model failed so often of late that it is left in peace."""

    def __init__(self) -> None:
        super().__init__("The model is left in peace after several failures.", retryable=True)


@dataclass(frozen=True)
class ModelUse:
    """What one question to a model took; sizes, never text."""

    step: str  # extract | arbitrate | summarize
    provider: str
    model: str
    prompt_version: str
    input_tokens: int
    output_tokens: int
    took_ms: int
    outcome: str  # ok | truncated | unreadable | failed
    dropped: int = 0  # items of the answer that could not be used
