"""Keyword ranking by BM25, over counts of the query's terms only."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

K1 = 0.9
B = 0.4


@dataclass(frozen=True)
class Corpus:
    """The BM25 statistics of all texts of a user, not only of those in the pool."""

    total: int
    average_length: float
    document_frequency: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Counts:
    """The counts of each query term in each document: `frequency` is documents x terms."""

    terms: tuple[str, ...]
    frequency: Floats
    length: Floats


def count_terms(
    terms: Sequence[str], documents: Sequence[Sequence[str]], *, lengths: Sequence[int] = ()
) -> Counts:
    """Count the terms. `lengths` gives full lengths if `documents` hold only matching terms."""
    wanted = tuple(dict.fromkeys(terms))
    place = {term: column for column, term in enumerate(wanted)}
    frequency = np.zeros((len(documents), len(wanted)))
    for row, document in enumerate(documents):
        for term in document:
            if term in place:
                frequency[row, place[term]] += 1
    given = lengths or [0] * len(documents)
    length = [most or len(document) for most, document in zip(given, documents, strict=True)]
    return Counts(wanted, frequency, np.array(length, dtype=float))


def corpus_of(counts: Counts, *, known: Corpus | None = None) -> Corpus:
    """Return the statistics of a complete pool, or known ones, completed by those of the pool."""
    documents = counts.length.size
    found = (counts.frequency > 0).sum(axis=0).tolist()
    frequency = known.document_frequency if known else {}
    average = float(counts.length.mean()) if documents else 0.0
    return Corpus(
        total=max(documents, known.total if known else 0),
        average_length=(known.average_length if known else 0.0) or average,
        document_frequency={
            term: max(here, frequency.get(term, 0))
            for term, here in zip(counts.terms, found, strict=True)
        },
    )


def idf(terms: Sequence[str], *, corpus: Corpus) -> Floats:
    """Return Lucene's IDF: never below 0, so that a word in most texts never lowers a score."""
    found = np.array([corpus.document_frequency.get(term, 0) for term in terms], dtype=float)
    total = max(float(corpus.total), float(found.max(initial=0.0)))
    weight: Floats = np.log1p((total - found + 0.5) / (found + 0.5))
    return weight


def bm25(counts: Counts, *, corpus: Corpus) -> Floats:
    """Return the BM25 score of each document (Robertson and Zaragoza 2009)."""
    norm = K1 * (1 - B + B * counts.length / (corpus.average_length or 1.0))
    saturated = counts.frequency * (K1 + 1) / (counts.frequency + norm[:, None])
    scores: Floats = saturated @ idf(counts.terms, corpus=corpus)
    return scores


def matched_share(counts: Counts, *, corpus: Corpus) -> Floats:
    """Return the share of the question that each document has, 0-1, weighted by rarity.

    Words that occur in no text count half: nothing could have matched them, but a question full of
    them is about something else.
    """
    weight = idf(counts.terms, corpus=corpus)
    absent = [not corpus.document_frequency.get(term) for term in counts.terms]
    weight = np.where(absent, weight / 2, weight)
    total = float(weight.sum())
    if not total:
        return np.zeros(counts.length.size)
    share: Floats = (counts.frequency > 0) @ weight / total
    return share


def rare_match(counts: Counts, *, corpus: Corpus, terms: Collection[str]) -> Floats:
    """Return 1 for a document with a unique term of `terms`; less, the more others share it."""
    weight = idf(counts.terms, corpus=corpus)
    only_one = np.log1p((max(corpus.total, 1) - 0.5) / 1.5)
    wanted = np.array([term in terms for term in counts.terms], dtype=bool)
    strength = np.minimum(weight / only_one, 1.0) * wanted
    match: Floats = ((counts.frequency > 0) * strength).max(axis=1, initial=0.0)
    return match
