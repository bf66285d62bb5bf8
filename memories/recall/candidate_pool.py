"""Read the candidates among a user's texts of a type, and turn the rows into plain units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memcenter.lib.database import statements
from memcenter.lib.database.statements import Sql
from memories.indexing import milvus_sync
from memories.indexing.embedder_choice import Identity
from memories.models import TargetKind
from memories.recall import keyword_matches
from memories.recall.keyword_matches import Words, read_words
from memories.retrieval import dense, lexical
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.retrieval.units import Unit
from ops.models import User

NEAREST = 200


@dataclass(frozen=True)
class PreparedQuery:
    """A query, analysed and embedded before any transaction.

    It is compared only with vectors of the same embedder, even while another one takes over.
    """

    query: Query
    vector: NDArray[np.float32]
    made_by: Identity

    @property
    def text(self) -> str:
        return self.query.text


class FoundRow(Protocol):
    """The interface of all types' rows."""

    @property
    def pk(self) -> int: ...


class Towards(Protocol):
    def __call__(self, vector: NDArray[np.float32], *, model: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class Shelf:
    """A type of text: which rows are eligible, and how a row becomes a unit.

    In a query, `table` is named `r`; `joined` has its joins, `eligible` its conditions, and
    `columns` the arguments of `row`. For texts that depend on their neighbours, a small shelf is a
    candidate as a `whole`, and `neighbours` adds rows to the candidates of a large one. Otherwise
    the candidates are the `nearest` by cosine and as many again by shared distinctive words. `also`
    selects, by further conditions and an order, eligible rows that are loaded whatever the query.
    `towards` moves the query vector to where texts of this type lie.
    """

    kind: TargetKind
    table: str
    eligible: Sql
    columns: str
    row: Callable[[Iterable[Any]], FoundRow]
    unit: Callable[[Any, list[str], float | None, int], Unit]
    joined: str = ""
    nearest: int = NEAREST
    whole: bool = False
    neighbours: Callable[[Iterable[int]], set[int]] | None = None
    also: str = ""
    towards: Towards = dense.towards_statements

    @property
    def source(self) -> str:
        return f"{self.table} r {self.joined}"

    @property
    def ids(self) -> Sql:
        """The query for the ids of the eligible rows."""
        text = f"SELECT r.id FROM {self.source} WHERE {self.eligible.text}"
        return Sql(text, self.eligible.values)


@dataclass(frozen=True)
class Pool:
    """The candidates: `rows` are keyed by unit id, `others` come from `Shelf.also` only."""

    units: list[Unit]
    corpus: Corpus
    rows: Mapping[str, FoundRow]
    others: Sequence[FoundRow] = ()


def store(words: Words) -> VectorStore:
    return milvus_sync.searched() if words.elsewhere else PgVectorStore()


def fill(prepared: PreparedQuery, shelf: Shelf, *, user: User) -> Pool:
    """Return the nearest texts by cosine and those matching by words, or all if there are few.

    This takes three statements, for words, vectors and rows; it takes more only if there are
    fragments or very many texts.
    """
    words = read_words(prepared, shelf, user=user)
    if not words.corpus.total:
        return Pool([], words.corpus, {}, [row for row, _ in _load(shelf, (), user=user)])
    cosine, said_before = _nearest(prepared, shelf, words, user=user)
    ids = {*cosine, *_telling(words, shelf)}
    if words.corpus.total > keyword_matches.WHOLE:
        ids |= _on_dates(prepared.query, shelf)
        ids |= shelf.neighbours(ids) if shelf.neighbours else set()
    units: list[Unit] = []
    rows: dict[str, FoundRow] = {}
    others: list[FoundRow] = []
    for row, length in _load(shelf, ids, user=user):
        if row.pk not in ids:
            others.append(row)
            continue
        terms = [*words.terms_of(row.pk), *said_before.get(row.pk, ())]
        unit = shelf.unit(row, terms, cosine.get(row.pk), length)
        units.append(unit)
        rows[unit.id] = row
    units.sort(key=lambda unit: unit.id)
    return Pool(units, words.corpus, rows, others)


# Each row is fetched by its key, and its entry by that key: a planner that expects a user to have a
# single row would scan all of them for each. OFFSET 0 keeps the user's conditions out of the
# subquery.
_BY_KEY = """
SELECT coalesce((SELECT e.length FROM memories_lexicalentry e
                  WHERE e.user_id = %s AND e.target_kind = %s AND e.target_id = r.id), 0), {columns}
  FROM (SELECT DISTINCT unnest({ids})) AS wanted(id)
 CROSS JOIN LATERAL (SELECT * FROM {table} one WHERE one.id = wanted.id OFFSET 0) r {joined}
 WHERE {eligible}
"""


def _load(shelf: Shelf, ids: Iterable[int], *, user: User) -> list[tuple[FoundRow, int]]:
    """Return the rows that are still eligible, each with its number of words."""
    wanted = Sql("%s::bigint[]", (sorted(ids),))
    if not wanted.values[0] and not shelf.also:
        return []
    if shelf.also:
        text = f"%s::bigint[] || ARRAY({shelf.ids.text} {shelf.also})"
        wanted = Sql(text, (*wanted.values, *shelf.ids.values))
    found = statements.rows(
        _BY_KEY.format(
            columns=shelf.columns,
            ids=wanted.text,
            table=shelf.table,
            joined=shelf.joined,
            eligible=shelf.eligible.text,
        ),
        [user.pk, shelf.kind.value, *wanted.values, *shelf.eligible.values],
    )
    return [(shelf.row(values), length) for length, *values in found]


def _on_dates(query: Query, shelf: Shelf) -> set[int]:
    """Return the newest texts of the days, months or years that the query names."""
    told = shelf.kind == TargetKind.MEMORY
    moment = f"({'coalesce(r.occurred_at, r.created_at)' if told else 'r.created_at'})"
    found: set[int] = set()
    for date in query.dates:
        said = {"year": date.year, "month": date.month, "day": date.day}
        wanted = shelf.eligible
        for name, number in said.items():
            if number is not None:
                condition = f"extract({name} FROM {moment} AT TIME ZONE 'UTC') = %s"
                wanted = wanted.also(condition, number)
        text = f"SELECT r.id FROM {shelf.source} WHERE {wanted.text}"
        newest = f"{text} ORDER BY r.created_at DESC LIMIT {shelf.nearest}"
        found |= {pk for (pk,) in statements.rows(newest, list(wanted.values))}
    return found


def _telling(words: Words, shelf: Shelf) -> Sequence[int]:
    """Return the texts that share words with the query; if there are many, the best by BM25."""
    found = list(words.places)
    if shelf.whole or len(found) <= shelf.nearest:
        return found
    scores = lexical.bm25(words.counts, corpus=words.corpus)
    best = np.argsort(-scores, kind="stable")[: shelf.nearest]
    return [found[place] for place in best.tolist()]


def _nearest(
    prepared: PreparedQuery, shelf: Shelf, words: Words, *, user: User
) -> tuple[Mapping[int, float], Mapping[int, Sequence[str]]]:
    """Return the nearest texts' cosines, and the query's terms found in memories' earlier texts."""
    found = store(words).nearest(
        _vector(prepared, shelf),
        user_id=user.pk,
        space_id=words.space_id,
        kind=shelf.kind.value,
        eligible=shelf.ids,
        limit=keyword_matches.WHOLE
        if shelf.whole and words.corpus.total <= keyword_matches.WHOLE
        else shelf.nearest,
        many=words.corpus.total > keyword_matches.WHOLE,
    )
    if shelf.kind == TargetKind.MEMORY and words.fragmented:
        return _raised_by_fragments(found, prepared, shelf, words, user=user)
    return found, {}


def _vector(prepared: PreparedQuery, shelf: Shelf) -> NDArray[np.float32]:
    """Return the query vector for messages, or the vector moved to where answers lie."""
    if shelf.whole:
        return prepared.vector
    return shelf.towards(prepared.vector, model=prepared.made_by.model)


# Each fragment's memory is looked up by key: there are far fewer fragments than memories.
_FRAGMENTS = """
SELECT f.id FROM memories_fragment f
 WHERE f.user_id = %s AND (SELECT true FROM {source} WHERE r.id = f.memory_id AND {eligible})
"""
# Earlier texts are skipped while they are being forgotten.
_OWNERS = """
SELECT f.id, f.memory_id,
       (SELECT e.terms FROM memories_lexicalentry e
         WHERE f.version_id IS NOT NULL
           AND e.user_id = f.user_id AND e.target_kind = 'fragment' AND e.target_id = f.id)
  FROM memories_fragment f
 WHERE f.id = ANY(%s::bigint[])
   AND (f.version_id IS NULL OR EXISTS (
        SELECT 1 FROM memories_memoryversion v JOIN memories_memory m ON m.id = v.memory_id
         WHERE v.id = f.version_id AND v.erased_at IS NULL
           AND v.hidden_at IS NULL AND m.hidden_at IS NULL))
"""


def _raised_by_fragments(
    found: Mapping[int, float], prepared: PreparedQuery, shelf: Shelf, words: Words, *, user: User
) -> tuple[Mapping[int, float], Mapping[int, Sequence[str]]]:
    """Raise each memory to the cosine of its nearest fragment or earlier text.

    The words of earlier texts count as well. Forgetting an earlier text hides its version at once.
    """
    eligible = _FRAGMENTS.format(source=shelf.source, eligible=shelf.eligible.text)
    near = store(words).nearest(
        _vector(prepared, shelf),
        user_id=user.pk,
        space_id=words.space_id,
        kind=TargetKind.FRAGMENT.value,
        eligible=Sql(eligible, (user.pk, *shelf.eligible.values)),
        limit=shelf.nearest,
    )
    raised = dict(found)
    said_before: dict[int, list[str]] = {}
    sought = set(prepared.query.sought)
    for fragment, memory, terms in statements.rows(_OWNERS, [list(near)]):
        raised[memory] = max(near[fragment], raised.get(memory, -1.0))
        said_before.setdefault(memory, []).extend(sought.intersection(terms or ()))
    return raised, said_before
