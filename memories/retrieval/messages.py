"""Rank messages and episodes, which depend on their surrounding messages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from memories.retrieval import rerank, signals
from memories.retrieval.evidence import EvidenceFeatures, evidence, evidence_features
from memories.retrieval.query import Query
from memories.retrieval.ranking_types import ScoredPool, Unit
from memories.retrieval.signals import Corpus, Counts, scale_scores
from memories.retrieval.weights import RECIPE, CosineScale, MessageWeights, Weights

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# Matched as plain substrings, because a regular expression took ten times as long as the rest of
# the ranking.
_TIME_WORDS = (
    *(
        "yesterday",
        "today",
        "tonight",
        "tomorrow",
        "ago",
        "last ",
        "next ",
        "week",
        "month",
        "year",
    ),
    *("day", "january", "february", "march", "april", " may ", "june", "july", "august"),
    *("september", "october", "november", "december", " 19", " 20"),
    *(
        "昨天",
        "今天",
        "明天",
        "前天",
        "后天",
        "今晚",
        "昨晚",
        "周",
        "星期",
        "月",
        "号",
        "年",
        "天前",
    ),
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|dozen"
    r"|couple)\b|[一二两兩三四五六七八九十百千万萬]",
    re.IGNORECASE,
)
_ALL = tuple(one.name for one in fields(MessageWeights))
# The vector of a message is mixed with those of its neighbours, which have the weight .4 each. The
# vectors aren't available here, so the length of the mixed vector is estimated from the mean cosine
# of neighbouring turns, about .25. Exact cosines don't improve the ranking.
_MIX = 0.4
_NEIGHBOURS_ALIKE = 0.25


@dataclass(frozen=True)
class _Neighbourhood:
    """The index of the message before and after each message, and the index of its session.

    A neighbour that isn't in the pool has the number of messages as its index (see `_values_at`).
    """

    before: Places
    after: Places
    session: Places


def relevance(
    query: Query,
    units: Sequence[Unit],
    *,
    corpus: Corpus | None,
    scale: CosineScale,
    weights: Weights,
) -> ScoredPool:
    """Return the relevance of each message or episode.

    Texts are ranked by the weighted sum of their features, corrected by decision trees. The result
    is scaled over the pool, so that the best message gets the pool's highest evidence and the worst
    message gets 0.
    """
    features, found = features_of(query, units, corpus=corpus)
    weighed = _weighted(features, names=_ALL, weights=weights.message)
    features |= rerank.rank_features(weighed)
    reranked = rerank.rerank_best(features, weighed=weighed, asked=rerank.question_features(query))
    best = evidence(query, found, scale=scale, weights=weights.evidence).max(initial=0.0)
    judged = scale_scores(reranked.total, alike=1.0) * best
    # A contribution is the weighted feature plus its part in the correction by the decision trees
    # (`rerank.rerank_best`).
    width = _width(weighed)
    by_weight = {name: getattr(weights.message, name) / width if width else 0.0 for name in _ALL}
    added = {name: by_weight[name] * features[name] for name in _ALL}
    for name, values in reranked.added.items():
        added[name] = added.get(name, 0.0) + values
    # Scale the contributions so that they and `pool` add up to the relevance. The relevance is
    # scaled over the pool of candidates; `pool` is the offset from this scaling.
    whole = _width(reranked.total)
    stretch = float(judged.max(initial=0.0)) / whole if whole else 0.0
    parts = {name: stretch * values for name, values in added.items()}
    pool = judged - np.sum(list(parts.values()), axis=0)
    return ScoredPool(judged, features, {"pool": pool, **parts})


def _width(values: Floats) -> float:
    """Return the range of the values; 0 if all are equal (see `scale_scores`)."""
    width = float(values.max(initial=-np.inf) - values.min(initial=np.inf)) if values.size else 0.0
    return width if width >= 1e-12 else 0.0


def features_of(
    query: Query, units: Sequence[Unit], *, corpus: Corpus | None = None
) -> tuple[dict[str, Floats], EvidenceFeatures]:
    """Return the features that `MessageWeights` weights, and the underlying evidence features."""
    around = _neighbourhood_of(units)
    counts = signals.count_terms(
        query.terms, [unit.terms for unit in units], lengths=[unit.length for unit in units]
    )
    statistics = signals.corpus_of(counts, known=corpus)
    found = evidence_features(query, units, counts=counts, corpus=statistics)
    doubled = replace(statistics, average_length=2 * statistics.average_length)
    with_previous = signals.bm25(_with_previous(counts, around=around), corpus=doubled)
    size = int(around.session.max(initial=-1)) + 1
    frequency = np.zeros((size, len(counts.terms)))
    np.add.at(frequency, around.session, counts.frequency)
    length = np.zeros(size)
    np.add.at(length, around.session, counts.length)
    sessions = Counts(counts.terms, frequency, length)
    scores: Floats = signals.bm25(sessions, corpus=signals.corpus_of(sessions))[around.session]
    features = {
        "lexical": scale_scores(signals.bm25(counts, corpus=statistics)),
        "lexical_previous": scale_scores(with_previous),
        "dense": scale_scores(found.dense),
        "dense_mix": scale_scores(_mixed(found.dense, around=around)),
        "on_date": found.on_date,
        "share": found.matched,
        "session_words": scale_scores(scores),
    }
    words = np.array([unit.length or len(unit.terms) for unit in units], dtype=float)
    asks = np.array(["?" in unit.text or "？" in unit.text for unit in units], dtype=float)
    features |= {
        "named_speaker": _by_named_speaker(query, units),
        "length": signals.standardise(np.log1p(words)),
        "question": asks,
        "after_question": _values_at(asks, around.before),
        "tells_when": _tells_when(query, units),
        "number": _tells_a_number(query, units),
    }
    # Add the features of a message's neighbours and session, using the weights of `RECIPE`.
    said = ("lexical", "lexical_previous", "dense", "dense_mix", "on_date")
    total = _weighted(features, names=said, weights=RECIPE)
    features["neighbour"] = _values_at(total, around.before) + _values_at(total, around.after)
    total = total + _weighted(features, names=("neighbour", "named_speaker"), weights=RECIPE)
    features["session"] = signals.best_mean_of_group(total, groups=around.session)
    return features, found


def _weighted(
    features: Mapping[str, Floats], *, names: Sequence[str], weights: MessageWeights
) -> Floats:
    parts: list[Floats] = [getattr(weights, name) * features[name] for name in names]
    total: Floats = np.sum(parts, axis=0)
    return total


def _neighbourhood_of(units: Sequence[Unit]) -> _Neighbourhood:
    place = {(unit.conversation, unit.position): row for row, unit in enumerate(units)}
    sessions: dict[str, int] = {}
    session = [sessions.setdefault(_session(unit), len(sessions)) for unit in units]

    def neighbour(row: int, step: int) -> int:
        unit, absent = units[row], len(units)
        found = place.get((unit.conversation, (unit.position or 0) + step), absent)
        return found if found == absent or session[found] == session[row] else absent

    rows = range(len(units))
    return _Neighbourhood(
        before=np.array([neighbour(row, -1) for row in rows], dtype=np.int64),
        after=np.array([neighbour(row, 1) for row in rows], dtype=np.int64),
        session=np.array(session, dtype=np.int64),
    )


def _session(unit: Unit) -> str:
    return unit.session or f"{unit.conversation} {unit.at.date() if unit.at else ''}"


def _values_at(values: Floats, places: Places) -> Floats:
    """Return the values at these indexes, and 0 for an index that equals the number of values."""
    taken: Floats = np.append(values, 0.0)[places]
    return taken


def _with_previous(counts: Counts, *, around: _Neighbourhood) -> Counts:
    """Add the counts of the previous message, since an answer often lacks the question's words."""
    frequency = np.vstack([counts.frequency, np.zeros((1, len(counts.terms)))])
    return Counts(
        terms=counts.terms,
        frequency=counts.frequency + frequency[around.before],
        length=counts.length + _values_at(counts.length, around.before),
    )


