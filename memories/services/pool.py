"""From the database to plain units: the candidates among one person's texts of one type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memcenter.lib import statements
from memcenter.lib.statements import Sql
from memories.models import TargetKind
from memories.retrieval import dense, lexical
from memories.retrieval.lexical import Corpus
from memories.retrieval.query import Query
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.retrieval.units import Unit
from memories.services import hot_cache, vector_changes
from memories.services import words as keywords
from memories.services.embedders import Identity
from memories.services.shelf_rows import MemoryRow
from memories.services.words import Words, read_words
from ops.models import User

NEAREST = 200


@dataclass(frozen=True)
class PreparedQuery:
    """What was asked, analysed and embedded before any transaction.

    It is compared with the vectors of the same embedder only, also while another takes over.
    """

    query: Query
    vector: NDArray[np.float32]
    made_by: Identity

    @property
    def text(self) -> str:
        return self.query.text


class FoundRow(Protocol):
    """What every type's rows have."""

    @property
    def pk(self) -> int: ...


@dataclass(frozen=True)
class Shelf:
    """One type of text: which rows are eligible and how a row becomes a unit.

    `table` is `r` in a query, `joined` what is joined to it, `eligible` its conditions, `columns`
    what `row` takes. Where texts lean on their neighbours, a small shelf is a candidate as a
    `whole`, and to the candidates of a large one `neighbours` are added. Else they are the
    `nearest` by cosine and as many that share the most telling words. `also` picks, by further
    conditions and an order, eligible rows that come along whatever is asked.
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

    @property
    def source(self) -> str:
        return f"{self.table} r {self.joined}"

    @property
    def ids(self) -> Sql:
        """The query of the eligible rows' ids."""
        text = f"SELECT r.id FROM {self.source} WHERE {self.eligible.text}"
        return Sql(text, self.eligible.values)


@dataclass(frozen=True)
class Pool:
    """`rows` are the loaded rows by the units' ids; `others` came along without being found."""

    units: list[Unit]
    corpus: Corpus
    rows: Mapping[str, FoundRow]
    others: Sequence[FoundRow] = ()


def store(words: Words) -> VectorStore:
    return vector_changes.searched() if words.elsewhere else PgVectorStore()


def fill(prepared: PreparedQuery, shelf: Shelf, *, user: User) -> Pool:
    """The nearest by cosine and the matching by words, or everything when that is little.

    Three statements: words, vectors, rows. More only where there are fragments or very many texts.
    """
    words = read_words(prepared, shelf, user=user)
    if not words.corpus.total:
        return Pool([], words.corpus, {}, [row for row, _ in _load(shelf, (), user=user)])
    cosine = _nearest(prepared, shelf, words, user=user)
    ids = {*cosine, *_telling(words, shelf)}
    if words.corpus.total > keywords.WHOLE:
        ids |= _on_dates(prepared.query, shelf)
        ids |= shelf.neighbours(ids) if shelf.neighbours else set()
    units: list[Unit] = []
    rows: dict[str, FoundRow] = {}
    others: list[FoundRow] = []
    for row, length in _load(shelf, ids, user=user):
        if row.pk not in ids:
            others.append(row)
            continue
        unit = shelf.unit(row, words.terms_of(row.pk), cosine.get(row.pk), length)
        units.append(unit)
        rows[unit.id] = row
    units.sort(key=lambda unit: unit.id)
    return Pool(units, words.corpus, rows, others)


# Each row by its own key, and its entry by that: a planner that expects a person to have one row
# would go through all of them for each. OFFSET 0 keeps the conditions on the person out of it.
_BY_KEY = """
SELECT coalesce((SELECT e.length FROM memories_lexicalentry e
                  WHERE e.user_id = %s AND e.target_kind = %s AND e.target_id = r.id), 0), {columns}
  FROM (SELECT DISTINCT unnest({ids})) AS wanted(id)
 CROSS JOIN LATERAL (SELECT * FROM {table} one WHERE one.id = wanted.id OFFSET 0) r {joined}
 WHERE {eligible}
"""


