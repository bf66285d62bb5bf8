"""Small networks that compute scores from the encoder's states, in addition to its own heads.

Each network reads states of the ninth layer, together with the mean state of the last layer.

- The secret head reads the state of a token. `bench/secret_weights.py` fits it to
  `bench/data/secrets`, which has far more examples of secrets than the encoder's training data.
- The message head reads the mean state of a message, and says whether the message corrects
  anything that was said before (`training/pair_layers.py`).
- The relation head reads the mean states of two texts. Its scores are added to those of the
  encoder's own head (`training/relation_head.py`).
- The meant head also reads the mean states of two texts, and says whether a request to forget
  refers to a memory. Its score is added to that of the encoder's own head
  (`bench/forget_weights.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# Files of the networks.
SECRETS = "secret_head.npz"
MESSAGES = "message_head.npz"
RELATIONS = "relation_head.npz"
MEANT = "meant_head.npz"
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class StateHead:
    """A network with one hidden layer of rectified linear units.

    Shapes: `first` (size + HIDDEN, hidden units), `bias` (hidden units,), `second` (hidden units,)
    or (hidden units, outputs), `offset` () or (outputs,). The first `size` rows of `first` belong
    to the states of the ninth layer, the rest to the mean state of the last layer.
    """

    first: Floats
    bias: Floats
    second: Floats
    offset: Floats

    @classmethod
    def of_scaled(
        cls,
        mean: Floats,
        spread: Floats,
        first: Floats,
        bias: Floats,
        second: Floats,
        offset: Floats,
    ) -> StateHead:
        """Return the head for a network that was fitted to (inputs - `mean`) / `spread`."""
        unscaled = first / spread[:, None]
        return cls(unscaled, bias - mean @ unscaled, second, offset)

    def scores(self, states: Floats, mean: Floats) -> Floats:
        """Return the logits for each row of `states`, shaped (length,) or (length, outputs).

        `states` has the shape (length, size), `mean` has (HIDDEN,).
        """
        size = states.shape[1]
        hidden = states @ self.first[:size] + (mean @ self.first[size:] + self.bias)
        return np.asarray(np.maximum(hidden, 0) @ self.second + self.offset, np.float32)

    def save(self, path: Path) -> None:
        """Write the weights to `path`, rounded to 16 bits except for `offset`."""
        np.savez_compressed(
            path,
            first=self.first.astype(np.float16),
            bias=self.bias.astype(np.float16),
            second=self.second.astype(np.float16),
            offset=np.float32(self.offset),
        )

    @classmethod
    def load(cls, path: Path) -> StateHead:
        """Read the weights that `save` wrote."""
        with np.load(path) as stored:
            return cls(
                *(stored[name].astype(np.float32) for name in ("first", "bias", "second", "offset"))
            )
