"""Load the rows that may match a query, for each text type, and convert them for ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from foundation.database import statements
from foundation.database.statements import Batch, PendingResult, Sql
from memories.indexing import milvus_sync
from memories.indexing.search_index import Identity
from memories.models import TargetKind
from memories.recall import keyword_matches
from memories.recall.keyword_matches import Words
from memories.retrieval import signals
from memories.retrieval.query import Query
from memories.retrieval.ranking_types import Unit
from memories.retrieval.signals import Corpus
from memories.retrieval.stores.base import NearestQuery, VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from ops.models import User

NEAREST = 200


@dataclass(frozen=True)
class PreparedQuery:
    """A query that was analysed and embedded before any transaction began.

    The vector is compared only with vectors of the same embedder, even while the embedder is being
    changed.
    """

    query: Query
    vector: NDArray[np.float32]
    made_by: Identity

    @property
    def text(self) -> str:
        return self.query.text


class FoundRow(Protocol):
    """The interface that the rows of all text types share."""

    @property
    def pk(self) -> int: ...

    @property
    def public_id(self) -> str: ...


class VectorShift(Protocol):
    def __call__(self, vector: NDArray[np.float32], *, model: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class SearchScope:
    """A type of text: which rows may be found, and how they are converted for ranking.

    In SQL, `table` has the alias `r`. `joined` contains the joins and `eligible` the conditions.
    `row` builds a row from the values of `columns`, and `fields` returns those fields of the row's
    `Unit` (the input of ranking) that depend on the type.

    The candidates are the `nearest` rows by cosine, and up to `nearest` rows that share words with
    the query. With `whole`, for texts that depend on their neighbours, all rows are candidates if
    there are at most `keyword_matches.WHOLE`. If a type has more rows, rows from dates in the query
    are added, and `neighbours` adds the rows next to the candidates. `also` is SQL (conditions and
    an order) for eligible rows that are always loaded. `shift` moves the query vector towards the
    texts of this type.
    """

    kind: TargetKind
    table: str
    eligible: Sql
    columns: str
    row: Callable[[Iterable[Any]], FoundRow]
    fields: Callable[[Any], dict[str, Any]]
    joined: str = ""
    nearest: int = NEAREST
    whole: bool = False
    neighbours: Callable[[Iterable[int]], set[int]] | None = None
    also: str = ""
    shift: VectorShift = signals.shift_to_statements

    @property
    def source(self) -> str:
        return f"{self.table} r {self.joined}"

    @property
    def ids(self) -> Sql:
        """Return the query that selects the ids of the eligible rows."""
        text = f"SELECT r.id FROM {self.source} WHERE {self.eligible.text}"
        return Sql(text, self.eligible.values)


@dataclass(frozen=True)
class Pool:
    """The candidates for a query from one text type.

    `rows` maps the ids of the units to their rows; `others` holds rows that were selected only by
    `SearchScope.also`.
    """

    units: list[Unit]
    corpus: Corpus
    rows: Mapping[str, FoundRow]
    others: Sequence[FoundRow] = ()


def vector_store(words: Words) -> VectorStore:
    return milvus_sync.searched_store() if words.elsewhere else PgVectorStore()


def fill(prepared: PreparedQuery, scope: SearchScope, *, user: User) -> Pool:
    """Return the candidates from a single text type; see `fill_all`."""
    return fill_all(prepared, [scope], user=user)[0]


def fill_all(
    prepared: PreparedQuery,
    scopes: Sequence[SearchScope],
    *,
    user: User,
    batch: Batch | None = None,
) -> list[Pool]:
    """Return the candidates from each text type.

    The database is queried in two round trips for all types together: first words and vectors, then
    rows. A type with very many texts, or with vectors in another store, needs more round trips. The
    statements in `batch` are sent together with the first round trip.
    """
    batch, loads = batch or Batch(), Batch()
    queries = [_PoolQueries(prepared, scope, user=user, batch=batch) for scope in scopes]
    for query in queries:
        query.choose(loads)
    return [query.pool() for query in queries]


class _PoolQueries:
    """The queries that load the candidates of one text type: first words and vectors, then rows."""

    def __init__(
        self, prepared: PreparedQuery, scope: SearchScope, *, user: User, batch: Batch
    ) -> None:
        self._prepared, self._scope, self._user = prepared, scope, user
        vector = _vector(prepared, scope)
        self._words = keyword_matches.add_query(
            prepared, scope, user=user, vector=vector, batch=batch
        )
        self._fragments: PendingResult | None = None
        if scope.kind == TargetKind.MEMORY:
            self._fragments = _ask_fragments(prepared, scope, user=user, batch=batch)

    def choose(self, loads: Batch) -> None:
        """Choose the candidates, and add the query for their rows to `loads`."""
        prepared, scope, user = self._prepared, self._scope, self._user
        self.words = words = keyword_matches.read_matches(self._words, prepared, scope, user=user)
        self.cosine: Mapping[int, float] = {}
        self.said_before: Mapping[int, Sequence[str]] = {}
        self.ids: set[int] = set()
        if words.corpus.total:
            self.cosine = _nearest(prepared, scope, words, user=user)
            if self._fragments is not None and words.fragmented:
                found = _near_fragments(self._fragments, prepared, scope, words, user=user)
                self.cosine, self.said_before = _with_fragments(self.cosine, found, prepared)
            self.ids = {*self.cosine, *_word_matches(words, scope)}
            if words.corpus.total > keyword_matches.WHOLE:
                self.ids |= _on_dates(prepared.query, scope)
                self.ids |= scope.neighbours(self.ids) if scope.neighbours else set()
        self._rows = _ask_rows(scope, self.ids, user=user, batch=loads)

    def pool(self) -> Pool:
        units: list[Unit] = []
        rows: dict[str, FoundRow] = {}
        others: list[FoundRow] = []
        for length, *values in self._rows.rows() if self._rows else ():
            row = self._scope.row(values)
            if row.pk not in self.ids:
                others.append(row)
                continue
            terms = [*self.words.terms_of(row.pk), *self.said_before.get(row.pk, ())]
            unit = Unit(
                type=self._scope.kind.value,
                id=row.public_id,
                terms=terms,
                cosine=self.cosine.get(row.pk),
                length=length,
                **self._scope.fields(row),
            )
            units.append(unit)
            rows[unit.id] = row
        units.sort(key=lambda unit: unit.id)
        return Pool(units, self.words.corpus, rows, others)


# Each row and its lexical entry are fetched by key. Otherwise, a planner that expects a single row
# per user would scan all rows of the user for each id. OFFSET 0 keeps the planner from moving the
# conditions in `eligible` into the subquery.
_BY_KEY = """
SELECT coalesce((SELECT e.length FROM memories_lexicalentry e
                  WHERE e.user_id = %s AND e.target_kind = %s AND e.target_id = r.id), 0), {columns}
  FROM (SELECT DISTINCT unnest({ids})) AS wanted(id)
 CROSS JOIN LATERAL (SELECT * FROM {table} one WHERE one.id = wanted.id OFFSET 0) r {joined}
 WHERE {eligible}
