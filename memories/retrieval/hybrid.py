"""Rank texts by vector similarity combined with matching words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import messages
from memories.retrieval.evidence import evidence, evidence_features, feature_contributions
from memories.retrieval.query import Query
from memories.retrieval.ranking_types import Ranked, ScoredPool, Unit
from memories.retrieval.signals import Corpus, bm25, corpus_of, count_terms
from memories.retrieval.weights import COSINE_SCALES, DEFAULT, CosineScale, Weights

Floats = NDArray[np.float64]
_ABOUT_SUBJECT = 0.9  # minimum relevance of a text that names the question's subject


def rank(
    query: Query,
    units: Sequence[Unit],
    *,
    corpus: Corpus | None = None,
    scale: CosineScale = COSINE_SCALES["usem3"],
    weights: Weights = DEFAULT,
    limit: int | None = None,
    least: float = 0.0,
    always: Collection[str] = (),
) -> list[Ranked]:
    """Rank the texts by relevance, best first, and return at most `limit`.

    Texts with a relevance below `least` are dropped, except texts whose ids are in `always`.

    `units` are the candidates from a user's texts: all texts, or the nearest by cosine together
    with those that share words with the query and, for messages, their neighbours. `corpus` holds
    the statistics of all texts; it is needed if `units` is only a part of the texts. Texts of equal
    relevance keep their order.
    """
    ranked: list[tuple[float, int, Ranked]] = []
    for kind, places in _grouped(units).items():
        members = [units[place] for place in places]
        judged = (messages.relevance if kind else _relevance)(
            query, members, corpus=corpus, scale=scale, weights=weights
        )
        order = np.argsort(-judged.relevance, kind="stable")[:limit]
        best: list[int] = [
            row
            for row in order.tolist()
            if judged.relevance[row] >= least or members[row].id in always
        ]
        if not best:
            continue
        shown = zip(
            best,
            judged.relevance[best].tolist(),
            _rows(judged.features, best, digits=4),
            _rows(judged.parts, best, digits=9),
            strict=True,
        )
        for row, share, features, explained in shown:
            found = Ranked(members[row], share, features, explained)
            ranked.append((-share, places[row], found))
    ranked.sort(key=lambda each: each[:2])
    return [found for _, _, found in ranked[:limit]]


def _grouped(units: Sequence[Unit]) -> dict[str, list[int]]:
    """Group the indexes of units by type; units without a `position` are grouped under ""."""
    groups: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        kind = "" if unit.position is None else unit.type
        groups.setdefault(kind, []).append(place)
    return groups


def _rows(
    columns: Mapping[str, Floats], rows: Sequence[int], *, digits: int
) -> list[dict[str, float]]:
    table = np.stack([values[rows] for values in columns.values()], axis=1).round(digits)
    return [dict(zip(columns, row, strict=True)) for row in table.tolist()]


def _relevance(
    query: Query,
    units: Sequence[Unit],
    *,
    corpus: Corpus | None,
    scale: CosineScale,
    weights: Weights,
) -> ScoredPool:
    """Return the relevance of units that have no order, such as memories.

    Each unit is judged independently, so a relevance floor means the same in every pool.
    """
    counts = count_terms(
        query.terms, [unit.terms for unit in units], lengths=[unit.length for unit in units]
    )
    statistics = corpus_of(counts, known=corpus)
    found = evidence_features(query, units, counts=counts, corpus=statistics, with_concepts=True)
    features = {"lexical": bm25(counts, corpus=statistics), **asdict(found)}
    judged = evidence(query, found, scale=scale.of_statements, weights=weights.statement)
    explained = feature_contributions(
        query, found, scale=scale.of_statements, weights=weights.statement
    )
    if query.subject:
        raised = np.maximum(judged, _ABOUT_SUBJECT * _names_subject(query, units))
        judged, explained = raised, {**explained, "subject": raised - judged}
    return ScoredPool(judged, features, explained)


def _names_subject(query: Query, units: Sequence[Unit]) -> Floats:
    """Return 1 for each text that contains all terms of the query's subject, otherwise 0."""
    wanted = frozenset(query.subject)
    return np.array([wanted.issubset(unit.terms) for unit in units], dtype=float)
