"""From a pool of units to a ranking, dense and lexical together."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import messages, statements
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.units import Ranked, Unit
from memories.retrieval.weights import COSINE_SCALES, DEFAULT, CosineScale, Weights

Floats = NDArray[np.float64]


def rank(
    query: Query,
    units: Sequence[Unit],
    *,
    corpus: Corpus | None = None,
    scale: CosineScale = COSINE_SCALES["usem3"],
    weights: Weights = DEFAULT,
    limit: int | None = None,
) -> list[Ranked]:
    """The units by relevance, best first; at most `limit` of them.

    `units` are the candidates of one user: all of them, or the nearest by cosine together with
    the lexical matches and, for messages, their neighbours. `corpus` tells of the rest, where the
    pool isn't all there is. Equal relevance keeps the order given.
    """
    ranked: list[tuple[float, int, Ranked]] = []
    for kind, places in _grouped(units).items():
        members = [units[place] for place in places]
        relevance, features = (messages if kind else statements).relevance(
            query, members, corpus=corpus, scale=scale, weights=weights
        )
        for row in _best(relevance, limit=limit):
            found = Ranked(members[row], float(relevance[row]), _row(features, row))
            ranked.append((-found.relevance, places[row], found))
    ranked.sort(key=lambda each: each[:2])
    return [found for _, _, found in ranked[:limit]]


def _grouped(units: Sequence[Unit]) -> dict[str, list[int]]:
    """The places of each type that stands in a sequence, and under "" those of all the others."""
    groups: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        kind = "" if unit.position is None else unit.type
        groups.setdefault(kind, []).append(place)
    return groups


def _best(relevance: Floats, *, limit: int | None) -> list[int]:
    best: list[int] = np.argsort(-relevance, kind="stable")[:limit].tolist()
    return best


def _row(features: Mapping[str, Floats], row: int) -> dict[str, float]:
    return {name: round(float(values[row]), 4) for name, values in features.items()}
