"""Find memories and messages that are similar to a statement in meaning or wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from django.conf import settings

from foundation.database import statements
from foundation.database.statements import Batch
from foundation.providers.base import Vectors
from foundation.text import segment, shingles
from memories.extraction.masking import additions_in_words, without_additions
from memories.extraction.types import KnownMemory
from memories.indexing import search_index
from memories.models import Memory, MemoryStatus, Project
from ops.models import User

_STATUSES = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED, MemoryStatus.CANDIDATE)
_MAX_ROWS = 300
# The nearest memories are always compared: an event and the state that it ends may share neither
# words nor much meaning ("is pregnant", "had a son").
_ALWAYS_INCLUDED = 5
_MOST_SIMILAR = 12  # maximum number of nearest memories, and of memories that share the most words


# "IS TRUE" makes the planner read only this user's rows and look each up in a hash of eligible ids.
_SIMILAR = f"""
WITH eligible AS MATERIALIZED (
    SELECT id FROM memories_memory
     WHERE user_id = %s AND (status = ANY(%s) OR (status = 'archived' AND archived_at IS NOT NULL))
       AND hidden_at IS NULL AND deleted_at IS NULL
       AND project_id IS NOT DISTINCT FROM %s::bigint),
scored AS MATERIALIZED (
    SELECT v.target_id, -(v.embedding <#> %s::halfvec) AS cosine FROM memories_vector v
     WHERE v.user_id = %s AND v.space_id = {search_index.SPACE_OF} AND v.target_kind = 'memory'
       AND (v.target_id IN (SELECT id FROM eligible)) IS TRUE),
nearest AS (
    SELECT target_id, cosine FROM scored ORDER BY cosine DESC, target_id LIMIT %s),
near AS (
    (SELECT target_id FROM nearest ORDER BY cosine DESC, target_id LIMIT %s)
    UNION SELECT target_id FROM nearest WHERE cosine >= %s),
worded AS (
    SELECT target_id, terms FROM memories_lexicalentry
     WHERE user_id = %s AND target_kind = 'memory' AND (terms && %s::text[]) IS TRUE
       AND (target_id IN (SELECT id FROM eligible)) IS TRUE
     ORDER BY target_id DESC LIMIT %s),
alike AS (
    SELECT target_id FROM worded CROSS JOIN LATERAL (
        SELECT count(DISTINCT term) FILTER (WHERE term = ANY(%s::text[]))::float8
               / greatest(1, count(DISTINCT term)) AS share FROM unnest(terms) AS term) AS one
     ORDER BY share DESC, target_id DESC LIMIT %s)
SELECT m.public_id, m.kind, m.content, s.cosine,
       CASE WHEN m.status = 'archived' THEN 'active' ELSE m.status END, m.origin,
       coalesce(m.occurred_at, m.created_at)
  FROM scored s JOIN memories_memory m ON m.id = s.target_id
 WHERE s.target_id IN (SELECT target_id FROM near UNION SELECT target_id FROM alike)
 ORDER BY s.cosine DESC, s.target_id
"""

# Memories of every status and project are searched, including those in the recycle bin, since a
# request to forget may refer to any stored memory.
_MEANT = f"""
WITH own AS MATERIALIZED (
    SELECT id FROM memories_memory WHERE user_id = %s AND hidden_at IS NULL),
scored AS MATERIALIZED (
    SELECT v.target_id, -(v.embedding <#> %s::halfvec) AS cosine FROM memories_vector v
     WHERE v.user_id = %s AND v.space_id = {search_index.SPACE_OF} AND v.target_kind = 'memory'
       AND (v.target_id IN (SELECT id FROM own)) IS TRUE),
near AS (
    SELECT target_id FROM (
        SELECT target_id, cosine, row_number() OVER (ORDER BY cosine DESC, target_id) AS place
          FROM scored) AS one
     WHERE place <= %s OR cosine >= %s ORDER BY cosine DESC, target_id LIMIT %s),
worded AS (
    SELECT target_id FROM memories_lexicalentry
     WHERE user_id = %s AND target_kind = 'memory' AND (terms && %s::text[]) IS TRUE
       AND (target_id IN (SELECT id FROM own)) IS TRUE
     ORDER BY target_id DESC LIMIT %s),
said_before AS (
    SELECT memory_id FROM memories_memoryversion
     WHERE user_id = %s AND hidden_at IS NULL AND content ILIKE %s
     ORDER BY memory_id DESC LIMIT %s),
found AS (
    SELECT target_id FROM near UNION SELECT target_id FROM worded
    UNION SELECT memory_id FROM said_before)
SELECT m.id, m.content, coalesce(s.cosine, 0) FROM own JOIN memories_memory m USING (id)
  LEFT JOIN scored s ON s.target_id = m.id
 WHERE m.id IN (SELECT target_id FROM found) ORDER BY 3 DESC, 1
"""

# The user's own messages that are similar to a memory, by meaning or by words.
_SAYING = """
WITH own AS MATERIALIZED (
    SELECT id FROM conversations_message
     WHERE user_id = %s AND role = 'user' AND hidden_at IS NULL),
near AS (
    SELECT v.target_id FROM memories_vector m
      JOIN memories_vector v ON v.user_id = m.user_id AND v.space_id = m.space_id
       AND v.target_kind = 'message' AND (v.target_id IN (SELECT id FROM own)) IS TRUE
     WHERE m.user_id = %s AND m.target_kind = 'memory' AND m.target_id = %s
     ORDER BY v.embedding <#> m.embedding, v.target_id LIMIT %s),
worded AS (
    SELECT target_id, terms FROM memories_lexicalentry
     WHERE user_id = %s AND target_kind = 'message' AND (terms && %s::text[]) IS TRUE
       AND (target_id IN (SELECT id FROM own)) IS TRUE
     ORDER BY target_id DESC LIMIT %s),
alike AS (
    SELECT target_id FROM worded CROSS JOIN LATERAL (
        SELECT count(DISTINCT term) AS shared FROM unnest(terms) AS term
         WHERE term = ANY(%s::text[])) AS one
     ORDER BY shared DESC, target_id DESC LIMIT %s)
SELECT DISTINCT target_id FROM (
    SELECT target_id FROM near UNION ALL SELECT target_id FROM alike) AS found
"""

# The messages of the user and the assistant that contain one of the given texts.
_REPEATING = """
SELECT id, content FROM conversations_message
 WHERE user_id = %s AND role IN ('user', 'assistant') AND hidden_at IS NULL
   AND content ILIKE ANY(%s::text[])
 ORDER BY id
"""
_SHORTEST = 4  # letters and digits; unrelated messages may contain a shorter text


@dataclass(frozen=True)
class RequestMatch:
    """A memory to which a request to forget may refer.

    `similarity` is the cosine similarity of the vectors, clipped to the range 0-1.
    """

    pk: int
    content: str
    similarity: float


def find_request_matches(
    vector: Vectors, *, user: User, terms: Collection[str], longest: str, floor: float, nearest: int
) -> list[RequestMatch]:
    """Return the memories to which a request to forget may refer, most similar first.

    `vector` and `terms` are the vector and the words of the request, and `longest` is its longest
    word. Each returned memory meets at least one condition: it contains one of `terms`, it is among
    the `nearest` most similar memories, its cosine similarity is at least `floor`, or one of its
    versions contains `longest`.
    """
    like = _like(longest) if longest else ""
    found = statements.rows(
        _MEANT,
        [
            *(user.pk, search_index.as_sql_text(vector), user.pk),
            *search_index.embedder_values(vector),
            *(nearest, floor, _MAX_ROWS, user.pk, sorted(terms), _MAX_ROWS),
            *(user.pk, like, _MAX_ROWS),
        ],
    )
    return [RequestMatch(pk, content, min(1.0, max(0.0, cosine))) for pk, content, cosine in found]


def possible_source_messages(memory: Memory, *, few: int) -> list[int]:
    """Return the ids of the user's messages that may state a memory.

    These are the `few` messages that are most similar in meaning and the `few` that share the most
    words with the memory. Messages that aren't indexed yet aren't found.
    """
    terms = sorted(set(segment.terms(memory.content)))
    user = memory.user_id
    found = statements.rows(
        _SAYING,
        [user, user, memory.pk, few, user, terms, _MAX_ROWS, terms, few],
    )
    return [pk for (pk,) in found]


def messages_containing(texts: Iterable[str], *, user: User) -> list[int]:
    """Return the ids of messages that contain one of the texts word for word.

    The messages of the user and the assistant are searched. Parts of a text in square brackets are
    additions to the user's own words; such a text is also searched for without the brackets, and
    without the additions. Single words and texts of fewer than `_SHORTEST` letters and digits are
    ignored.
    """
    forms = (
        form for text in texts for form in (text, additions_in_words(text), without_additions(text))
    )
    said = set(filter(_is_statement, map(_plain, forms)))
    if not said:
        return []
    found = statements.rows(_REPEATING, [user.pk, [_like(text) for text in said]])
    # A match starts and ends at a word boundary: "she is 50" doesn't contain "she is 5".
    whole = re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, said))})(?!\w)", re.IGNORECASE | re.ASCII
    )
    return [pk for pk, content in found if whole.search(content)]


def _is_statement(text: str) -> bool:
    several = " " in text or shingles.has_han(text)
    return several and len(shingles.normalise(text)) >= _SHORTEST


def _plain(text: str) -> str:
    return re.sub(r" {2,}", " ", text).strip(" \n.!?。！？")


def _like(text: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def similar_to(
    vector: Vectors,
    *,
    user: User,
    content: str,
    project: Project | None = None,
) -> list[KnownMemory]:
    """Return memories that may be about the same subject, most similar first.

    These are active or disabled memories, candidates, and memories archived because they were
    unused; archived memories count as active, since a repetition restores them. `vector` is a unit
    vector of shape (dimensions,). Of the `_MOST_SIMILAR` nearest memories, the first
    `_ALWAYS_INCLUDED` and those whose similarity reaches `SIMILARITY_GATE` are returned. The
    `_MOST_SIMILAR` memories that share the most words are returned too. Words are compared because
    the embedder puts short statements that differ in a name ("Lives in Leeds", "Lives in Hangzhou")
    far apart. The result only means "perhaps the same subject"; no threshold distinguishes a
    repetition from a contradiction.
    """
    return add_similar_query(Batch(), vector, user=user, content=content, project=project)()


def add_similar_query(
    batch: Batch,
    vector: Vectors,
    *,
    user: User,
    content: str,
    project: Project | None = None,
) -> Callable[[], list[KnownMemory]]:
    """Add the SQL statement of `similar_to` to a batch; return a function that gets the result."""
    terms = sorted(set(segment.terms(content)))
    project_id = project.pk if project else None
    found = batch.add(
        _SIMILAR,
        [
            *(user.pk, list(_STATUSES), project_id, search_index.as_sql_text(vector), user.pk),
            *search_index.embedder_values(vector),
            *(_MOST_SIMILAR, _ALWAYS_INCLUDED, settings.SIMILARITY_GATE),
            *(user.pk, terms, _MAX_ROWS, terms, _MOST_SIMILAR),
        ],
    )

    def known() -> list[KnownMemory]:
        return [
            KnownMemory(
                *(public_id, kind, content, min(1.0, max(0.0, cosine))),
                status=status,
                origin=origin,
                said_at=said_at,
            )
            for public_id, kind, content, cosine, status, origin, said_at in found.rows()
        ]

    return known
