"""Ranking what stands for itself: memories, notes, summaries."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import lexical
from memories.retrieval.evidence import evidence, signs
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.units import Unit
from memories.retrieval.weights import CosineScale, Weights

Floats = NDArray[np.float64]


def relevance(
    query: Query,
    units: Sequence[Unit],
    *,
    corpus: Corpus | None,
    scale: CosineScale,
    weights: Weights,
) -> tuple[Floats, Mapping[str, Floats]]:
    """The evidence for each statement, so that a floor means the same in every pool."""
    counts = lexical.count_terms(
        query.terms, [unit.terms for unit in units], lengths=[unit.length for unit in units]
    )
    statistics = lexical.corpus_of(counts, known=corpus)
    found = signs(query, units, counts=counts, corpus=statistics, with_concepts=True)
    features = {"lexical": lexical.bm25(counts, corpus=statistics), **asdict(found)}
    return evidence(query, found, scale=scale, weights=weights.evidence), features
