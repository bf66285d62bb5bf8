"""The probability that a text is relevant to the question, judged independently of the others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import concepts, dates, lexical
from memories.retrieval.lexical import Corpus, Counts
from memories.retrieval.query import Query
from memories.retrieval.units import Unit
from memories.retrieval.weights import CosineScale, EvidenceWeights

Floats = NDArray[np.float64]

_USUAL_LENGTH = 1.8


@dataclass(frozen=True)
class Signs:
    """The evidence for each text: cosine, share of the question's words, a rare word, its date.

    `concept` is the share of the question's concepts that the text is about. `beside` is 1 if the
    question has concepts and the text is about none of them. `personal` is 1 if the question is
    about the asking user. These three are 0 if they weren't computed. `length` is the log length
    above the usual one.
    """

    dense: Floats
    matched: Floats
    rare: Floats
    on_date: Floats
    concept: Floats
    personal: Floats
    beside: Floats
    length: Floats


def signs(
    query: Query,
    units: Sequence[Unit],
    *,
    counts: Counts,
    corpus: Corpus,
    with_concepts: bool = False,
) -> Signs:
    """Compute the signs. A unit without a vector counts as unrelated: only words can find it."""
    cosine = [0.0 if unit.cosine is None else unit.cosine for unit in units]
    concept = _spoken_of(query, units) if with_concepts else np.zeros(len(units))
    return Signs(
        dense=np.array(cosine, dtype=float),
        matched=lexical.matched_share(counts, corpus=corpus),
        rare=lexical.rare_match(counts, corpus=corpus, terms=query.unusual),
        on_date=dates.matches(query.dates, [unit.at for unit in units]),
        concept=concept,
        personal=np.full(len(units), float(with_concepts and query.asks_of_oneself)),
        beside=(concept == 0) * float(with_concepts and bool(query.concepts)),
        length=_length(counts),
    )


def evidence(query: Query, signs: Signs, *, scale: CosineScale, weights: EvidenceWeights) -> Floats:
    """Return 0-1 for each text: the logistic function of its weighted signs.

    0.5 is the floor; `docs/retrieval.md` gives the share of relevant texts above it, for the
    training data and for fresh questions. Each text is judged by itself: the rest of the pool can't
    raise its value, and it stays low if nothing is related. Only the rarity of words depends on all
    texts.
    """
    odds: Floats = np.sum(list(_odds(query, signs, scale=scale, weights=weights).values()), axis=0)
    likely: Floats = 1 / (1 + np.exp(-odds))
    return likely


def parts(
    query: Query, signs: Signs, *, scale: CosineScale, weights: EvidenceWeights
) -> dict[str, Floats]:
    """Return the contribution of each sign; together with the 0.5 of even odds they add up.

    The logistic function isn't additive, so the distance from 0.5 is divided in proportion to the
    log-odds.
    """
    odds = _odds(query, signs, scale=scale, weights=weights)
    total: Floats = np.sum(list(odds.values()), axis=0)
    near = np.abs(total) < 1e-9
    slope = np.where(near, 0.25, (1 / (1 + np.exp(-total)) - 0.5) / np.where(near, 1.0, total))
    return {"even_odds": np.full(total.size, 0.5), **{name: slope * odds[name] for name in odds}}


def _odds(
    query: Query, signs: Signs, *, scale: CosineScale, weights: EvidenceWeights
) -> dict[str, Floats]:
    """Return the summands of the log-odds."""
    shift = scale.chinese if query.language == "zh" else 0.0
    relation = (signs.dense - shift - scale.unrelated) / (scale.related - scale.unrelated)
    return {
        "bias": np.full(signs.dense.size, weights.bias),
        "dense": weights.cosine * relation,
        "matched": weights.share * signs.matched,
        "rare": weights.rare * signs.rare,
        "on_date": weights.on_date * signs.on_date,
        "concept": weights.concept * signs.concept,
        "personal": weights.personal * signs.personal,
        "beside": weights.beside * signs.beside,
        "length": weights.length * signs.length,
    }


def _spoken_of(query: Query, units: Sequence[Unit]) -> Floats:
    shares = [concepts.matched(query.concepts, unit.terms) for unit in units]
    return np.array(shares, dtype=float)


def _length(counts: Counts) -> Floats:
    """Return the log word count above the usual memory's, within ±1; 0 if it is unknown."""
    above = np.log1p(counts.length) - _USUAL_LENGTH
    return np.where(counts.length > 0, np.clip(above, -1.0, 1.0), 0.0)
