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
from memories.retrieval import lexical
from memories.retrieval.lexical import Corpus, Counts
from memories.retrieval.query import Query
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.pgvector import PgVectorStore
from memories.retrieval.units import Unit
from memories.services import indexing
from memories.services.embedders import Identity
from memories.services.indexing import active_space
from ops.models import User

NEAREST = 200
MATCHING = 1_000
WHOLE = 3_000  # up to this many of the person's texts of a type are all looked at


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

    `source` is the FROM of a query whose table is `r`, `eligible` its conditions, `columns` what
    `row` takes. Where texts lean on their neighbours, a small shelf is a candidate as a `whole`,
    and to the candidates of a large one `neighbours` are added. Else they are the `nearest` by
    cosine and as many that share the most telling words. `also` picks, by further conditions and
    an order, eligible rows that come along whatever is asked.
    """

    kind: TargetKind
    source: str
    eligible: Sql
    columns: str
    row: Callable[[Iterable[Any]], FoundRow]
    unit: Callable[[Any, list[str], float | None, int], Unit]
    nearest: int = NEAREST
    whole: bool = False
    neighbours: Callable[[Iterable[int]], set[int]] | None = None
    also: str = ""

    @property
    def ids(self) -> Sql:
        """The query of the eligible rows' ids."""
        text = f"SELECT r.id FROM {self.source} WHERE {self.eligible.text}"
        return Sql(text, self.eligible.values)


@dataclass(frozen=True)
class Words:
    """What the keyword index says: the matching targets, how often each has which query term.

    `places` gives a target's row in `counts`. `fragmented`: the person has long memories, whose
    pieces have vectors of their own.
    """

    places: Mapping[int, int]
    counts: Counts
    corpus: Corpus
    space_id: int
    fragmented: bool

    def terms_of(self, target_id: int) -> list[str]:
        """The query's terms in this target, repeated as often as they stand in it."""
        place = self.places.get(target_id)
        if place is None:
            return []
        found = zip(self.counts.terms, self.counts.frequency[place].tolist(), strict=True)
        return [term for term, times in found for _ in range(int(times))]


@dataclass(frozen=True)
class Pool:
    """`rows` are the loaded rows by the units' ids; `others` came along without being found."""

    units: list[Unit]
    corpus: Corpus
    rows: Mapping[str, FoundRow]
    others: Sequence[FoundRow] = ()


def store() -> VectorStore:
    return PgVectorStore()


def fill(prepared: PreparedQuery, shelf: Shelf, *, user: User) -> Pool:
    """The nearest by cosine and the matching by words, or everything when that is little.

    Three statements: words, vectors, rows. More only where there are fragments or very many texts.
    """
    words = _words(prepared, shelf, user=user)
    if not words.corpus.total:
        return Pool([], words.corpus, {}, [row for row, _ in _load(shelf, (), user=user)])
    cosine = _nearest(prepared, shelf, words, user=user)
    ids = {*cosine, *_telling(words, shelf)}
    if words.corpus.total > WHOLE:
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


def _load(shelf: Shelf, ids: Iterable[int], *, user: User) -> list[tuple[FoundRow, int]]:
    """The rows that are still eligible, each with its number of words."""
    wanted = Sql("r.id = ANY(%s::bigint[])", (sorted(ids),))
    if not wanted.values[0] and not shelf.also:
        return []
    if shelf.also:
        text = f"r.id = ANY(%s::bigint[] || ARRAY({shelf.ids.text} {shelf.also}))"
        wanted = Sql(text, (*wanted.values, *shelf.ids.values))
    found = statements.rows(
        f"""
SELECT coalesce(e.length, 0), {shelf.columns} FROM {shelf.source}
  LEFT JOIN memories_lexicalentry e
    ON e.user_id = %s AND e.target_kind = %s AND e.target_id = r.id
 WHERE {wanted.text} AND {shelf.eligible.text}""",
        [user.pk, shelf.kind.value, *wanted.values, *shelf.eligible.values],
    )
    return [(shelf.row(columns), length) for length, *columns in found]


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
    found = store().nearest(
        prepared.vector,
        user_id=user.pk,
        space_id=words.space_id,
        kind=shelf.kind.value,
        eligible=shelf.ids,
        limit=WHOLE if shelf.whole and words.corpus.total <= WHOLE else shelf.nearest,
        many=words.corpus.total > WHOLE,
    )
    if shelf.kind == TargetKind.MEMORY and words.fragmented:
        return _raised_by_fragments(found, prepared, shelf, words, user=user)
    return found


