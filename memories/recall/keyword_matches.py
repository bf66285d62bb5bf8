"""Match a query against the keyword index of a user's texts of one type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from foundation.database import statements
from foundation.database.statements import Batch, PendingResult
from memories.indexing import search_index
from memories.indexing.search_index import Identity, active_space
from memories.retrieval.signals import Corpus, Counts
from memories.retrieval.stores.base import UnitVector
from ops.models import User

if TYPE_CHECKING:
    from memories.recall.candidate_pool import PreparedQuery, SearchScope

MATCHING = 1_000  # maximum number of texts with a query word that are read, newest first
WHOLE = 3_000  # if a type has at most this many texts, all of them are read
RARE = 0.03  # words that occur in a smaller share of the newest texts are looked up in the index


@dataclass(frozen=True)
class Words:
    """The texts that match words of the query, with the count of each query term.

    `places` maps a target id to its row in `counts`. `fragmented` is true if the user has
    fragments, which have their own vectors. `elsewhere` is true if a store other than PostgreSQL
    compares the vectors. `nearest` maps the nearest targets to their cosines; it is None if there
    are too many targets, or if another store compares the vectors.
    """

    places: Mapping[int, int]
    counts: Counts
    corpus: Corpus
    space_id: int
    fragmented: bool
    elsewhere: bool = False
    nearest: Mapping[int, float] | None = None

    def terms_of(self, target_id: int) -> list[str]:
        """Return the query terms in a target, each repeated as often as it occurs there."""
        place = self.places.get(target_id)
        if place is None:
            return []
        times = self.counts.frequency[place]
        [columns] = times.nonzero()
        terms = self.counts.terms
        return [terms[column] for column in columns.tolist() for _ in range(int(times[column]))]


# For up to WHOLE texts, the words of all texts are read as one string. Finding a dozen words in it
# in Python takes less time than comparing or sending a thousand arrays in PostgreSQL.
_TERM, _TEXT = "\x1f", "\x1e"
_WORDS = """
WITH eligible AS ({eligible}),
     entries AS (SELECT target_id, length, terms FROM memories_lexicalentry
                  WHERE user_id = %s AND target_kind = %s
                  ORDER BY target_id DESC LIMIT {most}),
     few AS (SELECT target_id, length, terms FROM entries
              WHERE (SELECT count(*) FROM entries) < {most}
                AND (target_id IN (SELECT id FROM eligible)) IS TRUE),
     space AS (SELECT id, active, searched_in = 'milvus' AS elsewhere FROM memories_embeddingspace
                WHERE (embedder, model, dimensions, version) = (%s, %s, %s, %s)),
     near AS (SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
               WHERE v.user_id = %s AND v.target_kind = %s
                 AND v.space_id = (SELECT id FROM space WHERE NOT elsewhere)
                 AND (SELECT count(*) FROM entries) < {most}
                 AND (v.target_id IN (SELECT id FROM eligible)) IS TRUE
               ORDER BY distance, v.target_id LIMIT %s)
SELECT (SELECT count(*)::int FROM entries), (SELECT sum(length)::int FROM entries),
       array_agg(target_id), array_agg(length),
       string_agg(E'\\x1f' || array_to_string(terms, E'\\x1f\\x1f') || E'\\x1f', E'\\x1e'),
       (SELECT ARRAY[id, active::int, elsewhere::int] FROM space),
       EXISTS (SELECT 1 FROM memories_lexicalentry WHERE user_id = %s AND target_kind = 'fragment'),
       (SELECT array_agg(target_id ORDER BY distance, target_id) FROM near),
       (SELECT array_agg(distance ORDER BY distance, target_id) FROM near)
  FROM few
