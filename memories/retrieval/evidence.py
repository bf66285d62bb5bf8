"""How likely a text is about the question, by itself: not only better than its neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import dates, lexical
from memories.retrieval.lexical import Corpus, Counts
from memories.retrieval.query import Query
from memories.retrieval.units import Unit
from memories.retrieval.weights import CosineScale, EvidenceWeights

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signs:
    """What speaks for each text: cosine, share of the question's words, a rare word, its date."""

    dense: Floats
    matched: Floats
    rare: Floats
    on_date: Floats


def signs(query: Query, units: Sequence[Unit], *, counts: Counts, corpus: Corpus) -> Signs:
    """A unit that has no vector yet is taken for unrelated: its words alone can find it."""
    cosine = [0.0 if unit.cosine is None else unit.cosine for unit in units]
    return Signs(
        dense=np.array(cosine, dtype=float),
        matched=lexical.matched_share(counts, corpus=corpus),
        rare=lexical.rare_match(counts, corpus=corpus, terms=query.unusual),
        on_date=dates.matches(query.dates, [unit.at for unit in units]),
    )


def evidence(query: Query, signs: Signs, *, scale: CosineScale, weights: EvidenceWeights) -> Floats:
    """0-1 for each text: the logistic function of its weighted signs.

    0.5 is even odds. Unlike a score scaled over a pool, it stays low where nothing is related.
    """
    shift = scale.chinese if query.language == "zh" else 0.0
    relation = (signs.dense - shift - scale.unrelated) / (scale.related - scale.unrelated)
    odds = (
        weights.bias
        + weights.cosine * relation
        + weights.share * signs.matched
        + weights.rare * signs.rare
        + weights.on_date * signs.on_date
    )
    likely: Floats = 1 / (1 + np.exp(-odds))
    return likely
