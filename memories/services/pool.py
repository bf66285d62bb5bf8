"""From the database to plain units: the candidates among one person's texts of one type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Avg, Case, Count, F, Model, Q, QuerySet, When
from numpy.typing import NDArray

from memories.models import Fragment, LexicalEntry, TargetKind
from memories.retrieval import lexical
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.retrieval.units import Unit
from memories.services.indexing import active_space
from ops.models import User

NEAREST = 200
MATCHING = 1_000
WHOLE = 3_000  # up to this many of the person's texts of a type are all looked at


@dataclass(frozen=True)
class PreparedQuery:
    """What was asked, analysed and embedded before any transaction."""

    query: Query
    vector: NDArray[np.float32]

    @property
    def text(self) -> str:
        return self.query.text


@dataclass(frozen=True)
class Shelf:
    """One type of text: which rows are eligible and how a row becomes a unit.

    Where texts lean on their neighbours, a small shelf is a candidate as a `whole`, and to the
    candidates of a large one `neighbours` are added. Else they are the `nearest` by cosine and
    as many that share the most telling words.
    """

    kind: TargetKind
    eligible: QuerySet[Any]
    unit: Callable[[Any, list[str], float | None, int], Unit]
    nearest: int = NEAREST
    whole: bool = False
    neighbours: Callable[[Iterable[int]], set[int]] | None = None


@dataclass(frozen=True)
class Words:
    """What the keyword index says: matching terms and lengths by target, and the statistics."""

    terms: Mapping[int, list[str]]
    lengths: Mapping[int, int]
    total: int
    average: float


@dataclass(frozen=True)
class Pool:
    """`rows` are the loaded rows by the units' ids."""

    units: list[Unit]
    corpus: Corpus
    rows: Mapping[str, Model]


def store() -> VectorStore:
    return PgVectorStore()


def fill(prepared: PreparedQuery, shelf: Shelf, *, user: User) -> Pool:
    """The nearest by cosine and the matching by words, or everything when that is little."""
    words = _words(prepared.query, shelf, user=user)
    cosine = _nearest(prepared, shelf, user=user, limit=_limit(shelf, words))
    corpus = _corpus(prepared.query, words)
    ids = {*cosine, *_telling(prepared.query, words, corpus, shelf)}
    if shelf.neighbours is not None and words.total > WHOLE:
        ids |= shelf.neighbours(ids)
    lengths = _lengths(ids, words, shelf, user=user)
    units, rows = [], {}
    for pk, row in shelf.eligible.in_bulk(list(ids)).items():
        unit = shelf.unit(row, words.terms.get(pk, []), cosine.get(pk), lengths.get(pk, 0))
        units.append(unit)
        rows[unit.id] = row
    units.sort(key=lambda unit: unit.id)
    return Pool(units, corpus, rows)


def _limit(shelf: Shelf, words: Words) -> int:
    return WHOLE if shelf.whole and words.total <= WHOLE else shelf.nearest


def _telling(query: Query, words: Words, corpus: Corpus, shelf: Shelf) -> list[int]:
    """Those that share words with the question; of many the best by BM25."""
    found = list(words.terms)
    if shelf.whole or len(found) <= shelf.nearest:
        return found
    counts = lexical.count_terms(
        query.terms,
        [words.terms[pk] for pk in found],
        lengths=[words.lengths[pk] for pk in found],
    )
    scores = lexical.bm25(counts, corpus=corpus)
    best = np.argsort(-scores, kind="stable")[: shelf.nearest]
    return [found[place] for place in best]


def _lengths(ids: set[int], words: Words, shelf: Shelf, *, user: User) -> Mapping[int, int]:
    """With those of what only its vector found, where the index was not read as a whole."""
    missing = ids - words.lengths.keys()
    if not missing or words.total <= WHOLE:
        return words.lengths
    rows = LexicalEntry.objects.filter(
        user=user, target_kind=shelf.kind, target_id__in=list(missing)
    )
    return {**words.lengths, **dict(rows.values_list("target_id", "length"))}


def _nearest(prepared: PreparedQuery, shelf: Shelf, *, user: User, limit: int) -> dict[int, float]:
    eligible = shelf.eligible.order_by().values("pk")
    found = dict(
        store().nearest(
            prepared.vector,
            user_id=user.pk,
            space_id=active_space().pk,
            kind=shelf.kind,
            eligible=eligible,
            limit=limit,
        )
    )
    if shelf.kind == TargetKind.MEMORY:
        _raise_by_fragments(found, prepared, eligible, user=user)
    return found


def _raise_by_fragments(
    found: dict[int, float], prepared: PreparedQuery, eligible: QuerySet[Any], *, user: User
) -> None:
    """A long memory is as near as its nearest fragment."""
    pieces = Fragment.objects.filter(user=user, memory__in=eligible)
    if not pieces.exists():
        return
    near = store().nearest(
        prepared.vector,
        user_id=user.pk,
        space_id=active_space().pk,
        kind=TargetKind.FRAGMENT,
        eligible=pieces.values("pk"),
        limit=NEAREST,
    )
    owner = dict(Fragment.objects.filter(pk__in=list(near)).values_list("pk", "memory_id"))
    for fragment, cosine in near.items():
        memory = owner[fragment]
        found[memory] = max(cosine, found.get(memory, -1.0))


def _words(query: Query, shelf: Shelf, *, user: User) -> Words:
    """One statement for a person with few texts of this type; three for one with many."""
    entries = LexicalEntry.objects.filter(user=user, target_kind=shelf.kind).order_by()
    eligible = shelf.eligible.order_by().values("pk")
    overlap = Q(terms__overlap=list(query.terms), target_id__in=eligible)
    matching = Case(When(overlap, then=F("terms")), default=None)
    rows = list(
        entries.annotate(found=matching).values_list("target_id", "length", "found")[: WHOLE + 1]
    )
    if len(rows) > WHOLE:
        return _words_of_many(overlap, entries)
    lengths = {pk: length for pk, length, _ in rows}
    average = sum(lengths.values()) / max(1, len(lengths))
    terms = {pk: found for pk, _, found in rows if found is not None}
    return Words(terms, lengths, len(rows), average)


def _words_of_many(overlap: Q, entries: QuerySet[LexicalEntry]) -> Words:
    figures = entries.aggregate(total=Count("pk"), average=Avg("length"))
    rows = entries.filter(overlap).order_by("-target_id")
    found = list(rows.values_list("target_id", "length", "terms")[:MATCHING])
    return Words(
        terms={pk: terms for pk, _, terms in found},
        lengths={pk: length for pk, length, _ in found},
        total=figures["total"],
        average=figures["average"] or 0.0,
    )


def _corpus(query: Query, words: Words) -> Corpus:
    found = [set(terms) for terms in words.terms.values()]
    return Corpus(
        total=words.total,
        average_length=words.average,
        document_frequency={term: sum(term in terms for terms in found) for term in query.terms},
    )
