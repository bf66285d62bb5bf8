"""From the database to plain units: the candidates among one person's texts of one type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Avg, Count, Model, QuerySet
from numpy.typing import NDArray

from memories.models import Fragment, LexicalEntry, TargetKind
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.retrieval.units import Unit
from memories.services.indexing import active_space
from ops.models import User

NEAREST = 200
MATCHING = 1_000
WHOLE = 3_000  # below this all rows are candidates, and neighbours are always among them


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
    """One type of text: which rows are eligible and how a row becomes a unit."""

    kind: TargetKind
    eligible: QuerySet[Any]
    unit: Callable[[Any, list[str], float | None, int], Unit]
    neighbours: Callable[[Iterable[int]], set[int]] | None = None


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
    cosine = _nearest(prepared, shelf, user=user)
    words = _matching(prepared.query, shelf, user=user)
    ids = {*cosine, *words}
    if shelf.neighbours is not None and len(cosine) > NEAREST:
        ids |= shelf.neighbours(ids)
    lengths = _lengths(ids, shelf, user=user)
    units, rows = [], {}
    for pk, row in shelf.eligible.in_bulk(list(ids)).items():
        unit = shelf.unit(row, words.get(pk, []), cosine.get(pk), lengths.get(pk, 0))
        units.append(unit)
        rows[unit.id] = row
    units.sort(key=lambda unit: unit.id)
    return Pool(units, _corpus(prepared.query, words, kind=shelf.kind, user=user), rows)


def _nearest(prepared: PreparedQuery, shelf: Shelf, *, user: User) -> dict[int, float]:
    eligible = shelf.eligible.order_by().values("pk")
    limit = WHOLE if _is_small(shelf, user=user) else NEAREST
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


def _is_small(shelf: Shelf, *, user: User) -> bool:
    return shelf.eligible.order_by()[: WHOLE + 1].count() <= WHOLE


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


def _matching(query: Query, shelf: Shelf, *, user: User) -> dict[int, list[str]]:
    if not query.terms:
        return {}
    rows = LexicalEntry.objects.filter(
        user=user,
        target_kind=shelf.kind,
        terms__overlap=list(query.terms),
        target_id__in=shelf.eligible.order_by().values("pk"),
    ).order_by("-target_id")
    return dict(rows.values_list("target_id", "terms")[:MATCHING])


def _lengths(ids: Iterable[int], shelf: Shelf, *, user: User) -> dict[int, int]:
    """How many words each text has, also where none of them was asked for."""
    rows = LexicalEntry.objects.filter(user=user, target_kind=shelf.kind, target_id__in=list(ids))
    return dict(rows.values_list("target_id", "length"))


def _corpus(
    query: Query, words: Mapping[int, list[str]], *, kind: TargetKind, user: User
) -> Corpus:
    entries = LexicalEntry.objects.filter(user=user, target_kind=kind)
    figures = entries.aggregate(total=Count("pk"), average=Avg("length"))
    found = [set(terms) for terms in words.values()]
    return Corpus(
        total=figures["total"],
        average_length=figures["average"] or 0.0,
        document_frequency={term: sum(term in terms for terms in found) for term in query.terms},
    )
