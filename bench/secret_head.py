"""The fit of the reader's head of secrets (`memories/reader/secret_head.py`) to texts with secrets.

Several networks are trained with different initial weights and joined into one, whose result is
their mean. Adam with decoupled weight decay (Loshchilov and Hutter, 2019) and dropout, in numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.secret_screening import Row
from memories.reader import inputs
from memories.reader.reading import Model
from memories.reader.secret_head import SecretHead

Floats = NDArray[np.float32]
UNITS = 64  # hidden units of each network
NETWORKS = 3
_EPOCHS = 8
_BATCH = 512  # tokens
_RATE = 1e-3  # falls to zero with the steps
_DECAY = 0.02
_SECRET = 3.0  # weight of a token of a secret, beside 1 for others
_DROP = (0.1, 0.25)  # share of the inputs and of the hidden units that a step leaves out


@dataclass(frozen=True)
class Tokens:
    """Inputs of the head for some tokens, whether each is part of a secret, and its weight."""

    inputs: Floats
    secret: Floats
    weights: Floats


def tokens(rows: Iterable[Row], model: Model) -> Tokens:
    """Read the rows. A token of a longer text weighs less: by the root of the text's length."""
    found = [each for row in rows for each in _of_row(row, model)]
    weights = np.concatenate([np.full(len(y), len(y) ** -0.5) for _, y in found])
    return Tokens(
        np.concatenate([x for x, _ in found]),
        np.concatenate([y for _, y in found]),
        (weights / weights.mean()).astype(np.float32),
    )


def _of_row(row: Row, model: Model) -> Iterator[tuple[Floats, Floats]]:
    for window in inputs.windows(model.tokenizer, row.text):
        states, mean = model.states(window)
        own = [at for at, token in enumerate(window.tokens) if token is not None]
        secret = [
            row.has_secret_at(token.start, token.end)
            for token in window.tokens
            if token is not None
        ]
        both = np.hstack([states[own], np.tile(mean, (len(own), 1))])
        yield both.astype(np.float32), np.array(secret, np.float32)


def joined(parts: Sequence[Tokens]) -> Tokens:
    """Return the tokens of all parts together."""
    return Tokens(
        np.concatenate([each.inputs for each in parts]),
        np.concatenate([each.secret for each in parts]),
        np.concatenate([each.weights for each in parts]),
    )


def fitted(examples: Tokens) -> SecretHead:
    """Return a head that is fitted to the examples. The result is the same each time."""
    mean, spread = examples.inputs.mean(0), examples.inputs.std(0) + 1e-3
    scaled = (examples.inputs - mean) / spread
    nets = [_trained(scaled, examples, seed) for seed in range(NETWORKS)]
    first = np.hstack([net[0] for net in nets]) / spread[:, None]
    bias = np.hstack([net[1] for net in nets]) - mean @ first
    second = (np.hstack([net[2] for net in nets]) / NETWORKS).astype(np.float32)
    return SecretHead(first, bias, second, float(np.mean([net[3] for net in nets])))


def _trained(scaled: Floats, examples: Tokens, seed: int) -> list[Floats]:
    """Return the weights of one network: first layer, its bias, second layer, its bias."""
    chance = np.random.default_rng(seed)
    count, size = scaled.shape
    first = chance.uniform(-1, 1, (size, UNITS)) / size**0.5
    second = chance.uniform(-1, 1, UNITS) / UNITS**0.5
    weights = [one.astype(np.float32) for one in (first, np.zeros(UNITS), second, np.zeros(1))]
    adam = _Adam(weights, steps=_EPOCHS * -(-count // _BATCH))
    for _ in range(_EPOCHS):
        order = chance.permutation(count)
        for start in range(0, count, _BATCH):
            chosen = order[start : start + _BATCH]
            x = scaled[chosen] * _kept(chance, (len(chosen), size), _DROP[0])
            before = x @ weights[0] + weights[1]
            mask = _kept(chance, before.shape, _DROP[1]) * (before > 0)
            hidden = before * mask
            share = 1 / (1 + np.exp(-(hidden @ weights[2] + weights[3])))
            wanted = examples.secret[chosen]
            error = (share - wanted) * examples.weights[chosen] / len(chosen)
            error *= np.where(wanted > 0, np.float32(_SECRET), np.float32(1))
            back = np.outer(error, weights[2]) * mask
            adam.step([x.T @ back, back.sum(0), hidden.T @ error, error.sum(keepdims=True)])
    return weights


def _kept(chance: np.random.Generator, shape: tuple[int, ...], drop: float) -> Floats:
    kept = chance.random(shape, np.float32) >= drop
    return kept.astype(np.float32) / np.float32(1 - drop)


class _Adam:
    """Changes `weights` in place."""

    def __init__(self, weights: list[Floats], steps: int) -> None:
        self._weights, self._steps, self._done = weights, steps, 0
        self._means = [np.zeros_like(one) for one in weights]
        self._squares = [np.zeros_like(one) for one in weights]

    def step(self, gradients: list[Floats]) -> None:
        rate = _RATE * (1 - self._done / self._steps)
        self._done += 1
        ours = zip(self._weights, self._means, self._squares, gradients, strict=True)
        for weight, mean, square, gradient in ours:
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            steady = mean / (1 - 0.9**self._done)
            scale = np.sqrt(square / (1 - 0.999**self._done)) + 1e-8
            weight -= rate * (steady / scale + _DECAY * weight)
