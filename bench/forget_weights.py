"""Fit the weights with which a request to forget is matched with memories.

    .venv/bin/python bench/forget_weights.py [FILE...]

Prints the weights for `memories/forgetting/request_matching.py`, fitted to the rows of
`bench/data/forget_requests` by logistic regression (each memory of a row is one example, wanted or
not). Only sets that the reader was not trained on tell the truth: on those that it has learned, its
probabilities are too certain. By default these are the files in `UNSEEN`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.forget_requests import DATA, Row, read

if TYPE_CHECKING:
    from memories.forgetting.request_matching import Signals

Floats = NDArray[np.float64]
UNSEEN = (
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)  # prefixes of the files that `training.packing --unseen` leaves out
_STEPS = 40  # of Newton's method
_PENALTY = 1.0  # on the squares of the weights of the standardised signals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    unseen = [path for prefix in UNSEEN for path in sorted(DATA.glob(f"{prefix}_*.jsonl"))]
    parser.add_argument("files", nargs="*", type=Path, default=unseen)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    import django

    django.setup()
    examples = [
        (signals.values, float(signals.meant.pk in row.wanted))
        for path in parser.parse_args().files
        for row in read(path)
        for signals in _signals(row)
    ]
    names = list(examples[0][0])
    values = np.array([[one[name] for name in names] for one, _ in examples])
    weights = fitted(values, np.array([is_wanted for _, is_wanted in examples]))
    for name, weight in zip(names, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')


def _signals(row: Row) -> Iterator[Signals]:
    """Yield the signals of a row's memories; the first request of its text counts."""
    from memories import language_steps
    from memories.extraction.arbitration import pairs
    from memories.extraction.request_subjects import clauses_of
    from memories.forgetting import request_matching
    from memories.indexing import search_index
    from memories.writing.similar_memories import RequestMatch

    subject = ", ".join(clauses_of(row.request))
    if not subject:
        return
    vectors = search_index.configured_embedder().embed([subject, *row.memories])
    met = [
        RequestMatch(place, text, min(1.0, max(0.0, float(vectors[0] @ vector))))
        for place, (text, vector) in enumerate(zip(row.memories, vectors[1:], strict=True))
    ]
    reader = language_steps.pair_reader()
    about = {one.pk: pairs.is_about(row.request, one.content, reader=reader) for one in met}
    yield from request_matching.signals_of(subject, met, about)


def fitted(values: Floats, wanted: Floats) -> Sequence[float]:
    """Return the weights of a logistic regression; the first column of `values` is constant."""
    mean, scale = values.mean(axis=0), values.std(axis=0)
    mean[0], scale[0] = 0.0, 1.0
    rows = (values - mean) / scale
    penalty = np.full(rows.shape[1], _PENALTY)
    penalty[0] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chance - wanted) + penalty * weights
        curve = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    found = weights / scale
    found[0] -= float((found[1:] * mean[1:]).sum())
    return [float(weight) for weight in found]


if __name__ == "__main__":
    main()
