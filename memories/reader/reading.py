"""Reading messages and comparing texts, in one process-wide instance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from memories.reader import inputs
from memories.reader.labels import FLAGS, PAIRS
from memories.reader.model import Model, Scores
from memories.reader.statements import Secret, Statement, secrets, sigmoid, softmax, statements

SECRET = 0.95  # share from which a token is taken for a part of a secret


@dataclass(frozen=True)
class Reading:
    """What one message holds, in order; `flags` gives the share of each of `labels.FLAGS`."""

    statements: tuple[Statement, ...]
    secrets: tuple[Secret, ...]
    flags: dict[str, float]


class Reader:
    """Finds statements and secrets in messages and tells how two texts stand to each other."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def read(
        self,
        text: str,
        *,
        before: Sequence[str] = (),
        assistant: str = "",
        secret: float = SECRET,
    ) -> Reading:
        """Read a message. `before` are up to three earlier messages of the person, the latest
        first, `assistant` is what it answers. At most 2,048 tokens of it are read, the first
        1,536 and the last 512.
        """
        found: list[Statement] = []
        hidden: list[Secret] = []
        flags = dict.fromkeys(FLAGS, 0.0)
        for one in inputs.windows(
            self._model.tokenizer, text, before=before[:3], assistant=assistant
        ):
            tokens, texts = self._model.scores(one)
            found += (_whole_words(each, text) for each in statements(tokens, one.tokens))
            hidden += secrets(tokens, one.tokens, least=secret)
            shares = sigmoid(texts[: len(FLAGS)]).tolist()
            flags = {
                name: max(flags[name], share) for name, share in zip(FLAGS, shares, strict=False)
            }
        return Reading(tuple(found), tuple(hidden), flags)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """For each (known, new): the shares of `labels.PAIRS`, which add up to 1.

        Each pair is read alone: in a batch its neighbours would change its scores a little.
        """
        place = slice(len(FLAGS), len(FLAGS) + len(PAIRS))
        return [
            dict(zip(PAIRS, softmax(self._compared(*one)[place]).tolist(), strict=True))
            for one in pairs
        ]

    def about(self, request: str, memory: str) -> float:
        """How likely the request to forget means this memory, 0-1."""
        return float(sigmoid(self._compared(request, memory)[-1:])[0])

    def _compared(self, first: str, second: str) -> Scores:
        return self._model.scores(inputs.pair(self._model.tokenizer, first, second))[1]


def _whole_words(one: Statement, text: str) -> Statement:
    """A piece of the vocabulary may end within a word; a statement never does."""
    start, end = one.start, one.end
    while start > 0 and _is_letter(text[start - 1]) and _is_letter(text[start]):
        start -= 1
    while end < len(text) and _is_letter(text[end - 1]) and _is_letter(text[end]):
        end += 1
    return replace(one, start=start, end=end)


def _is_letter(sign: str) -> bool:
    """Of a script that puts spaces between words."""
    return sign.isalnum() and sign < "\u2e80"


@cache
def reader() -> Reader:
    """The instance of this process, loaded when it is first asked for."""
    return Reader(Model())
