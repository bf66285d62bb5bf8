"""The input and the results of ranking, always for a single user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Unit:
    """A text to rank.

    `terms` is the result of `segment.terms(text)`. A caller may pass only the terms that also occur
    in the query, or none, but must then pass the total number of terms as `length`, which is itself
    a feature. `cosine` is the cosine similarity to the vector of `Query.dense_text`, or None if the
    text has no vector.

    The last four fields are for messages and episodes, which have an order: `position` is their
    number in the conversation, `session` groups a conversation's messages of a day (derived from
    `at` if empty), and `speaker` is the speaker's name, if known.
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
    """A text with its relevance (0-1) and the features that explain its relevance.

    `parts` holds the contribution of each feature; the contributions add up to the relevance.
    """

    unit: Unit
    relevance: float
    features: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def components(self) -> dict[str, float]:
        """Return the features, and the contributions with the prefix `part_`."""
        added = {f"part_{name}": value for name, value in self.parts.items()}
        return {**self.features, **added}


@dataclass(frozen=True, slots=True)
class ScoredPool:
    """The relevance, features and contributions for all texts of a pool, as arrays.

    The contributions in `parts` add up to the relevance.
    """

    relevance: NDArray[np.float64]
    features: Mapping[str, NDArray[np.float64]]
    parts: Mapping[str, NDArray[np.float64]]
