"""The labels of the model, and the conversion of its scores into statements and secrets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.reader.tokenizer import Token

TAGS = ("outside", "begin", "inside")
# The heads of the model for statements; each head assigns one of its labels to a statement.
SPAN_HEADS: dict[str, tuple[str, ...]] = {
    "keep": ("no", "unsure", "yes"),
    "kind": ("fact", "preference", "constraint", "task", "pattern", "skill", "event"),
    "topic": (
        *("family", "people", "pets", "health", "food", "work", "study"),
        *("home", "money", "travel", "hobbies", "things", "answers", "self"),
    ),
    "whose": ("self", "related", "others"),
    "holds": ("lasting", "habit", "planned", "past", "passing"),
    "said": ("asserted", "hedged", "asked", "supposed", "joked", "quoted", "role", "transform"),
    "change": ("none", "corrects", "ends"),
}
# Flags of the whole message; several may be set.
FLAGS = (
    *("remember", "dont_keep_this", "dont_keep_before", "dont_keep_topic", "forget"),
    *("role_begins", "role_ends", "role", "pasted", "transform"),
)
# Relations of a new text to a known text.
PAIRS = ("same", "newer", "contradicts", "refines", "ended", "unrelated")
# The key of the probability of "unrelated" according to the encoder's own head. With the relation
# head, this probability is more extreme, particularly if one text makes the other more likely.
UNRELATED_BY_ENCODER = "unrelated_by_encoder"

SECRET = len(TAGS)  # index of the token output for "part of a secret"
TOKEN_OUTPUTS = len(TAGS) + 1 + sum(len(answers) for answers in SPAN_HEADS.values())
TEXT_OUTPUTS = len(FLAGS) + len(PAIRS) + 1  # the last output: does a request refer to a memory?


def head_slices() -> dict[str, slice]:
    """Map each head in `SPAN_HEADS` to its slice of a token's scores."""
    found, at = {}, len(TAGS) + 1
    for name, answers in SPAN_HEADS.items():
        found[name] = slice(at, at + len(answers))
        at += len(answers)
    return found


Scores = NDArray[np.float32]
_OUTSIDE, _BEGIN, _INSIDE = range(len(TAGS))
_NEVER = -1e9
POSSIBLE = 0.1  # minimum probability at which a token may be part of a secret


@dataclass(frozen=True)
class Statement:
    """A statement, `text[start:end]`; `shares` maps each head to its labels' probabilities."""

    start: int
    end: int
    shares: dict[str, dict[str, float]]

    def best(self, head: str) -> str:
        """Return the most probable label of a head."""
        shares = self.shares[head]
        return max(shares, key=shares.__getitem__)

    def sure(self, head: str, least: float) -> str:
        """Return the most probable label of a head, or "" if its probability is below `least`."""
        best = self.best(head)
        return best if self.shares[head][best] >= least else ""

    def share(self, head: str, answer: str) -> float:
        return self.shares[head][answer]


@dataclass(frozen=True)
class Secret:
    """A span that must not be stored, `text[start:end]`; `share` is its probability."""

    start: int
    end: int
    share: float


def statements(scores: Scores, tokens: Sequence[Token | None]) -> list[Statement]:
    """Convert the token scores of one input to statements, in text order."""
    tags = softmax(scores[:, : len(TAGS)])
    return [
        _statement(scores[start:end].mean(0), tokens[start:end])
        for start, end in spans(tags, tokens)
    ]


def spans(tags: Scores, tokens: Sequence[Token | None]) -> Iterator[tuple[int, int]]:
    """Yield the token range of each statement, according to the most probable sequence of tags.

    In a valid sequence, "inside" only follows "begin" or "inside" (Viterbi, 1967). `tags` holds
    probabilities with the shape (length, TAGS).
    """
    start = None
    for at, tag in enumerate([*_best_path(tags, tokens), _OUTSIDE]):
        if start is not None and tag != _INSIDE:
            yield start, at
            start = None
        if tag == _BEGIN:
            start = at


def _best_path(tags: Scores, tokens: Sequence[Token | None]) -> list[int]:
    logs = np.log(np.maximum(tags, 1e-6))
    logs[[token is None for token in tokens], 1:] = _NEVER
    best, came_from = np.array([logs[0, _OUTSIDE], logs[0, _BEGIN], _NEVER]), []
    for here in logs[1:]:
        likeliest = int(best.argmax())
        began = _BEGIN if best[_BEGIN] >= best[_INSIDE] else _INSIDE
        came_from.append((likeliest, likeliest, began))
        best = best[[likeliest, likeliest, began]] + here
    path = [int(best.argmax())]
    for before in reversed(came_from):
        path.append(before[path[-1]])
    return path[::-1]


def _statement(scores: Scores, tokens: Sequence[Token | None]) -> Statement:
    first, last = tokens[0], tokens[-1]
    assert first is not None
    assert last is not None
    shares = {
        head: dict(zip(SPAN_HEADS[head], softmax(scores[place]).tolist(), strict=True))
        for head, place in head_slices().items()
    }
    return Statement(first.start, last.end, shares)


def secret_shares(scores: Scores, tokens: Sequence[Token | None]) -> list[tuple[int, int, float]]:
    """Return each token's start, end and probability of being part of a secret."""
    shares = sigmoid(scores[:, SECRET]).tolist()
    return [
        (token.start, token.end, share)
        for token, share in zip(tokens, shares, strict=True)
        if token is not None
    ]


def secrets(shares: Sequence[tuple[int, int, float]]) -> list[Secret]:
    """Return the spans that may be secret, given the result of `secret_shares`.

    A span is a run of tokens with a probability of at least `POSSIBLE`.
    """
    found: list[Secret] = []
    for start, end, share in shares:
        if share < POSSIBLE:
            continue
        if found and start <= found[-1].end + 1:
            found[-1] = Secret(found[-1].start, end, max(found[-1].share, share))
        else:
            found.append(Secret(start, end, share))
    return found


def softmax(scores: Scores) -> Scores:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def sigmoid(scores: Scores) -> Scores:
    return np.asarray(1 / (1 + np.exp(-scores)), np.float32)
