"""What retrieval is given and what it gives back: plain values, one user's at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that can be found.

    `terms` are those of `segment.terms(text)`. A caller may send only those that the query has
    too, or none, but then the number of all in `length`, which counts as a sign by itself.
    `cosine` is to the vector of `Query.dense_text` (None while there is no vector). The last four
    are for what stands in a sequence, messages and episodes: `position` counts them in their
    conversation, `session` groups what was said on one day of it (made from `at` where empty),
    `speaker` is a name where the product gave one.
    """

    type: str  # memory | message | episode | summary | note
    id: str
    text: str
    terms: Sequence[str]
    cosine: float | None = None
    length: int = 0
    at: datetime | None = None
    conversation: str = ""
    position: int | None = None
    session: str = ""
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit with its relevance (0-1) and the features it was made of, as they are shown.

    `parts` is what each of them added: their sum is the relevance.
    """

    unit: Unit
    relevance: float
    features: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def components(self) -> dict[str, float]:
        """Both together, the parts as `part_…`."""
        added = {f"part_{name}": value for name, value in self.parts.items()}
        return {**self.features, **added}


@dataclass(frozen=True, slots=True)
class Judged:
    """A value for each unit of a pool. The `parts` add up to the `relevance`."""

    relevance: NDArray[np.float64]
    features: Mapping[str, NDArray[np.float64]]
    parts: Mapping[str, NDArray[np.float64]]