"""


def _ask_rows(
    scope: SearchScope, ids: Iterable[int], *, user: User, batch: Batch
) -> PendingResult | None:
    """Add a query for the rows with these ids that are still eligible, each with its word count.

    The rows that `scope.also` selects are loaded too. Return None if there is nothing to load.
    """
    wanted = Sql("%s::bigint[]", (sorted(ids),))
    if not wanted.values[0] and not scope.also:
        return None
    if scope.also:
        text = f"%s::bigint[] || ARRAY({scope.ids.text} {scope.also})"
        wanted = Sql(text, (*wanted.values, *scope.ids.values))
    return batch.add(
        _BY_KEY.format(
            columns=scope.columns,
            ids=wanted.text,
            table=scope.table,
            joined=scope.joined,
            eligible=scope.eligible.text,
        ),
        [user.pk, scope.kind.value, *wanted.values, *scope.eligible.values],
    )


def _on_dates(query: Query, scope: SearchScope) -> set[int]:
    """Return the ids of the newest texts from the dates (days, months, years) that a query names.

    A memory belongs to the date of its event, if known.
    """
    is_memory = scope.kind == TargetKind.MEMORY
    moment = f"({'coalesce(r.occurred_at, r.created_at)' if is_memory else 'r.created_at'})"
    found: set[int] = set()
    for date in query.dates:
        said = {"year": date.year, "month": date.month, "day": date.day}
        wanted = scope.eligible
        for name, number in said.items():
            if number is not None:
                condition = f"extract({name} FROM {moment} AT TIME ZONE 'UTC') = %s"
                wanted = wanted.also(condition, number)
        text = f"SELECT r.id FROM {scope.source} WHERE {wanted.text}"
        newest = f"{text} ORDER BY r.created_at DESC LIMIT {scope.nearest}"
        found |= {pk for (pk,) in statements.rows(newest, list(wanted.values))}
    return found


def _word_matches(words: Words, scope: SearchScope) -> Sequence[int]:
    """Return the ids of texts that share words with the query.

    These are all such texts if `scope.whole` is True, otherwise the best `scope.nearest` by BM25.
    """
    found = list(words.places)
    if scope.whole or len(found) <= scope.nearest:
        return found
    scores = signals.bm25(words.counts, corpus=words.corpus)
    best = np.argsort(-scores, kind="stable")[: scope.nearest]
    return [found[place] for place in best.tolist()]


def _nearest(
    prepared: PreparedQuery, scope: SearchScope, words: Words, *, user: User
) -> Mapping[int, float]:
    """Return the nearest texts' cosine similarities to the query, by id."""
    if words.nearest is not None:
        return words.nearest
    few = words.corpus.total <= keyword_matches.WHOLE
    query = NearestQuery(
        _vector(prepared, scope),
        user_id=user.pk,
        space_id=words.space_id,
        kind=scope.kind.value,
        eligible=scope.ids,
        limit=keyword_matches.WHOLE if scope.whole and few else scope.nearest,
        many=not few,
    )
    return vector_store(words).nearest(query)