def _load(shelf: Shelf, ids: Iterable[int], *, user: User) -> list[tuple[FoundRow, int]]:
    """The rows that are still eligible, each with its number of words."""
    wanted = Sql("%s::bigint[]", (sorted(ids),))
    if not wanted.values[0] and not shelf.also:
        return []
    if shelf.also:
        text = f"%s::bigint[] || ARRAY({shelf.ids.text} {shelf.also})"
        wanted = Sql(text, (*wanted.values, *shelf.ids.values))
    kept = hot_cache.texts_of(user) if shelf.kind == TargetKind.MEMORY else {}
    columns, known = _sparing(shelf, kept)
    found = statements.rows(
        _BY_KEY.format(
            columns=columns,
            ids=wanted.text,
            table=shelf.table,
            joined=f"{shelf.joined} {known.text}",
            eligible=shelf.eligible.text,
        ),
        [user.pk, shelf.kind.value, *wanted.values, *known.values, *shelf.eligible.values],
    )
    loaded = [(shelf.row(values), length) for length, *values in found]
    return [(_completed(row, kept), length) for row, length in loaded] if kept else loaded


def _sparing(shelf: Shelf, kept: Mapping[int, str]) -> tuple[str, Sql]:
    """The columns without the texts that are known and still the same, and what to join for it."""
    if not kept:
        return shelf.columns, Sql("")
    digests = list(map(hot_cache.digest, kept.values()))
    join = "LEFT JOIN unnest(%s::bigint[], %s::text[]) AS kept(id, digest) ON kept.id = r.id"
    text = "CASE WHEN kept.digest = md5(r.content) THEN NULL ELSE r.content END"
    return shelf.columns.replace("r.content", text), Sql(join, (list(kept), digests))


def _completed(row: FoundRow, kept: Mapping[int, str]) -> FoundRow:
    if isinstance(row, MemoryRow) and row.content is None:
        return row._replace(content=kept[row.pk])
    return row


def _on_dates(query: Query, shelf: Shelf) -> set[int]:
    """The newest texts of the days, months or years that the question names."""
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
    """Those that share words with the question; of many the best by BM25."""
    found = list(words.places)
    if shelf.whole or len(found) <= shelf.nearest:
        return found
    scores = lexical.bm25(words.counts, corpus=words.corpus)
    best = np.argsort(-scores, kind="stable")[: shelf.nearest]
    return [found[place] for place in best.tolist()]


def _nearest(
    prepared: PreparedQuery, shelf: Shelf, words: Words, *, user: User
) -> Mapping[int, float]:
    found = store(words).nearest(
        _vector(prepared, shelf),
        user_id=user.pk,
        space_id=words.space_id,
        kind=shelf.kind.value,
        eligible=shelf.ids,
        limit=keywords.WHOLE
        if shelf.whole and words.corpus.total <= keywords.WHOLE
        else shelf.nearest,
        many=words.corpus.total > keywords.WHOLE,
    )
    if shelf.kind == TargetKind.MEMORY and words.fragmented:
        return _raised_by_fragments(found, prepared, shelf, words, user=user)
    return found


def _vector(prepared: PreparedQuery, shelf: Shelf) -> NDArray[np.float32]:
    """Messages are looked for as the question stands, statements by what would answer it."""
    if shelf.whole:
        return prepared.vector
    return dense.towards_statements(prepared.vector, model=prepared.made_by.model)


def _raised_by_fragments(
    found: Mapping[int, float], prepared: PreparedQuery, shelf: Shelf, words: Words, *, user: User
) -> Mapping[int, float]:
    """A long memory is as near as its nearest fragment."""
    pieces = (
        f"SELECT f.id FROM memories_fragment f WHERE f.user_id = %s"
        f" AND f.memory_id IN ({shelf.ids.text})"
    )
    near = store(words).nearest(
        _vector(prepared, shelf),
        user_id=user.pk,
        space_id=words.space_id,
        kind=TargetKind.FRAGMENT.value,
        eligible=Sql(pieces, (user.pk, *shelf.ids.values)),
        limit=NEAREST,
    )
    owner = statements.rows(
        "SELECT id, memory_id FROM memories_fragment WHERE id = ANY(%s::bigint[])", [list(near)]
    )
    raised = dict(found)
    for fragment, memory in owner:
        raised[memory] = max(near[fragment], raised.get(memory, -1.0))
    return raised
