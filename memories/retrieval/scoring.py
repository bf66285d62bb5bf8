"""The score of a memory in a recall, and its parts."""

from dataclasses import dataclass
from datetime import datetime
from math import exp

_DAY = 86_400.0
_DECAY_DAYS = 30.0
# The effect of a rating on the score: praise makes up for slightly lower relevance, and a memory
# rated very bad ranks below all others that fit the question equally well.
_FEEDBACK = {"positive": 0.05, "negative": -0.1, "very_negative": -0.25}


@dataclass(frozen=True)
class ScoreWeights:
    relevance: float = 0.6
    recency: float = 0.2
    importance: float = 0.2


@dataclass(frozen=True)
class Score:
    """The weighted parts and the effect of a rating. `total` is their exact sum."""

    relevance: float
    recency: float
    importance: float
    feedback: float = 0.0

    @property
    def total(self) -> float:
        return self.relevance + self.recency + self.importance + self.feedback


def recency(since: datetime, *, now: datetime) -> float:
    """Return 1 for now, e**-1 after 30 days. `since` is the last access, or else the creation."""
    days = max(0.0, (now - since).total_seconds() / _DAY)
    return exp(-days / _DECAY_DAYS)


def score(
    relevance: float,
    *,
    since: datetime,
    importance: float,
    now: datetime,
    weights: ScoreWeights | None = None,
    feedback: str = "",
) -> Score:
    weights = weights or ScoreWeights()
    return Score(
        relevance=weights.relevance * relevance,
        recency=weights.recency * recency(since, now=now),
        importance=weights.importance * importance,
        feedback=_FEEDBACK.get(feedback, 0.0),
    )
