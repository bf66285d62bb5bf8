"""Run the bundled encoder to analyse messages and compare texts; each process loads one copy."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from foundation.text.word_edges import is_letter_of_spaced_script, whole_words
from memories.reader import inputs
from memories.reader.inputs import Input, ReadTokens
from memories.reader.pair_layers import PairComparison, PairLayers
from memories.reader.referents import Candidates, Referent, ReferentHead
from memories.reader.sessions import open_session
from memories.reader.state_head import MEANT, MESSAGES, RELATIONS, SECRETS, StateHead
from memories.reader.statements import (
    FLAGS,
    PAIRS,
    SECRET,
    SPAN_HEADS,
    TAGS,
    UNRELATED_BY_ENCODER,
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

DATA = Path(__file__).parent / "data"
# Positions in the scores of a whole text.
RELATION_SCORES = slice(len(FLAGS), len(FLAGS) + len(PAIRS))
MEANT_SCORE = RELATION_SCORES.stop  # does a request refer to a memory?
_CUT_TIME = re.compile("[明今去前后後][年天]|[上下][周週月]")  # such as "next year", "last week"
_LONGEST_WORD = 200  # maximum number of characters by which each end of a statement is extended
# The brackets of an addition, and the whole of an added date: "Friday [2026-12-04]".
_BRACKETS = re.compile(r" ?\[\d{4}[^\[\]]*\]|[\[\]]")
_PARTICLE = re.compile("[\u4e00-\u9fff](?:[吗呢吧嘛]|了(?![解不结却断当]))")


class PairScores(NamedTuple):
    """The scores of a pair of texts, before softmax or sigmoid.

    `by_encoder` holds the scores of the encoder's own heads. In `total`, the scores of the
    `StateHead`s are added. Both have the shape (TEXT_OUTPUTS,).
    """

    by_encoder: Scores
    total: Scores


class Encoder:
    """The encoder without the `StateHead`s; it computes states and scores. Thread-safe."""

    def __init__(self, folder: Path = DATA) -> None:
        self.folder = folder
        self._session = open_session(folder / "reader.onnx")
        about = self._session.get_modelmeta().custom_metadata_map
        expected = {"tags": TAGS, "flags": FLAGS, "pairs": PAIRS}
        expected |= {f"head.{name}": answers for name, answers in SPAN_HEADS.items()}
        for name, answers in expected.items():
            if tuple(about[name].split()) != answers:
                raise ValueError(f"The reader's file answers another question: {name}")
        self.tokenizer = Tokenizer.load(folder, _normal(about))

    def pair_states(self, window: Input) -> tuple[Scores, Scores, Scores]:
        """Return the encoder's own scores of a pair of texts, and the two inputs of the pair heads.

        The first input is the mean state of each text in the ninth layer, one after the other,
        (2 x HIDDEN,). The second is the mean state of the last layer, (HIDDEN,).
        """
        texts, states, mean = self._run(window, ["text_scores", "states", "vector"])
        second = np.asarray(window.segments, bool)
        return texts, np.concatenate([states[~second].mean(0), states[second].mean(0)]), mean

    def outputs(self, window: Input) -> tuple[Scores, Scores, Scores, Scores]:
        """Return everything that the encoder computes.

        This is the states of the tokens after the ninth layer, (length, HIDDEN), the scores of the
        tokens, (length, TOKEN_OUTPUTS), the scores of the text, (TEXT_OUTPUTS,), and the mean state
        of the last layer, (HIDDEN,).
        """
        states, tokens, texts, mean = self._run(
            window, ["states", "token_scores", "text_scores", "vector"]
        )
        return states, tokens, texts, mean

    def states(self, window: Input) -> tuple[Scores, Scores]:
        """Return the two inputs of the secret head.

        They are the tokens' states in the ninth layer, (length, HIDDEN), and the mean state of the
        last layer, (HIDDEN,).
        """
        states, mean = self._run(window, ["states", "vector"])
        return states, mean

    def message_states(self, window: Input) -> tuple[Scores, Scores]:
        """Return the two inputs of the message head, (HIDDEN,) each.

        They are the mean state of the message's own tokens in the ninth layer, and the mean state
        of the last layer.
        """
        states, mean = self.states(window)
        return _mean_of_message(states, window), mean

    def token_states(self, window: Input) -> Scores:
        """Return the states of the tokens after the ninth layer, (length, HIDDEN)."""
        return self._run(window, ["states"])[0]

    def _run(self, window: Input, outputs: Sequence[str]) -> list[Scores]:
        values = {
            "ids": [window.ids],
            "segments": [window.segments],
            "mask": [[1] * len(window.ids)],
            "pooled": [window.pooled],
        }
        arrays = {name: np.asarray(value, np.int64) for name, value in values.items()}
        return [batch[0] for batch in self._session.run(outputs, arrays)]


class Model(Encoder):
    """The encoder with its heads, from one folder. Thread-safe.

    Each `StateHead` is a small network that computes further scores from the encoder's states.
    """

    def __init__(self, folder: Path = DATA, *, secret_head: StateHead | None = None) -> None:
        super().__init__(folder)
        self._secret_head = secret_head or StateHead.load(folder / SECRETS)
        self._message_head = StateHead.load(folder / MESSAGES)
        self._relation_head = StateHead.load(folder / RELATIONS)
        self._meant_head = StateHead.load(folder / MEANT)

    def scores(self, window: Input) -> tuple[Scores, Scores, Scores]:
        """Return the scores of the tokens, of the whole message, and of being a correction.

        They are logits, with the shapes (length, TOKEN_OUTPUTS), (TEXT_OUTPUTS,) and (1,). The last
        one scores whether the message corrects or updates something that was said before.
        """
        states, tokens, texts, mean = self.outputs(window)
        tokens[:, SECRET] = self._secret_head.scores(states, mean)
        own = _mean_of_message(states, window)[None]
        return tokens, texts, self._message_head.scores(own, mean)

    def pair_scores(self, window: Input) -> PairScores:
        """Return the scores of a pair of texts."""
        own, states, mean = self.pair_states(window)
        total = own.copy()
        total[RELATION_SCORES] += self._relation_head.scores(states[None], mean)[0]
        total[MEANT_SCORE] += self._meant_head.scores(states[None], mean)[0]
        return PairScores(own, total)


def _mean_of_message(states: Scores, window: Input) -> Scores:
    own = [place for place, token in enumerate(window.tokens) if token is not None]
    return np.asarray(states[own or [0]].mean(0), np.float32)


def _normal(about: Mapping[str, str]) -> dict[int, str]:
    normal = {}
    for line in about["normal"].splitlines():
        code, _, text = line.partition(" ")
        normal[int(code, 16)] = bytes.fromhex(text).decode()
    return normal


@dataclass(frozen=True)
class Reading:
    """The model's results for a message; statements and secrets are in text order.

    `flags` maps each name in `statements.FLAGS` to its probability. `shares` holds each token's
    start, end and probability of being part of a secret. `puts_right` is the probability that the
    message corrects or updates something that was said before.
    """

    statements: tuple[Statement, ...]
    secrets: tuple[Secret, ...]
    flags: dict[str, float]
    shares: tuple[tuple[int, int, float], ...] = ()
    puts_right: float = 0.0


class ReadingCache:
    """A cache of the model's latest results; it stores hashes of the texts, but no texts.

    Several steps analyse the same short text, to find secrets, the kind of a memory or its topics.
    """

    _MOST = 64
    _LONGEST = 2_000  # characters; the results of longer texts aren't cached

    def __init__(self) -> None:
        self._known: dict[bytes, Reading] = {}
        self._key = os.urandom(32)

    def of(self, texts: Sequence[str], read: Callable[[], Reading]) -> Reading:
        """Return the cached result for these inputs, or call `read` and cache its result."""
        if sum(map(len, texts)) > self._LONGEST:
            return read()
        encoded = (text.encode("utf-8", "surrogatepass") for text in texts)
        joined = b"".join(len(raw).to_bytes(4) + raw for raw in encoded)
        key = hashlib.blake2b(joined, key=self._key, digest_size=16).digest()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = read()
            for oldest in list(self._known)[: -self._MOST]:
                self._known.pop(oldest, None)
        return found


class Reader:
    """A reader that finds statements and secrets in messages, and determines how texts relate."""

    _MOST_UNREAD = 100  # maximum number of long messages whose unread range is cached

    def __init__(self, model: Model) -> None:
        self._model = model
        self._pair_layers = PairLayers(model.folder)
        self._referent_head = ReferentHead.load(model.folder)
        self._latest = ReadingCache()
        self._unread: dict[tuple[int, int], tuple[int, int]] = {}  # by hash and length

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading:
        """Return the statements, secrets and flags that the model finds in a message.

        `before` holds up to three earlier messages of the same person, latest first; `assistant` is
        the assistant's message that this message answers. At most 2,048 tokens are used: the first
        1,536 and the last 512.
        """
        texts = (text, assistant, *before[:3])
        return self._latest.of(texts, lambda: self._read(text, before=before, assistant=assistant))

    def _read(self, text: str, *, before: Sequence[str], assistant: str) -> Reading:
        found: list[Statement] = []
        hidden: list[Secret] = []
        secret: list[tuple[int, int, float]] = []
        flags = dict.fromkeys(FLAGS, 0.0)
        puts_right = 0.0
        own = self._tokens(text)
        for window in inputs.windows(
            self._model.tokenizer, text, before=before[:3], assistant=assistant, tokens=own
        ):
            tokens, texts, score = self._model.scores(window)
            puts_right = max(puts_right, float(sigmoid(score)[0]))
            found += (_whole_words(each, text) for each in statements(tokens, window.tokens))
            of_window = secret_shares(tokens, window.tokens)
            hidden += secrets(of_window)
            secret += of_window
            shares = sigmoid(texts[: len(FLAGS)]).tolist()
            flags = {
                name: max(flags[name], share) for name, share in zip(FLAGS, shares, strict=False)
            }
        return Reading(tuple(found), tuple(hidden), flags, tuple(secret), puts_right)

    def unread(self, text: str) -> tuple[int, int]:
        """Return the start and end of the part of a text that `read` skips; both 0 if none."""
        if len(text) <= inputs.READ:  # a token has at least one character
            return 0, 0
        known = self._unread.get((hash(text), len(text)))
        return self._tokens(text).unread if known is None else known

    def _tokens(self, text: str) -> ReadTokens:
        tokens = ReadTokens.of(self._model.tokenizer, text)
        if len(self._unread) >= self._MOST_UNREAD:
            self._unread.clear()
        if len(text) > inputs.READ:
            self._unread[hash(text), len(text)] = tokens.unread
        return tokens

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Return, for each pair (known, new), the probability of each relation in `PAIRS`.

        The probabilities sum to 1; each dict also holds `UNRELATED_BY_ENCODER`. The pairs are run
        one by one, because batching would change their scores slightly.
        """
        return [self._relations(*pair) for pair in pairs]

    def _relations(self, known: str, new: str) -> dict[str, float]:
        scores = self._pair_scores(known, new)
        shares = dict(zip(PAIRS, softmax(scores.total[RELATION_SCORES]).tolist(), strict=True))
        by_encoder = softmax(scores.by_encoder[RELATION_SCORES])
        return shares | {UNRELATED_BY_ENCODER: float(by_encoder[PAIRS.index("unrelated")])}

    def compare(self, known: str, message: str) -> PairComparison:
        """Return how a message relates to an earlier statement, and which part of it is corrected.

        Only the first 120 tokens of each text are read; they include the prefix `inputs.PREFIX`,
        which is put before each text.
        """
        window = inputs.build_pair_input(self._model.tokenizer, known, message)
        states = self._model.token_states(window)
        first, second = (
            [
                token if segment == text else None
                for token, segment in zip(window.tokens, window.segments, strict=True)
            ]
            for text in (0, 1)
        )
        return self._pair_layers.compare(states, first, second)

    def referents(
        self, text: str, start: int, end: int, *, before: Sequence[str] = (), assistant: str = ""
    ) -> list[Referent]:
        """Return the words that the pronoun `text[start:end]` may refer to, most probable first.

        The words precede the pronoun in the message, or are in one of the context messages (see
        `read`). The probabilities sum to less than 1, since the texts may not name the person.
        """
        window = inputs.build_referent_input(
            self._model.tokenizer, text, end, before=before[:3], assistant=assistant
        )
        states = self._model.token_states(window)
        candidates = Candidates.of(window, states, start, end)
        return self._referent_head.referents(candidates, [text, assistant, *before])

    def probability_request_means(self, request: str, memory: str) -> float:
        """Return the probability that a request to forget something refers to this memory."""
        return float(sigmoid(self._pair_scores(request, memory).total[[MEANT_SCORE]])[0])

    def _pair_scores(self, first: str, second: str) -> PairScores:
        """Return the scores of two texts, without brackets and without added dates.

        The model wasn't trained on pairs with brackets or dates. With brackets, any two statements
        that begin with "[my mum]" seemed to be about the same. With a date, the score depended on
        the day on which the statement was made.
        """
        plain = [_BRACKETS.sub("", text) for text in (first, second)]
        return self._model.pair_scores(inputs.build_pair_input(self._model.tokenizer, *plain))


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
    start, end = whole_words(
        text, start, end, is_letter=is_letter_of_spaced_script, most=_LONGEST_WORD
    )
    return replace(statement, start=start, end=end)


@cache
def reader() -> Reader:
    """Return the reader model of this process, loading it on first use."""
    return Reader(Model())
