"""The score of a memory in a recall, and what it is made of."""

from dataclasses import dataclass
from datetime import datetime
from math import exp

_DAY = 86_400.0
_DECAY_DAYS = 30.0


@dataclass(frozen=True)
class ScoreWeights:
    relevance: float = 0.6
    recency: float = 0.2
    importance: float = 0.2


@dataclass(frozen=True)
class Score:
    """The three weighted parts. `total` is their sum, to the last digit."""

    relevance: float
    recency: float
    importance: float

    @property
    def total(self) -> float:
        return self.relevance + self.recency + self.importance


def recency(since: datetime, *, now: datetime) -> float:
    """1 at once, e**-1 after 30 days. `since` is the last access, or the creation before any."""
    days = max(0.0, (now - since).total_seconds() / _DAY)
    return exp(-days / _DECAY_DAYS)


def score(
    relevance: float,
    *,
    since: datetime,
    importance: float,
    now: datetime,
    weights: ScoreWeights | None = None,
) -> Score:
    weights = weights or ScoreWeights()
    return Score(
        relevance=weights.relevance * relevance,
        recency=weights.recency * recency(since, now=now),
        importance=weights.importance * importance,
    )
