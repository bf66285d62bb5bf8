"""How likely a text is about the question, by itself: not only better than its neighbours."""

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


@dataclass(frozen=True)
class Signs:
    """What speaks for each text: cosine, share of the question's words, a rare word, its date.

    `concept` is the share of the question's concepts that it speaks of; 0 where not looked at.
    """

    dense: Floats
    matched: Floats
    rare: Floats
    on_date: Floats
    concept: Floats


def signs(
    query: Query,
    units: Sequence[Unit],
    *,
    counts: Counts,
    corpus: Corpus,
    with_concepts: bool = False,
) -> Signs:
    """A unit that has no vector yet is taken for unrelated: its words alone can find it."""
    cosine = [0.0 if unit.cosine is None else unit.cosine for unit in units]
    return Signs(
        dense=np.array(cosine, dtype=float),
        matched=lexical.matched_share(counts, corpus=corpus),
        rare=lexical.rare_match(counts, corpus=corpus, terms=query.unusual),
        on_date=dates.matches(query.dates, [unit.at for unit in units]),
        concept=_spoken_of(query, units) if with_concepts else np.zeros(len(units)),
    )


def evidence(query: Query, signs: Signs, *, scale: CosineScale, weights: EvidenceWeights) -> Floats:
    """0-1 for each text: the logistic function of its weighted signs.

    0.5 is the floor, learned so that nine in ten of what bears on a question pass it. Each text is
    judged by itself: what else stands in the pool can't raise it, and it stays low where nothing
    is related. Only how rare a word is comes from all the texts.
    """
    shift = scale.chinese if query.language == "zh" else 0.0
    relation = (signs.dense - shift - scale.unrelated) / (scale.related - scale.unrelated)
    odds = (
        weights.bias
        + weights.cosine * relation
        + weights.share * signs.matched
        + weights.rare * signs.rare
        + weights.on_date * signs.on_date
        + weights.concept * signs.concept
    )
    likely: Floats = 1 / (1 + np.exp(-odds))
    return likely


def _spoken_of(query: Query, units: Sequence[Unit]) -> Floats:
    shares = [concepts.matched(query.concepts, unit.terms) for unit in units]
    return np.array(shares, dtype=float)