def _mixed(cosine: Floats, *, around: _Neighbourhood) -> Floats:
    """Return the approximate cosine of a message mixed with its neighbours.

    The result is computed from the cosines of the message and its neighbours. Each neighbour has
    the weight `_MIX`.
    """
    absent = cosine.size
    both = (around.before < absent) & (around.after < absent)
    neighbours = (around.before < absent).astype(float) + (around.after < absent)
    alike = 2 * _NEIGHBOURS_ALIKE * (_MIX * neighbours + _MIX**2 * both)
    length = np.sqrt(1 + _MIX**2 * neighbours + alike)
    mixed: Floats = cosine + _MIX * (
        _values_at(cosine, around.before) + _values_at(cosine, around.after)
    )
    return mixed / length


def _by_named_speaker(query: Query, units: Sequence[Unit]) -> Floats:
    """Return 1 for messages by the speaker whom the question names, otherwise 0.

    All values are 0 unless the question names exactly one speaker.
    """
    if len(query.named) != 1:
        return np.zeros(len(units))
    name = query.named[0].strip().casefold()
    return np.array([unit.speaker.strip().casefold() == name for unit in units], dtype=float)


def _tells_when(query: Query, units: Sequence[Unit]) -> Floats:
    if not query.asks_when:
        return np.zeros(len(units))
    texts = [unit.text.lower() for unit in units]
    tells = [any(word in text for word in _TIME_WORDS) for text in texts]
    return np.array(tells, dtype=float)


def _tells_a_number(query: Query, units: Sequence[Unit]) -> Floats:
    if not query.asks_how_many:
        return np.zeros(len(units))
    return np.array([_NUMBER.search(unit.text) is not None for unit in units], dtype=float)
