"""Train layers on states of the encoder that were computed before."""

import math
import random
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from training.members import save


class HasStates(Protocol):
    """An example with one state for each token."""

    @property
    def states(self) -> Sized: ...


E = TypeVar("E", bound=HasStates)
B = TypeVar("B")


@dataclass(frozen=True)
class Pace:
    """The number of steps, and how fast the weights change.

    The learning rates of the layers and of the heads rise for `warm` steps, and fall to zero as a
    cosine over all of them.
    """

    layers: float
    heads: float
    steps: int
    warm: int

    def share(self, step: int) -> float:
        """Return the factor of both rates at a step."""
        rise = min(1, step / self.warm)
        return rise * (1 + math.cos(math.pi * min(1, step / self.steps))) / 2


def groups_of_similar_length(
    examples: Iterable[E], draw: random.Random, *, bucket: int, most: int
) -> list[list[E]]:
    """Return the examples in groups of at most `most` tokens with padding, in random order.

    Lengths within the same multiples of `bucket` tokens count as equal.
    """
    order = sorted(examples, key=lambda one: (len(one.states) // bucket, draw.random()))
    groups: list[list[E]] = [[]]
    for one in order:
        if groups[-1] and (len(groups[-1]) + 1) * len(one.states) > most:
            groups.append([])
        groups[-1].append(one)
    draw.shuffle(groups)
    return groups


def fit_layers(
    network: nn.Module,
    layers: nn.Module,
    heads: Sequence[nn.Module],
    *,
    batches: Callable[[int], Iterable[B]],
    loss_of: Callable[[B], Tensor],
    pace: Pace,
    epochs: int,
    checkpoint: Path | None,
) -> None:
    """Train the layers and the heads of a network in place, with AdamW.

    `batches` returns the batches of an epoch. After each epoch, a checkpoint is written, from which
    a stopped training continues.
    """
    rule = torch.optim.AdamW(
        [
            {"params": layers.parameters(), "lr": pace.layers},
            {"params": [p for head in heads for p in head.parameters()], "lr": pace.heads},
        ],
        betas=(0.9, 0.98),
        weight_decay=0.01,
    )
    rates = torch.optim.lr_scheduler.LambdaLR(rule, pace.share)
    parts = {"layers": network, "rule": rule, "pace": rates}
    first = 0
    if checkpoint and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        first = state["epoch"]
        for name, part in parts.items():
            part.load_state_dict(state[name])
    network.train()
    for epoch in range(first, epochs):
        torch.manual_seed(epoch)
        for batch in batches(epoch):
            loss = loss_of(batch)
            rule.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            rule.step()
            rates.step()
        print(f"epoch {epoch + 1}: loss of the last step {loss.item():.2f}", flush=True)
        if checkpoint:
            state = {name: part.state_dict() for name, part in parts.items()}
            save(state | {"epoch": epoch + 1}, checkpoint)
    network.eval()
