"""Logistic regression with a penalty on the squares of the weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 40  # of Newton's method
_MOST_ODDS = 40.0  # of the log odds, so that no exponential overflows


def fit_logistic(
    rows: Floats,
    wanted: Floats,
    penalty: Floats,
    *,
    counting: Floats | None = None,
    given: Floats | None = None,
) -> Floats:
    """Return the weights of a logistic regression of `wanted` (0 or 1) on `rows`.

    Shapes: `rows` (examples, inputs), `wanted` (examples,), `penalty` (inputs,). The weights are
    found by Newton's method. `counting` holds a weight for each example, and `given` fixed log odds
    that are added to each example's.
    """
    counting = np.ones(len(rows)) if counting is None else counting
    given = np.zeros(len(rows)) if given is None else given
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        odds = np.clip(rows @ weights + given, -_MOST_ODDS, _MOST_ODDS)
        chance = 1 / (1 + np.exp(-odds))
        slope = rows.T @ (counting * (chance - wanted)) + penalty * weights
        curve = (rows * (counting * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    return weights
