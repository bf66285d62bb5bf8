"""Read messages and compare texts, with one instance for the whole process."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from memories.reader import inputs
from memories.reader.labels import FLAGS, PAIRS
from memories.reader.model import Model, Scores
from memories.reader.statements import (
    Secret,
    Statement,
    innocent,
    secrets,
    sigmoid,
    softmax,
    statements,
)

SECRET = 0.9  # share from which a token is taken for a part of a secret


@dataclass(frozen=True)
class Reading:
    """The content of one message, in order; `flags` has the probability of each of `labels.FLAGS`.

    `innocent` has the spans (start, end) that are surely not part of a secret.
    """

    statements: tuple[Statement, ...]
    secrets: tuple[Secret, ...]
    flags: dict[str, float]
    innocent: tuple[tuple[int, int], ...] = ()


class Reader:
    """Find statements and secrets in messages, and determine the relation of two texts."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def read(
        self, text: str, *, before: Sequence[str] = (), assistant: str = "", secret: float = SECRET
    ) -> Reading:
        """Read a message.

        `before` has up to three earlier messages of the person, latest first; `assistant` is the
        message that it answers. At most 2,048 tokens are read, the first 1,536 and the last 512.
        """
        found: list[Statement] = []
        hidden: list[Secret] = []
        plain: list[tuple[int, int]] = []
        flags = dict.fromkeys(FLAGS, 0.0)
        for one in inputs.windows(
            self._model.tokenizer, text, before=before[:3], assistant=assistant
        ):
            tokens, texts = self._model.scores(one)
            found += (_whole_words(each, text) for each in statements(tokens, one.tokens))
            hidden += secrets(tokens, one.tokens, least=secret)
            plain += innocent(tokens, one.tokens)
            shares = sigmoid(texts[: len(FLAGS)]).tolist()
            flags = {
                name: max(flags[name], share) for name, share in zip(FLAGS, shares, strict=False)
            }
        return Reading(tuple(found), tuple(hidden), flags, tuple(plain))

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Return the probabilities of `labels.PAIRS` for each (known, new); each row sums to 1.

        Each pair is read alone, because batching would change its scores slightly.
        """
        place = slice(len(FLAGS), len(FLAGS) + len(PAIRS))
        return [
            dict(zip(PAIRS, softmax(self._compared(*one)[place]).tolist(), strict=True))
            for one in pairs
        ]

    def about(self, request: str, memory: str) -> float:
        """Return the probability that the request to forget means this memory."""
        return float(sigmoid(self._compared(request, memory)[-1:])[0])

    def _compared(self, first: str, second: str) -> Scores:
        return self._model.scores(inputs.pair(self._model.tokenizer, first, second))[1]


def _whole_words(one: Statement, text: str) -> Statement:
    """Extend a statement to whole words; a token may end within a word."""
    start, end = one.start, one.end
    while start > 0 and _is_letter(text[start - 1]) and _is_letter(text[start]):
        start -= 1
    while end < len(text) and _is_letter(text[end - 1]) and _is_letter(text[end]):
        end += 1
    return replace(one, start=start, end=end)


def _is_letter(sign: str) -> bool:
    """Tell whether it is a letter of a script that separates words by spaces."""
    return sign.isalnum() and sign < "\u2e80"


@cache
def reader() -> Reader:
    """Return the instance of this process, loaded on first use."""
    return Reader(Model())
