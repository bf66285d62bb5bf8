"""Estimate the relevance of texts to a question, and compute the recall scores of memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import signals
from memories.retrieval.query import Query, matched_concepts, matches_date
from memories.retrieval.ranking_types import Unit
from memories.retrieval.signals import Corpus, Counts
from memories.retrieval.weights import CosineScale, EvidenceWeights

Floats = NDArray[np.float64]

_USUAL_LENGTH = 1.8  # the usual logarithm of a text's word count


@dataclass(frozen=True)
class EvidenceFeatures:
    """The features of each text that indicate its relevance to a question.

    `dense` is the cosine. `matched` is the share of the question's words in the text, weighted by
    rarity. `rare` is the rarity (0-1) of the rarest matching word. `on_date` is 1 if the text is
    from a date in the question. `concept` is the share of the question's concepts that the text is
    about. `beside` is 1 if the question has concepts and the text is about none of them. `personal`
    is 1 if the question is about the user who asks it. `concept`, `beside` and `personal` are 0
    unless they were requested. `length` is the logarithm of the word count, minus its usual value
    and limited to ±1.
    """

    dense: Floats
    matched: Floats
    rare: Floats
    on_date: Floats
    concept: Floats
    personal: Floats
    beside: Floats
    length: Floats


def evidence_features(
    query: Query,
    units: Sequence[Unit],
    *,
    counts: Counts,
    corpus: Corpus,
    with_concepts: bool = False,
) -> EvidenceFeatures:
    """Compute the features of each text that indicate its relevance to the query.

    A text without a vector gets the cosine 0, so that only its words can make it relevant.
    """
    cosine = [0.0 if unit.cosine is None else unit.cosine for unit in units]
    concept = _concept_shares(query, units) if with_concepts else np.zeros(len(units))
    above = np.log1p(counts.length) - _USUAL_LENGTH
    return EvidenceFeatures(
        dense=np.array(cosine, dtype=float),
        matched=signals.matched_share(counts, corpus=corpus),
        rare=signals.rare_match(counts, corpus=corpus, terms=query.unusual),
        on_date=matches_date(query.dates, [unit.at for unit in units]),
        concept=concept,
        personal=np.full(len(units), float(with_concepts and query.asks_of_oneself)),
        beside=(concept == 0) * float(with_concepts and bool(query.concepts)),
        length=np.where(counts.length > 0, np.clip(above, -1.0, 1.0), 0.0),
    )


def evidence(
    query: Query, features: EvidenceFeatures, *, scale: CosineScale, weights: EvidenceWeights
) -> Floats:
    """Return the probability (0-1) that each text is relevant, by logistic regression.

    The relevance floor is 0.5; `docs/retrieval.md` gives the share of relevant texts above it, for
    the training data and for new questions. Each text is judged independently of the other texts,
    so all values are low if no text is related. Only the rarity of words depends on the other
    texts.
    """
    odds: Floats = np.sum(
        list(_odds(query, features, scale=scale, weights=weights).values()), axis=0
    )
    likely: Floats = 1 / (1 + np.exp(-odds))
    return likely


def feature_contributions(
    query: Query, features: EvidenceFeatures, *, scale: CosineScale, weights: EvidenceWeights
) -> dict[str, Floats]:
    """Return how much each feature contributes to the evidence.

    Together with the constant `even_odds` (0.5), the contributions sum to the evidence. The
    logistic function isn't additive, so the distance from 0.5 is divided in proportion to the
    log-odds.
    """
    odds = _odds(query, features, scale=scale, weights=weights)
    total: Floats = np.sum(list(odds.values()), axis=0)
    near = np.abs(total) < 1e-9
    slope = np.where(near, 0.25, (1 / (1 + np.exp(-total)) - 0.5) / np.where(near, 1.0, total))
    return {"even_odds": np.full(total.size, 0.5), **{name: slope * odds[name] for name in odds}}


def _odds(
    query: Query, features: EvidenceFeatures, *, scale: CosineScale, weights: EvidenceWeights
) -> dict[str, Floats]:
    """Return the contribution of each feature to the log-odds."""
    shift = scale.chinese if query.language == "zh" else 0.0
    relation = (features.dense - shift - scale.unrelated) / (scale.related - scale.unrelated)
    return {
        "bias": np.full(features.dense.size, weights.bias),
        "dense": weights.cosine * relation,
        "matched": weights.share * features.matched,
        "rare": weights.rare * features.rare,
        "on_date": weights.on_date * features.on_date,
        "concept": weights.concept * features.concept,
        "personal": weights.personal * features.personal,
        "beside": weights.beside * features.beside,
        "length": weights.length * features.length,
    }


def _concept_shares(query: Query, units: Sequence[Unit]) -> Floats:
    shares = [matched_concepts(query.concepts, unit.terms) for unit in units]
    return np.array(shares, dtype=float)


_DAY = 86_400.0
_DECAY_DAYS = 30.0
# The effect of a rating on the score: a positive rating makes up for slightly lower relevance, and
# a very negative rating outweighs recency or importance (by default, each adds at most 0.2).
_FEEDBACK = {"positive": 0.05, "negative": -0.1, "very_negative": -0.25}


@dataclass(frozen=True)
class ScoreWeights:
    relevance: float = 0.6
    recency: float = 0.2
    importance: float = 0.2


@dataclass(frozen=True)
class Score:
    """The score of a memory, with its weighted parts; `total` is their exact sum.

    `feedback` is the effect of the user's rating.
    """

    relevance: float
    recency: float
    importance: float
    feedback: float = 0.0

    @property
    def total(self) -> float:
        return self.relevance + self.recency + self.importance + self.feedback


def recency(since: datetime, *, now: datetime) -> float:
    """Return how recent a memory is: 1 if `since` is `now`, and e**-1 after 30 days.

    `since` is the time of the last access or, if there was none, of the creation.
    """
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
