"""From the encoder's scores to statements and secrets, each with its place in the message."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.reader.labels import SECRET, SPAN_HEADS, TAGS, head_slices
from memories.reader.tokenizer import Token

Scores = NDArray[np.float32]
BEGINS = 0.35  # share of "begin" from which a statement begins
BEGINS_ANEW = 0.6  # the same where one is under way, which is ended by it

BESIDE = 0.5  # share of a token that belongs to the secret beside it


@dataclass(frozen=True)
class Statement:
    """A statement, `text[start:end]`. `shares` gives for each head the share of each answer."""

    start: int
    end: int
    shares: dict[str, dict[str, float]]

    def best(self, head: str) -> str:
        """The likeliest answer of a head."""
        shares = self.shares[head]
        return max(shares, key=shares.__getitem__)

    def share(self, head: str, answer: str) -> float:
        return self.shares[head][answer]


@dataclass(frozen=True)
class Secret:
    """A part of the message that must not be kept, `text[start:end]`, with the highest share."""

    start: int
    end: int
    share: float


def statements(scores: Scores, tokens: Sequence[Token | None]) -> list[Statement]:
    """The statements of one input, in order. `scores` is (length, TOKEN_OUTPUTS)."""
    tags = softmax(scores[:, : len(TAGS)])
    return [
        _statement(scores[start:end].mean(0), tokens[start:end])
        for start, end in spans(tags, tokens)
    ]


def spans(tags: Scores, tokens: Sequence[Token | None]) -> Iterator[tuple[int, int]]:
    """Token ranges of statements.

    One begins where "begin" has at least the share `BEGINS` and more than "inside", and goes on
    until "outside" has more than half or the next one begins, which takes `BEGINS_ANEW`.
    """
    start = None
    for at, token in enumerate(tokens):
        outside, begin, inside = tags[at].tolist() if token else (1.0, 0.0, 0.0)
        least = BEGINS if start is None else BEGINS_ANEW
        begins = begin >= least and begin >= inside
        if start is not None and (begins or outside > 0.5 or not token):
            yield start, at
            start = None
        if token and (begins or (start is None and outside < 0.3)):
            start = at
    if start is not None:
        yield start, len(tokens)


def _statement(scores: Scores, tokens: Sequence[Token | None]) -> Statement:
    first, last = tokens[0], tokens[-1]
    assert first is not None
    assert last is not None
    shares = {
        head: dict(zip(SPAN_HEADS[head], softmax(scores[place]).tolist(), strict=True))
        for head, place in head_slices().items()
    }
    return Statement(first.start, last.end, shares)


def secrets(scores: Scores, tokens: Sequence[Token | None], *, least: float) -> list[Secret]:
    """The parts with a token of at least the share `least`.

    A part goes on over the tokens beside it that have at least `BESIDE`, and over one token
    between two of them.
    """
    shares = sigmoid(scores[:, SECRET])
    near = [
        token is not None and share >= BESIDE for token, share in zip(tokens, shares, strict=True)
    ]
    found: list[Secret] = []
    at = 0
    while at < len(tokens):
        end = at
        while end < len(tokens) and (near[end] or (end > at and any(near[end : end + 2]))):
            end += 1
        if end > at:
            share = float(shares[at:end].max())
            first, last = tokens[at], tokens[end - 1]
            if share >= least and first and last:
                found.append(Secret(first.start, last.end, share))
        at = end + 1
    return found


def softmax(scores: Scores) -> Scores:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def sigmoid(scores: Scores) -> Scores:
    return np.asarray(1 / (1 + np.exp(-scores)), np.float32)
