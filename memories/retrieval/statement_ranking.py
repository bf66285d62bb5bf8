"""Rank texts that are complete in themselves: memories, notes, summaries."""

from collections.abc import Sequence
from dataclasses import asdict

from memories.retrieval import lexical
from memories.retrieval.evidence import evidence, parts, signs
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.units import Judged, Unit
from memories.retrieval.weights import CosineScale, Weights


def relevance(
    query: Query,
    units: Sequence[Unit],
    *,
    corpus: Corpus | None,
    scale: CosineScale,
    weights: Weights,
) -> Judged:
    """Return the evidence for each statement, so that a floor means the same in every pool."""
    counts = lexical.count_terms(
        query.terms, [unit.terms for unit in units], lengths=[unit.length for unit in units]
    )
    statistics = lexical.corpus_of(counts, known=corpus)
    found = signs(query, units, counts=counts, corpus=statistics, with_concepts=True)
    features = {"lexical": lexical.bm25(counts, corpus=statistics), **asdict(found)}
    return Judged(
        evidence(query, found, scale=scale.of_statements, weights=weights.statement),
        features,
        parts(query, found, scale=scale.of_statements, weights=weights.statement),
    )
