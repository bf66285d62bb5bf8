"""The keyword index's matches among a user's texts of a type, for a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from memcenter.lib.database import statements
from memcenter.lib.database.statements import Batch, Later
from memories.indexing import search_index
from memories.indexing.search_index import Identity, active_space
from memories.retrieval.signals import Corpus, Counts
from memories.retrieval.stores.base import UnitVector
from ops.models import User

if TYPE_CHECKING:
    from memories.recall.candidate_pool import PreparedQuery, Shelf

MATCHING = 1_000  # the newest texts with a query word that are read
WHOLE = 3_000  # up to this many of the user's texts of a type are all read
RARE = 0.03  # words in a smaller share of the newest texts are looked up in the index


@dataclass(frozen=True)
class Words:
    """The matches of the keyword index: the targets, and how often each has which query term.

    `places` maps a target to its row in `counts`. `fragmented`: the user has long memories, whose
    pieces have their own vectors. `elsewhere`: another store is searched for vectors. `nearest` are
    the nearest targets with their cosines, unless there are too many to compare or they are
    compared elsewhere.
    """

    places: Mapping[int, int]
    counts: Counts
    corpus: Corpus
    space_id: int
    fragmented: bool
    elsewhere: bool = False
    nearest: Mapping[int, float] | None = None

    def terms_of(self, target_id: int) -> list[str]:
        """Return the query's terms in this target, each repeated as often as it occurs."""
        place = self.places.get(target_id)
        if place is None:
            return []
        times = self.counts.frequency[place]
        [columns] = times.nonzero()
        terms = self.counts.terms
        return [terms[column] for column in columns.tolist() for _ in range(int(times[column]))]


# Up to this many, the words of all texts are read as one string: PostgreSQL takes longer to compare
# arrays, or to send a thousand, than Python takes to look for a dozen words in the string.
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


def ask(
    prepared: PreparedQuery, shelf: Shelf, *, user: User, vector: UnitVector, batch: Batch
) -> Later:
    """Ask for the words of a type and for the nearest by cosine; `read` reads the answer."""
    asked = orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    kind = shelf.kind.value
    return batch.add(
        _WORDS.format(eligible=shelf.ids.text, most=WHOLE + 1),
        [
            *(*shelf.ids.values, user.pk, kind, *prepared.made_by),
            *(asked, user.pk, kind, WHOLE if shelf.whole else shelf.nearest),
            user.pk,
        ],
    )


def read(asked: Later, prepared: PreparedQuery, shelf: Shelf, *, user: User) -> Words:
    """Read the matches, in the one statement that was asked if the user has few texts."""
    # For messages, their neighbours are better evidence than a list of concepts.
    query = prepared.query
    sought = query.terms if shelf.whole else query.sought
    [(total, length, ids, lengths, terms, space, fragmented, near, apart)] = asked.rows()
    average = (length or 0) / max(1, total)
    nearest = None
    if total > WHOLE:
        # The average length comes from the newest texts; only the number of texts is counted.
        total, places, counts, frequency = _words_of_many(prepared, shelf, user=user)
    else:
        places, counts = _found(sought, ids or [], lengths or [], terms or "")
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


def _found(
    sought: Sequence[str], ids: Sequence[int], lengths: Sequence[int], texts: str
) -> tuple[Mapping[int, int], Counts]:
    """Return the texts with any of the terms, by ascending id, and how often they have each."""
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
    """Return the positions of a term as a whole word, from the lengths of the parts it splits."""
    wanted = f"{_TERM}{term}{_TERM}"
    before = _lengths(texts.split(wanted)[:-1])
    return np.cumsum(before) + np.arange(before.size) * len(wanted)


def _lengths(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


_NOWHERE = 0  # no space has this id


def _space_id(found: Sequence[int] | None, made_by: Identity) -> int:
    """Return the id of the space that the query was embedded for.

    If another space has just taken over and this one is gone, only words are matched.
    """
    space_id, active, _ = found or (_NOWHERE, False, False)
    if active:
        return space_id
    if found is None and search_index.identity(space := active_space()) == made_by:
        return space.pk
    search_index.choose_again()
    return space_id


_Matching = list[tuple[int, int, list[str]]]

# Both look up by key whether a text is eligible: a list of all eligible ids takes longer. `place`
# is the rank of a match among the newest texts.
_AMONG_THE_NEWEST = """
SELECT e.place, e.target_id, e.length, e.terms
  FROM (SELECT row_number() OVER (ORDER BY target_id DESC)::int AS place, target_id, length, terms
          FROM memories_lexicalentry WHERE user_id = %s::bigint AND target_kind = %s
         ORDER BY target_id DESC LIMIT {whole}) e
 WHERE e.terms && %s::text[] AND (SELECT true FROM ({eligible}) m WHERE m.id = e.target_id)
 ORDER BY e.place LIMIT {matching}
"""
# The index of words starts with the user only if the number is as wide as the column.
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
    prepared: PreparedQuery, shelf: Shelf, *, user: User
) -> tuple[int, Mapping[int, int], Counts, Mapping[str, int]]:
    """Return the newest texts with a query word, and all texts that have a rare word.

    The document frequency of a common word is extrapolated from the newest texts.
    """
    query = prepared.query
    sought = query.terms if shelf.whole else query.sought
    whom = [user.pk, shelf.kind.value]
    [(total,)] = statements.rows(
        "SELECT count(*)::int FROM memories_lexicalentry"
        " WHERE user_id = %s::bigint AND target_kind = %s",
        whom,
    )
    found: Any = statements.rows(
        _AMONG_THE_NEWEST.format(eligible=shelf.ids.text, whole=WHOLE, matching=MATCHING),
        [*whom, list(query.terms), *shelf.ids.values],
        anew=True,
    )
    newest: _Matching = [tuple(row) for _, *row in found]
    seen = found[-1][0] if len(found) == MATCHING else WHOLE
    among = dict(zip(sought, _documents(_counts(sought, newest).frequency), strict=True))
    rare = [term for term in query.terms if among[term] < RARE * seen]
    older: Any = rare and statements.rows(
        _BY_THE_WORD.format(eligible=shelf.ids.text, matching=MATCHING),
        [rare, *whom, *shelf.ids.values],
        anew=True,
    )
    matching = sorted({row[0]: row for row in (*newest, *older)}.values())
    counts = _counts(sought, matching)
    here = dict(zip(sought, _documents(counts.frequency), strict=True))
    everywhere = {
        term: here[term] if term in rare else max(here[term], round(among[term] * total / seen))
        for term in sought
    }
    places = {pk: place for place, (pk, *_) in enumerate(matching)}
    return total, places, counts, everywhere


def _documents(frequency: NDArray[np.float64]) -> list[int]:
    """Return the number of texts that have each term."""
    found: list[int] = (frequency > 0).sum(axis=0).tolist()
    return found


def _counts(sought: Sequence[str], matching: _Matching) -> Counts:
    """Like `lexical.count_terms`, in a third of the time, since a thousand texts may match."""
    place = {term: column for column, term in enumerate(sought)}
    wanted = set(place)
    frequency = np.zeros((len(matching), len(place)))
    for row, (_, _, terms) in enumerate(matching):
        for term in wanted.intersection(terms):
            frequency[row, place[term]] = terms.count(term)
    lengths = np.array([length for _, length, _ in matching], dtype=float)
    return Counts(tuple(sought), frequency, lengths)
