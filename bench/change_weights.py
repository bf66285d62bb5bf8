"""Fit the weights that decide which earlier statement a message changes.

    .venv/bin/python bench/change_weights.py

The pairs are those of `training/data/links`, of the voices that the pair layers weren't trained on
(`HELD_OUT`): each message that is likely to correct something, with each earlier statement. Prints
the weights for `memories/extraction/corrections/corrected_statements.py`, and the precision and
recall of the statements that are chosen as changed, for several thresholds. For these figures, each
conversation is judged by weights that were fitted to other conversations. Takes ten minutes on one
core.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.labelled import prepare_django, print_table, share
from bench.logistic import fit_logistic
from bench.product import print_result
from memories.reader.statements import sigmoid
from training.labels import conversations, fold

HELD_OUT = 0  # the fold that `training.pair_layers` held out for the shipped layers
_PARTS = 10  # conversations are split into as many parts
_PENALTY = 1.0  # on the squares of the weights


def main() -> None:
    prepare_django()
    inputs, changes, talks = [], [], []
    for number, talk in enumerate(t for t in conversations() if fold(t["voice"]) == HELD_OUT):
        for values, is_change in _pairs(talk):
            inputs.append(values)
            changes.append(is_change)
            talks.append(number)
    x, y, part = np.array(inputs), np.array(changes, float), np.array(talks) % _PARTS
    likelihoods, penalty = np.zeros(len(y)), np.full(x.shape[1], _PENALTY)
    for held in range(_PARTS):
        weights = fit_logistic(x[part != held], y[part != held], penalty)
        likelihoods[part == held] = sigmoid(x[part == held] @ weights)
    table = {
        f"from {least:.2f}": {
            "precision": share(
                int(y[likelihoods >= least].sum()), int((likelihoods >= least).sum())
            ),
            "recall": share(int(y[likelihoods >= least].sum()), int(y.sum())),
        }
        for least in np.arange(0.3, 0.85, 0.1)
    }
    print_table(table)
    print_result(
        {
            "weights": fit_logistic(x, y, penalty).round(3).tolist(),
            "pairs": len(y),
            "thresholds": table,
        }
    )


def _pairs(talk: dict[str, Any]) -> Iterator[tuple[tuple[float, ...], bool]]:
    """Yield the inputs of each message with each earlier statement, and whether it changes it."""
    from foundation.providers.embedders import BundledEmbedder
    from memories.extraction.corrections import corrected_statements as changes
    from memories.reader import reader

    said, embedder = talk["said"], BundledEmbedder()
    changed = {
        (link["statement"], link["by"])
        for link in talk["links"]
        if link["relation"] in ("contradicts", "newer", "ended")
    }
    for by in range(1, len(said)):
        earlier = [(n, one["words"]) for n, one in enumerate(talk["statements"]) if one["n"] < by]
        reading = reader().read(said[by], before=said[max(0, by - 3) : by][::-1])
        if not earlier or reading.puts_right < changes.COMPARED:
            continue
        (near,) = changes.similarities(
            [said[by]], [words for _, words in earlier], embedder=embedder
        )
        told, signals = changes.TextWords.of(said[by]), []
        for (_, words), similarity in zip(earlier, near, strict=True):
            change = reader().compare(words, said[by]).changes
            shares = told.overlap(changes.TextWords.of(words))
            signals.append(changes.ChangeSignals(words, change, similarity, shares))
        for (n, _), values in zip(earlier, changes.likelihood_inputs(signals), strict=True):
            yield values, (n, by) in changed


if __name__ == "__main__":
    main()