def _vector(prepared: PreparedQuery, scope: SearchScope) -> NDArray[np.float32]:
    """Return the query vector that is compared with the vectors of the texts in `scope`.

    It is moved towards the texts that would answer the query, unless `scope.whole` is True.
    """
    if scope.whole:
        return prepared.vector
    return scope.shift(prepared.vector, model=prepared.made_by.model)


# Each fragment's memory is looked up by key: there are far fewer fragments than memories.
_FRAGMENTS = """
SELECT f.id FROM memories_fragment f
 WHERE f.user_id = %s AND (SELECT true FROM {source} WHERE r.id = f.memory_id AND {eligible})
"""
_NEAR_FRAGMENTS = """
SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
 WHERE v.user_id = %s AND v.target_kind = 'fragment'
   AND v.space_id = (SELECT id FROM memories_embeddingspace
                      WHERE (embedder, model, dimensions, version) = (%s, %s, %s, %s)
                        AND searched_in <> 'milvus')
   AND (v.target_id IN ({eligible})) IS TRUE
 ORDER BY distance, v.target_id LIMIT %s
"""
# Earlier texts are skipped while they are being forgotten.
_OWNERS = """
SELECT near.distance, f.memory_id,
       (SELECT e.terms FROM memories_lexicalentry e
         WHERE f.version_id IS NOT NULL
           AND e.user_id = f.user_id AND e.target_kind = 'fragment' AND e.target_id = f.id)
  FROM {near} JOIN memories_fragment f ON f.id = near.target_id
 WHERE f.user_id = %s
   AND (f.version_id IS NULL OR EXISTS (
        SELECT 1 FROM memories_memoryversion v JOIN memories_memory m ON m.id = v.memory_id
         WHERE v.id = f.version_id AND v.erased_at IS NULL
           AND v.hidden_at IS NULL AND m.hidden_at IS NULL))
"""
_OWNERS_OF_NEAREST = _OWNERS.format(near=f"({_NEAR_FRAGMENTS}) AS near")
_OWNERS_OF_GIVEN = _OWNERS.format(
    near="unnest(%s::bigint[], %s::float8[]) AS near(target_id, distance)"
)


