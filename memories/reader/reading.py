"""Run the bundled encoder to analyse messages and compare texts; each process loads one copy."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime

from foundation.text.word_edges import whole_words
from memories.reader import inputs
from memories.reader.inputs import Input
from memories.reader.secret_head import SecretHead
from memories.reader.statements import (
    FLAGS,
    PAIRS,
    SECRET,
    SPAN_HEADS,
    TAGS,
    Scores,
    Secret,
    Statement,
    secret_shares,
    secrets,
    sigmoid,
    softmax,
    statements,
)
from memories.reader.tokenizer import Tokenizer

PATH = Path(__file__).parent / "data" / "reader.onnx"
_CUT_TIME = re.compile("[明今去前后後][年天]|[上下][周週月]")  # "next year", "last week"
_LONGEST_WORD = 200  # characters by which a statement is extended to whole words
_PARTICLE = re.compile("[\u4e00-\u9fff](?:[吗呢吧嘛]|了(?![解不结却断当]))")


class Model:
    """The encoder, which computes scores for each token and for the whole text. Thread-safe.

    The scores of secrets come from `secret_head`, which reads the encoder's states.
    """

    def __init__(self, path: Path = PATH, secret_head: SecretHead | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Without the arena, the memory used for a long message is released after reading it.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        about = self._session.get_modelmeta().custom_metadata_map
        expected = {"tags": TAGS, "flags": FLAGS, "pairs": PAIRS}
        expected |= {f"head.{name}": answers for name, answers in SPAN_HEADS.items()}
        for name, answers in expected.items():
            if tuple(about[name].split()) != answers:
                raise ValueError(f"The reader's file answers another question: {name}")
        self.tokenizer = Tokenizer.load(path.parent, _normal(about))
        self._secret_head = secret_head or SecretHead.load()

    def scores(self, window: Input) -> tuple[Scores, Scores]:
        """Return the scores of each token and of the whole text, before softmax or sigmoid.

        Their shapes are (length, TOKEN_OUTPUTS) and (TEXT_OUTPUTS,).
        """
        tokens, texts, states, mean = self._run(
            window, ["token_scores", "text_scores", "states", "vector"]
        )
        tokens[:, SECRET] = self._secret_head.scores(states, mean)
        return tokens, texts

    def text_scores(self, window: Input) -> Scores:
        """Return only the scores of the whole text, which is faster."""
        return self._run(window, ["text_scores"])[0]

    def states(self, window: Input) -> tuple[Scores, Scores]:
        """Return what the secret head reads: the tokens' states and their mean in the last layer.

        Their shapes are (length, HIDDEN) and (HIDDEN,).
        """
        states, mean = self._run(window, ["states", "vector"])
        return states, mean

    def _run(self, window: Input, outputs: Sequence[str]) -> list[Scores]:
        given = {
            "ids": [window.ids],
            "segments": [window.segments],
            "mask": [[1] * len(window.ids)],
            "pooled": [window.pooled],
        }
        arrays = {name: np.asarray(value, np.int64) for name, value in given.items()}
        return [batch[0] for batch in self._session.run(outputs, arrays)]


def _normal(about: Mapping[str, str]) -> dict[int, str]:
    normal = {}
    for line in about["normal"].splitlines():
        code, _, text = line.partition(" ")
        normal[int(code, 16)] = bytes.fromhex(text).decode()
    return normal


@dataclass(frozen=True)
class Reading:
    """What the model found in a message; statements and secrets are in text order.

    `flags` maps each name in `statements.FLAGS` to its probability. `shares` holds each token's
    start, end and probability of being part of a secret.
    """

    statements: tuple[Statement, ...]
    secrets: tuple[Secret, ...]
    flags: dict[str, float]
    shares: tuple[tuple[int, int, float], ...] = ()


class Readings:
    """A cache of the model's latest results, which uses keyed hashes as keys and stores no text.

    The cache helps because several steps analyse the same short text: to find secrets, the kind of
    a memory and its topics.
    """

    _MOST = 64
    _LONGEST = 2_000  # characters; the results of longer texts aren't cached

    def __init__(self) -> None:
        self._known: dict[bytes, Reading] = {}
        self._key = os.urandom(32)

    def of(self, asked: Sequence[str], read: Callable[[], Reading]) -> Reading:
        """Return the cached result for these inputs, or call `read` and cache its result."""
        if sum(map(len, asked)) > self._LONGEST:
            return read()
        encoded = (text.encode("utf-8", "surrogatepass") for text in asked)
        joined = b"".join(len(raw).to_bytes(4) + raw for raw in encoded)
        key = hashlib.blake2b(joined, key=self._key, digest_size=16).digest()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = read()
            for oldest in list(self._known)[: -self._MOST]:
                self._known.pop(oldest, None)
        return found


class Reader:
    """Find statements and secrets in messages, and determine how two texts relate."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._latest = Readings()

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading:
        """Return the statements, secrets and flags that the model finds in a message.

        `before` holds up to three earlier messages of the same person, latest first; `assistant` is
        the assistant's message that this message answers. At most 2,048 tokens are used: the first
        1,536 and the last 512.
        """
        asked = (text, assistant, *before[:3])
        return self._latest.of(asked, lambda: self._read(text, before=before, assistant=assistant))

    def _read(self, text: str, *, before: Sequence[str], assistant: str) -> Reading:
        found: list[Statement] = []
        hidden: list[Secret] = []
        secret: list[tuple[int, int, float]] = []
        flags = dict.fromkeys(FLAGS, 0.0)
        for window in inputs.windows(
            self._model.tokenizer, text, before=before[:3], assistant=assistant
        ):
            tokens, texts = self._model.scores(window)
            found += (_whole_words(each, text) for each in statements(tokens, window.tokens))
            of_window = secret_shares(tokens, window.tokens)
            hidden += secrets(of_window)
            secret += of_window
            shares = sigmoid(texts[: len(FLAGS)]).tolist()
            flags = {
                name: max(flags[name], share) for name, share in zip(FLAGS, shares, strict=False)
            }
        return Reading(tuple(found), tuple(hidden), flags, tuple(secret))

    def unread(self, text: str) -> tuple[int, int]:
        """Return the start and end of the part of a text that `read` skips; both 0 if none."""
        if len(text) <= inputs.READ:  # a token has at least one character
            return 0, 0
        return inputs.unread(self._model.tokenizer, text)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Return, for each pair (known, new), the probability of each relation in `PAIRS`.

        The probabilities of a pair sum to 1. The pairs are run one by one, because batching would
        change their scores slightly.
        """
        place = slice(len(FLAGS), len(FLAGS) + len(PAIRS))
        return [
            dict(zip(PAIRS, softmax(self._pair_scores(*pair)[place]).tolist(), strict=True))
            for pair in pairs
        ]

    def about(self, request: str, memory: str) -> float:
        """Return the probability that a request to forget something refers to this memory."""
        return float(sigmoid(self._pair_scores(request, memory)[-1:])[0])

    def _pair_scores(self, first: str, second: str) -> Scores:
        return self._model.text_scores(inputs.pair(self._model.tokenizer, first, second))


def _whole_words(statement: Statement, text: str) -> Statement:
    """Extend a statement to word boundaries, since a token may start or end within a word.

    A Chinese particle at the beginning is removed, because it belongs to the preceding text. A
    Chinese word such as 明年 ("next year") at the beginning is completed.
    """
    start, end = statement.start, statement.end
    if 0 < start < end - 1 and _PARTICLE.match(text, start - 1):
        start += 1
    if start > 0 and _CUT_TIME.match(text, start - 1):
        start -= 1
    start, end = whole_words(text, start, end, is_letter=_is_letter, most=_LONGEST_WORD)
    return replace(statement, start=start, end=end)


def _is_letter(sign: str) -> bool:
    """Return whether a character is a letter or digit of a script with spaces between words."""
    return sign.isalnum() and sign < "\u2e80"


@cache
def reader() -> Reader:
    """Return the reader model of this process, loading it on first use."""
    return Reader(Model())
