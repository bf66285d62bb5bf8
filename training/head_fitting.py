"""Fit a small network that reads the encoder's states (`memories/reader/state_head.py`).

Several networks are trained with different initial weights and joined into one, whose result is
their mean. The training uses Adam with decoupled weight decay (Loshchilov and Hutter, 2019) and
dropout, in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.reader.state_head import StateHead
from memories.reader.statements import softmax

Floats = NDArray[np.float32]
_RATE = 1e-3  # falls to zero with the steps


@dataclass(frozen=True)
class Examples:
    """Inputs of a head, (examples, size), the answers, and the weight of each example.

    The answers are 0 or 1, (examples,), or the probability of each class, (examples, classes).
    `scores`, of the same shape, are the logits of the encoder's own head, to which the result of
    the network is added; they are 0 if the result is used alone.
    """

    inputs: Floats
    answers: Floats
    weights: Floats
    scores: Floats


@dataclass(frozen=True)
class Plan:
    """The training: `networks` with `units` hidden units each, in `passes` over the examples.

    A step uses `batch` examples. `yes` is the weight of an example with the answer 1; other
    examples weigh 1. `drop` is the share of the inputs and of the hidden units that a step leaves
    out.
    """

    units: int
    networks: int
    passes: int
    batch: int = 512
    yes: float = 1.0
    drop: tuple[float, float] = (0.1, 0.25)
    decay: float = 0.02


def joined(parts: Sequence[Examples]) -> Examples:
    """Return the examples of all parts together."""
    return Examples(
        np.concatenate([each.inputs for each in parts]),
        np.concatenate([each.answers for each in parts]),
        np.concatenate([each.weights for each in parts]),
        np.concatenate([each.scores for each in parts]),
    )


def fitted(examples: Examples, plan: Plan) -> StateHead:
    """Return a head that is fitted to the examples. The result is deterministic."""
    mean, spread = examples.inputs.mean(0), examples.inputs.std(0) + 1e-3
    scaled = (examples.inputs - mean) / spread
    nets = [_trained(scaled, examples, plan, seed) for seed in range(plan.networks)]
    first, bias = (np.hstack([net[number] for net in nets]) for number in range(2))
    second = np.vstack([net[2] for net in nets]) / np.float32(plan.networks)
    offset = np.mean([net[3] for net in nets], 0)
    if examples.answers.ndim == 1:
        second, offset = second[:, 0], offset[0]
    return StateHead.of_scaled(mean, spread, first, bias, second, np.asarray(offset))


def _trained(scaled: Floats, examples: Examples, plan: Plan, seed: int) -> list[Floats]:
    """Return the weights of one network: first layer, its bias, second layer, its bias."""
    chance = np.random.default_rng(seed)
    count, size = scaled.shape
    answers, own_scores = examples.answers.reshape(count, -1), examples.scores.reshape(count, -1)
    outputs = answers.shape[1]
    first = chance.uniform(-1, 1, (size, plan.units)) / size**0.5
    second = chance.uniform(-1, 1, (plan.units, outputs)) / plan.units**0.5
    drawn = (first, np.zeros(plan.units), second, np.zeros(outputs))
    weights = [array.astype(np.float32) for array in drawn]
    adam = _Adam(weights, steps=plan.passes * -(-count // plan.batch), decay=plan.decay)
    for _ in range(plan.passes):
        order = chance.permutation(count)
        for start in range(0, count, plan.batch):
            chosen = order[start : start + plan.batch]
            x = scaled[chosen] * _kept(chance, (len(chosen), size), plan.drop[0])
            before = x @ weights[0] + weights[1]
            mask = _kept(chance, before.shape, plan.drop[1]) * (before > 0)
            hidden = before * mask
            logits = hidden @ weights[2] + weights[3] + own_scores[chosen]
            share = softmax(logits) if outputs > 1 else 1 / (1 + np.exp(-logits))
            wanted = answers[chosen]
            error = (share - wanted) * examples.weights[chosen, None] / len(chosen)
            error *= np.where(wanted > 0, np.float32(plan.yes), np.float32(1))
            back = error @ weights[2].T * mask
            adam.step([x.T @ back, back.sum(0), hidden.T @ error, error.sum(0)])
    return weights


def _kept(chance: np.random.Generator, shape: tuple[int, ...], drop: float) -> Floats:
    kept = chance.random(shape, np.float32) >= drop
    return kept.astype(np.float32) / np.float32(1 - drop)


class _Adam:
    """The Adam optimiser. It changes `weights` in place."""

    def __init__(self, weights: list[Floats], steps: int, decay: float) -> None:
        self._weights, self._steps, self._done, self._decay = weights, steps, 0, decay
        self._means = [np.zeros_like(weight) for weight in weights]
        self._squares = [np.zeros_like(weight) for weight in weights]

    def step(self, gradients: list[Floats]) -> None:
        rate = _RATE * (1 - self._done / self._steps)
        self._done += 1
        ours = zip(self._weights, self._means, self._squares, gradients, strict=True)
        for weight, mean, square, gradient in ours:
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            steady = mean / (1 - 0.9**self._done)
            scale = np.sqrt(square / (1 - 0.999**self._done)) + 1e-8
            weight -= rate * (steady / scale + self._decay * weight)
