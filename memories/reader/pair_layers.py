"""Compare an earlier statement with a later message, using two layers trained for this task.

The layers read the hidden states of the encoder's ninth layer. `training/pair_layers.py` trains and
saves them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memories.reader.sessions import open_session
from memories.reader.statements import PAIRS, sigmoid, softmax
from memories.reader.tokenizer import Token

FILE = "pairs.onnx"
_EDITED = 0.5  # minimum probability at which a token counts as wrong or right
_SURE = 0.8  # minimum probability of the most certain token of a span
_MARGIN = 0.02  # a later run is preferred only if its probability is higher by this margin
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class PairComparison:
    """How a later message relates to an earlier statement.

    `relations` maps each name in `PAIRS` to its probability. `wrong` is the span in the statement
    that the message corrects, and `right` the span in the message that replaces it; both are None
    unless the model finds both.
    """

    relations: dict[str, float]
    wrong: tuple[int, int] | None = None
    right: tuple[int, int] | None = None

    @property
    def replaces(self) -> float:
        """Return the probability that the message states a different value."""
        return self.relations["newer"] + self.relations["contradicts"]

    @property
    def changes(self) -> float:
        """Return the probability that the message gives a different value or ends the statement."""
        return self.replaces + self.relations["ended"]


class PairLayers:
    """The two layers with their heads. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._session = open_session(folder / FILE)
        if tuple(self._session.get_modelmeta().custom_metadata_map["pairs"].split()) != PAIRS:
            raise ValueError("The file of the pair layers answers another question.")

    def compare(
        self, states: Floats, first: list[Token | None], second: list[Token | None]
    ) -> PairComparison:
        """Compare two texts.

        `states` holds the hidden states of all positions, with the shape (length, HIDDEN). `first`
        and `second` each hold the tokens of one text at their positions, and None elsewhere.
        """
        mask = np.ones((1, len(states)), np.int64)
        relations, edits = self._session.run(
            ["relations", "edits"], {"states": states[None], "mask": mask}
        )
        shares = sigmoid(edits[0])
        wrong, right = (_edited_span(tokens, shares) for tokens in (first, second))
        if wrong is None or right is None:
            wrong = right = None
        return PairComparison(
            dict(zip(PAIRS, softmax(relations[0]).tolist(), strict=True)), wrong, right
        )


def _edited_span(tokens: list[Token | None], shares: Floats) -> tuple[int, int] | None:
    """Return the span of the most certain run of edited tokens.

    A token counts as edited from the probability `_EDITED`. Return None if none reaches `_SURE`.
    """
    best: tuple[int, int] | None = None
    surest, last, run = _SURE, -2, (0, 0)
    for place, (token, share) in enumerate(zip(tokens, shares, strict=True)):
        if token is None or share < _EDITED:
            continue
        run = (run[0], token.end) if place == last + 1 else (token.start, token.end)
        if best is not None and run[0] == best[0]:
            best = run
        if share >= surest + _MARGIN * (best is not None):
            best, surest = run, share
        last = place
    return best