def _eligible_fragments(scope: SearchScope, *, user: User) -> Sql:
    text = _FRAGMENTS.format(source=scope.source, eligible=scope.eligible.text)
    return Sql(text, (user.pk, *scope.eligible.values))


def _ask_fragments(
    prepared: PreparedQuery, scope: SearchScope, *, user: User, batch: Batch
) -> PendingResult:
    """Add a query for the fragments that are nearest to the query vector, with their memories.

    Fragments are the parts of long memories, and earlier texts of memories.
    """
    eligible = _eligible_fragments(scope, user=user)
    vector = _vector(prepared, scope)
    vector_json = orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    values = [vector_json, user.pk, *prepared.made_by, *eligible.values, scope.nearest, user.pk]
    return batch.add(_OWNERS_OF_NEAREST.format(eligible=eligible.text), values)


def _near_fragments(
    pending: PendingResult, prepared: PreparedQuery, scope: SearchScope, words: Words, *, user: User
) -> list[tuple[Any, ...]]:
    """Return rows (distance, memory id, terms), one for each fragment that is near the query."""
    if not words.elsewhere:
        return pending.rows()
    query = NearestQuery(
        _vector(prepared, scope),
        user_id=user.pk,
        space_id=words.space_id,
        kind=TargetKind.FRAGMENT.value,
        eligible=_eligible_fragments(scope, user=user),
        limit=scope.nearest,
    )
    near = vector_store(words).nearest(query)
    given = [list(near), [-cosine for cosine in near.values()], user.pk]
    return statements.rows(_OWNERS_OF_GIVEN, given)


def _with_fragments(
    found: Mapping[int, float], near: Iterable[tuple[Any, ...]], prepared: PreparedQuery
) -> tuple[Mapping[int, float], Mapping[int, Sequence[str]]]:
    """Raise the cosine of each memory to that of its nearest fragment, if that is higher.

    Also return, for each memory, the query terms that occur in its earlier texts.
    """
    raised = dict(found)
    said_before: dict[int, list[str]] = {}
    sought = set(prepared.query.sought)
    for distance, memory, terms in near:
        raised[memory] = max(-distance, raised.get(memory, -1.0))
        said_before.setdefault(memory, []).extend(sought.intersection(terms or ()))
    return raised, said_before


class MemoryRow(NamedTuple):
    pk: int
    public_id: str
    kind: str
    content: str
    summary: str
    status: str
    pinned: bool
    standing: bool
    importance: float
    occurred_at: datetime | None
    created_at: datetime
    last_accessed_at: datetime | None
    feedback: str


class MessageRow(NamedTuple):
    pk: int
    public_id: str
    content: str
    number: int
    speaker: str
    created_at: datetime
    conversation: str
    secrets: list[int]


class EpisodeRow(NamedTuple):
    """An episode; `number` is the reply's number in the conversation."""

    pk: int
    public_id: str
    said: str
    reply: str
    number: int
    speaker: str
    created_at: datetime
    conversation: str
    user_message: str
    assistant_message: str
    said_secrets: list[int]
    reply_secrets: list[int]


class SummaryRow(NamedTuple):
    pk: int
    public_id: str
    text: str
    created_at: datetime
    conversation: str


class NoteRow(NamedTuple):
    pk: int
    public_id: str
    text: str
    created_at: datetime