def _raised_by_fragments(
    found: Mapping[int, float], prepared: PreparedQuery, shelf: Shelf, words: Words, *, user: User
) -> Mapping[int, float]:
    """A long memory is as near as its nearest fragment."""
    pieces = (
        f"SELECT f.id FROM memories_fragment f WHERE f.user_id = %s"
        f" AND f.memory_id IN ({shelf.ids.text})"
    )
    near = store().nearest(
        prepared.vector,
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


_WORDS = """
WITH eligible AS ({eligible}),
     entries AS (SELECT target_id, length, terms FROM memories_lexicalentry
                  WHERE user_id = %s AND target_kind = %s
                  ORDER BY target_id DESC LIMIT {most})
SELECT NULL::bigint, count(*)::int, sum(length)::int, NULL::text[],
       (SELECT ARRAY[id, active::int] FROM memories_embeddingspace
         WHERE (embedder, model, dimensions, version) = (%s, %s, %s, %s)),
       EXISTS (SELECT 1 FROM memories_lexicalentry WHERE user_id = %s AND target_kind = 'fragment')
  FROM entries
 UNION ALL
SELECT target_id, 0, length, terms, NULL, NULL FROM entries
 WHERE (SELECT count(*) FROM entries) < {most}
   AND terms && %s::text[] AND target_id IN (SELECT id FROM eligible)
"""


def _words(prepared: PreparedQuery, shelf: Shelf, *, user: User) -> Words:
    """One statement for a person with few texts of this type; more for one with many."""
    # What is said around a message tells more than a list of concepts could.
    query = prepared.query
    sought = query.terms if shelf.whole else query.sought
    found = statements.rows(
        _WORDS.format(eligible=shelf.ids.text, most=WHOLE + 1),
        [
            *(*shelf.ids.values, user.pk, shelf.kind.value),
            *(*prepared.made_by, user.pk, list(sought)),
        ],
    )
    total, length, space, fragmented = next(
        (total, length, space, fragmented)
        for target, total, length, _, space, fragmented in found
        if target is None
    )
    matching = [(pk, length, terms) for pk, _, length, terms, *_ in found if pk is not None]
    if total > WHOLE:
        # The newest tell how long texts are on average; only how many there are is counted.
        average = (length or 0) / total
        total, matching = _words_of_many(query, shelf, user=user)
    else:
        average = (length or 0) / max(1, total)
    matching.sort()
    counts = _counts(sought, matching)
    here = (counts.frequency > 0).sum(axis=0).tolist()
    return Words(
        places={pk: place for place, (pk, *_) in enumerate(matching)},
        counts=counts,
        corpus=Corpus(
            total=total,
            average_length=average,
            document_frequency=dict(zip(counts.terms, here, strict=True)),
        ),
        space_id=_space_id(space, prepared.made_by),
        fragmented=fragmented,
    )


_NOWHERE = 0  # no space has this id


def _space_id(found: Sequence[int] | None, made_by: Identity) -> int:
    """The space that the query was embedded for.

    Where it is gone, because another took over just now, words alone must do.
    """
    space_id, active = found or (_NOWHERE, False)
    if active:
        return space_id
    if found is None and indexing.identity(space := active_space()) == made_by:
        return space.pk
    indexing.choose_again()
    return space_id


_Matching = list[tuple[int, int, list[str]]]


def _words_of_many(query: Query, shelf: Shelf, *, user: User) -> tuple[int, _Matching]:
    [(total,)] = statements.rows(
        "SELECT count(*)::int FROM memories_lexicalentry"
        " WHERE user_id = %s AND target_kind = %s",
        [user.pk, shelf.kind.value],
    )
    matching: Any = statements.rows(
        "SELECT target_id, length, terms FROM memories_lexicalentry e"
        " WHERE user_id = %s AND target_kind = %s AND terms && %s::text[]"
        f" AND target_id IN ({shelf.ids.text}) ORDER BY target_id DESC LIMIT {MATCHING}",
        [user.pk, shelf.kind.value, list(query.terms), *shelf.ids.values],
        anew=True,
    )
    return total, matching


def _counts(sought: Sequence[str], matching: _Matching) -> Counts:
    """As `lexical.count_terms`, in a third of the time: a thousand texts may match."""
    place = {term: column for column, term in enumerate(sought)}
    wanted = set(place)
    frequency = np.zeros((len(matching), len(place)))
    for row, (_, _, terms) in enumerate(matching):
        for term in wanted.intersection(terms):
            frequency[row, place[term]] = terms.count(term)
    lengths = np.array([length for _, length, _ in matching], dtype=float)
    return Counts(tuple(sought), frequency, lengths)