"""


def add_query(
    prepared: PreparedQuery, scope: SearchScope, *, user: User, vector: UnitVector, batch: Batch
) -> PendingResult:
    """Add to `batch` a query for the words and the nearest targets of a text type.

    Pass the result to `read_matches`, which decodes the rows.
    """
    vector_json = orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    kind = scope.kind.value
    return batch.add(
        _WORDS.format(eligible=scope.ids.text, most=WHOLE + 1),
        [
            *(*scope.ids.values, user.pk, kind, *prepared.made_by),
            *(vector_json, user.pk, kind, WHOLE if scope.whole else scope.nearest),
            user.pk,
        ],
    )


def read_matches(
    pending: PendingResult, prepared: PreparedQuery, scope: SearchScope, *, user: User
) -> Words:
    """Return the matches from the query that `add_query` added.

    Further queries are run only if there are more than `WHOLE` texts.
    """
    # Messages and episodes aren't searched for the terms of concepts, because their neighbours are
    # better evidence.
    query = prepared.query
    sought = query.terms if scope.whole else query.sought
    [(total, length, ids, lengths, terms, space, fragmented, near, apart)] = pending.rows()
    average = (length or 0) / max(1, total)
    nearest = None
    if total > WHOLE:
        # The average length is that of the newest texts; only the number of texts covers all texts.
        total, places, counts, frequency = _words_of_many(prepared, scope, user=user)
    else:
        places, counts = _matching_texts(sought, ids or [], lengths or [], terms or "")
        frequency = dict(zip(counts.terms, _documents(counts.frequency), strict=True))
        if space and not space[2]:
            nearest = {pk: -distance for pk, distance in zip(near or (), apart or (), strict=True)}
    return Words(
        places=places,
        counts=counts,
        corpus=Corpus(
            total=total,
            average_length=average,
            document_frequency=frequency,
        ),
        space_id=_space_id(space, prepared.made_by),
        fragmented=fragmented,
        elsewhere=bool(space and space[2]),
        nearest=nearest,
    )


def _matching_texts(
    sought: Sequence[str], ids: Sequence[int], lengths: Sequence[int], texts: str
) -> tuple[Mapping[int, int], Counts]:
    """Return a map from each matching text's id to its row in the counts, and the counts.

    `texts` holds the terms of all texts in the order of `ids`, joined as in `_WORDS`.
    """
    ends = np.cumsum(_lengths(texts.split(_TEXT)) + 1)
    frequency = np.zeros((len(ids), len(sought)))
    for column, term in enumerate(sought):
        inside = np.searchsorted(ends, _places_of(term, texts), side="right")
        frequency[:, column] = np.bincount(inside, minlength=len(ids))
    matching = np.flatnonzero(frequency.any(axis=1))
    every = np.array(ids, dtype=np.int64)
    matching = matching[np.argsort(every[matching], kind="stable")]
    places = {pk: place for place, pk in enumerate(every[matching].tolist())}
    length = np.array(lengths, dtype=float)[matching]
    return places, Counts(tuple(sought), frequency[matching], length)


def _places_of(term: str, texts: str) -> NDArray[np.int64]:
    """Return the positions at which a term occurs as a whole word.

    They are computed from the lengths of the parts into which the term splits the string.
    """
    wanted = f"{_TERM}{term}{_TERM}"
    before = _lengths(texts.split(wanted)[:-1])
    return np.cumsum(before) + np.arange(before.size) * len(wanted)


def _lengths(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


_NO_SPACE = 0  # no space has this id


def _space_id(found: Sequence[int] | None, made_by: Identity) -> int:
    """Return the id of the embedding space of the query vector, or `_NO_SPACE` if there is none.

    If that space is no longer active, its vectors may be gone; then only words are matched.
    """
    space_id, active, _ = found or (_NO_SPACE, False, False)
    if active:
        return space_id
    if found is None and search_index.identity(space := active_space()) == made_by:
        return space.pk
    search_index.reset_embedder()
    return space_id


_Matching = list[tuple[int, int, list[str]]]

# Both statements look up by key whether a text is eligible, which is faster than a list of all
# eligible ids. `place` is the rank of a match among the newest texts.
_AMONG_THE_NEWEST = """
SELECT e.place, e.target_id, e.length, e.terms
  FROM (SELECT row_number() OVER (ORDER BY target_id DESC)::int AS place, target_id, length, terms
          FROM memories_lexicalentry WHERE user_id = %s::bigint AND target_kind = %s
         ORDER BY target_id DESC LIMIT {whole}) e
 WHERE e.terms && %s::text[] AND (SELECT true FROM ({eligible}) m WHERE m.id = e.target_id)
 ORDER BY e.place LIMIT {matching}
