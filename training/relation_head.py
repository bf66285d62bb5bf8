"""Fit the small network that helps the encoder to say how two statements relate.

    .venv-train/bin/python -m training.relation_head [--folder .training]

The encoder knows by heart the pairs that it was trained on, so it can't learn from them where it
errs. This network reads the encoder's states. It learns from pairs that the encoder has never seen
(`UNSEEN`), and from all others as a reminder. Its scores are added to those of the encoder.

Two networks are fitted: one without a fifth of the topics of `UNSEEN`, for figures about these and
about the blind sets in `bench/data/reader`, and one with all pairs of `data/pairs`, written
to `relation_head.npz` in `.training/reader`. Blind sets are never trained on. It takes ten minutes
on one core, nearly all of it for the states of 16,000 pairs.

After a training of the encoder, `UNSEEN` must name files that it wasn't trained on.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as f

from memories.reader import inputs
from memories.reader.reading import RELATION_SCORES, Model
from memories.reader.state_head import RELATIONS, StateHead
from memories.reader.statements import PAIRS
from training.base import HIDDEN
from training.labels import Pair, read_pairs

DATA = Path(__file__).parent / "data" / "pairs"
BLIND = Path(__file__).parent.parent / "bench" / "data" / "reader"
UNSEEN = tuple(f"{language}_pairs{number}" for language in ("en", "zh") for number in range(14, 18))
_FOLDS = 5
_UNITS, _EPOCHS, _BATCH = 64, 20, 64
_SMOOTHING = 0.05


@dataclass
class States:
    """Pairs as the network reads them.

    `inputs` (pairs, 3 x HIDDEN) holds the mean states of both texts and of the last layer, `scores`
    (pairs, relations) the scores of the encoder, `answers` (pairs,) the labels.
    """

    inputs: Tensor
    scores: Tensor
    answers: Tensor

    def of(self, chosen: Tensor) -> "States":
        """Return the pairs that a mask (pairs,) chooses."""
        return States(self.inputs[chosen], self.scores[chosen], self.answers[chosen])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".training"))
    wanted = parser.parse_args()
    torch.manual_seed(1)
    model = Model()
    pairs = [pair for pair in read_pairs(DATA) if pair.relation]
    blind = [pair for pair in read_pairs(BLIND, "*pairs*") if pair.relation]
    known, tested = states(model, pairs), states(model, blind)
    print(f"{len(pairs)} pairs, {len(blind)} blind ones", flush=True)
    held = torch.tensor([_is_held_out(pair) for pair in pairs])
    network = fit(known.of(~held))
    for name, rows, of in (("held out", pairs, known), ("blind", blind, tested)):
        for language in sorted({pair.language for pair in rows}):
            chosen = torch.tensor([pair.language == language for pair in rows])
            one = of.of(chosen & held if of is known else chosen)
            before, after = right(one.scores, one), right(one.scores + network(one.inputs), one)
            print(f"{name}, {language}: {before:.3f} -> {after:.3f} of {len(one.answers)}")
    as_head(fit(known)).save(wanted.folder / "reader" / RELATIONS)


def _is_held_out(pair: Pair) -> bool:
    return pair.group.startswith(UNSEEN) and crc32(pair.group.encode()) % _FOLDS == 0


def states(model: Model, pairs: Sequence[Pair]) -> States:
    """Read pairs that have a relation."""
    read, scores = [], []
    for pair in pairs:
        texts, both, mean = model.pair_states(
            inputs.build_pair_input(model.tokenizer, pair.first, pair.second)
        )
        read.append(np.concatenate([both, mean]))
        scores.append(texts[RELATION_SCORES])
    answers = [PAIRS.index(pair.relation) for pair in pairs if pair.relation]
    return States(
        torch.from_numpy(np.stack(read)), torch.from_numpy(np.stack(scores)), torch.tensor(answers)
    )


class Network(nn.Module):
    """Computes what is added to the encoder's scores: (pairs, relations). At first, nothing."""

    def __init__(self, mean: Tensor, spread: Tensor) -> None:
        super().__init__()
        self.mean, self.spread = mean, spread
        self.first, self.second = nn.Linear(3 * HIDDEN, _UNITS), nn.Linear(_UNITS, len(PAIRS))
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)
        self.drop_inputs, self.drop_units = nn.Dropout(0.2), nn.Dropout(0.3)

    def forward(self, given: Tensor) -> Tensor:
        scaled = self.drop_inputs((given - self.mean) / self.spread)
        hidden = self.drop_units(torch.relu(self.first(scaled)))
        return torch.as_tensor(self.second(hidden))


def fit(examples: States) -> Network:
    """Train a network, which leaves out nothing when it is used."""
    network = Network(examples.inputs.mean(0), examples.inputs.std(0) + 1e-3)
    rule = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05)
    pace = torch.optim.lr_scheduler.CosineAnnealingLR(rule, _EPOCHS)
    for _ in range(_EPOCHS):
        for chosen in torch.randperm(len(examples.answers)).split(_BATCH):
            scores = examples.scores[chosen] + network(examples.inputs[chosen])
            loss = f.cross_entropy(scores, examples.answers[chosen], label_smoothing=_SMOOTHING)
            rule.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            rule.step()
        pace.step()
    return network.eval().requires_grad_(False)


def right(scores: Tensor, examples: States) -> float:
    """Return the share of right relations, from 0 to 1."""
    return float((scores.argmax(1) == examples.answers).float().mean())


def as_head(network: Network) -> StateHead:
    """Return the network as the product runs it, with the scaling of its inputs built in."""
    first, second = network.first, network.second
    return StateHead.of_scaled(
        network.mean.numpy(),
        network.spread.numpy(),
        first.weight.T.numpy(),
        first.bias.numpy(),
        second.weight.T.numpy(),
        second.bias.numpy(),
    )


if __name__ == "__main__":
    main()
