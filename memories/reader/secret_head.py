"""Compute for each token of a message the score of being part of a secret.

A small network reads a state of the encoder's ninth layer together with the mean of the last
layer's states. `bench/secret_weights.py` fits it to `bench/data/secrets`, which is far more than
the rows with secrets that the encoder itself was trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PATH = Path(__file__).parent / "data" / "secret_head.npz"
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SecretHead:
    """A network with one hidden layer of rectified linear units.

    Shapes: `first` (2 x HIDDEN, units), `bias` (units,), `second` (units,). The first half of
    `first` belongs to the token's state, the second half to the mean state of the message.
    """

    first: Floats
    bias: Floats
    second: Floats
    offset: float

    def scores(self, states: Floats, mean: Floats) -> Floats:
        """Return a logit for each row of `states`, (length, HIDDEN); `mean` is (HIDDEN,)."""
        half = len(self.first) // 2
        hidden = states @ self.first[:half] + (mean @ self.first[half:] + self.bias)
        return np.asarray(np.maximum(hidden, 0) @ self.second + self.offset, np.float32)

    def save(self, path: Path = PATH) -> None:
        """Write the weights to `path`, in 16 bits."""
        np.savez_compressed(
            path,
            first=self.first.astype(np.float16),
            bias=self.bias.astype(np.float16),
            second=self.second.astype(np.float16),
            offset=np.float32(self.offset),
        )

    @classmethod
    def load(cls, path: Path = PATH) -> SecretHead:
        """Read the weights that `save` wrote."""
        with np.load(path) as stored:
            first, bias, second = (
                stored[name].astype(np.float32) for name in ("first", "bias", "second")
            )
            return cls(first, bias, second, float(stored["offset"]))
