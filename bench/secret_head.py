"""Training examples for the reader's head that finds secrets: one for each token of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from bench.secret_screening import Row
from memories.reader import inputs
from memories.reader.reading import Encoder
from training.head_fitting import Examples, Plan

Floats = NDArray[np.float32]
PLAN = Plan(units=64, networks=3, passes=8, yes=3.0)


def tokens(rows: Iterable[Row], encoder: Encoder) -> Examples:
    """Return the examples of the rows.

    The weight of a token is inversely proportional to the square root of its window's length.
    """
    found = [each for row in rows for each in _of_row(row, encoder)]
    weights = np.concatenate([np.full(len(y), len(y) ** -0.5) for _, y in found])
    return Examples(
        np.concatenate([x for x, _ in found]),
        np.concatenate([y for _, y in found]),
        (weights / weights.mean()).astype(np.float32),
        np.zeros(len(weights), np.float32),
    )


def _of_row(row: Row, encoder: Encoder) -> Iterator[tuple[Floats, Floats]]:
    for window in inputs.windows(encoder.tokenizer, row.text):
        states, mean = encoder.states(window)
        own = [at for at, token in enumerate(window.tokens) if token is not None]
        secret = [
            row.has_secret_at(token.start, token.end)
            for token in window.tokens
            if token is not None
        ]
        both = np.hstack([states[own], np.tile(mean, (len(own), 1))])
        yield both.astype(np.float32), np.array(secret, np.float32)