"""
# The user's id is cast to bigint, because the index of words is not used for a narrower type.
_BY_THE_WORD = """
SELECT e.target_id, e.length, e.terms
  FROM unnest(%s::text[]) AS sought(term)
 CROSS JOIN LATERAL (
    SELECT l.target_id, l.length, l.terms FROM memories_lexicalentry l
     WHERE l.user_id = %s::bigint AND l.target_kind = %s AND l.terms && ARRAY[sought.term]
       AND (SELECT true FROM ({eligible}) m WHERE m.id = l.target_id)
     ORDER BY l.target_id DESC LIMIT {matching}) e
"""


def _words_of_many(
    prepared: PreparedQuery, scope: SearchScope, *, user: User
) -> tuple[int, Mapping[int, int], Counts, Mapping[str, int]]:
    """Return the number of texts, the matching texts, their term counts and document frequencies.

    The matching texts are the newest texts with any query word, and the texts with a rare query
    word. The document frequency of a common word is extrapolated from the newest texts.
    """
    query = prepared.query
    sought = query.terms if scope.whole else query.sought
    owner = [user.pk, scope.kind.value]
    [(total,)] = statements.rows(
        "SELECT count(*)::int FROM memories_lexicalentry"
        " WHERE user_id = %s::bigint AND target_kind = %s",
        owner,
    )
    found: Any = statements.rows(
        _AMONG_THE_NEWEST.format(eligible=scope.ids.text, whole=WHOLE, matching=MATCHING),
        [*owner, list(query.terms), *scope.ids.values],
        anew=True,
    )
    newest: _Matching = [tuple(row) for _, *row in found]
    examined = found[-1][0] if len(found) == MATCHING else WHOLE
    among = dict(zip(sought, _documents(_counts(sought, newest).frequency), strict=True))
    rare = [term for term in query.terms if among[term] < RARE * examined]
    older: Any = rare and statements.rows(
        _BY_THE_WORD.format(eligible=scope.ids.text, matching=MATCHING),
        [rare, *owner, *scope.ids.values],
        anew=True,
    )
    matching = sorted({row[0]: row for row in (*newest, *older)}.values())
    counts = _counts(sought, matching)
    here = dict(zip(sought, _documents(counts.frequency), strict=True))
    everywhere = {
        term: here[term] if term in rare else max(here[term], round(among[term] * total / examined))
        for term in sought
    }
    places = {pk: place for place, (pk, *_) in enumerate(matching)}
    return total, places, counts, everywhere


def _documents(frequency: NDArray[np.float64]) -> list[int]:
    """Return the number of texts in which each term occurs."""
    found: list[int] = (frequency > 0).sum(axis=0).tolist()
    return found


def _counts(sought: Sequence[str], matching: _Matching) -> Counts:
    """Count terms as `signals.count_terms` does, but faster, since a thousand texts may match."""
    place = {term: column for column, term in enumerate(sought)}
    wanted = set(place)
    frequency = np.zeros((len(matching), len(place)))
    for row, (_, _, terms) in enumerate(matching):
        for term in wanted.intersection(terms):
            frequency[row, place[term]] = terms.count(term)
    lengths = np.array([length for _, length, _ in matching], dtype=float)
    return Counts(tuple(sought), frequency, lengths)
