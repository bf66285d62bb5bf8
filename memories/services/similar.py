"""The memories that a candidate meets: near in meaning or in words, whatever their kind."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from memcenter.lib import segment, statements
from memcenter.providers.base import Vectors
from memories.extraction.types import Known
from memories.models import Memory, MemoryStatus, Project
from memories.services import indexing
from ops.models import User

_MET = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED, MemoryStatus.CANDIDATE)
_LOOKED_AT = 300
# An event and the state that it ends may share neither words nor much meaning (怀孕了, 生了个儿子).
_ALWAYS_MET = 5


# "IS TRUE" keeps the planner to this person's rows: it looks each up in a hash of the eligible.
_SIMILAR = """
WITH eligible AS MATERIALIZED (
    SELECT id FROM memories_memory
     WHERE user_id = %s AND status = ANY(%s) AND hidden_at IS NULL AND deleted_at IS NULL
       AND project_id IS NOT DISTINCT FROM %s::bigint),
scored AS MATERIALIZED (
    SELECT v.target_id, -(v.embedding <#> %s::halfvec) AS cosine FROM memories_vector v
     WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = 'memory'
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
SELECT m.public_id, m.kind, m.content, s.cosine, m.status, m.origin,
       coalesce(m.occurred_at, m.created_at)
  FROM scored s JOIN memories_memory m ON m.id = s.target_id
 WHERE s.target_id IN (SELECT target_id FROM near UNION SELECT target_id FROM alike)
 ORDER BY s.cosine DESC, s.target_id
"""

# Whatever its status, its project, in the bin or not: who asks to forget means all that is kept.
_MEANT = """
WITH own AS MATERIALIZED (
    SELECT id FROM memories_memory WHERE user_id = %s AND hidden_at IS NULL),
scored AS MATERIALIZED (
    SELECT v.target_id, -(v.embedding <#> %s::halfvec) AS cosine FROM memories_vector v
     WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = 'memory'
       AND (v.target_id IN (SELECT id FROM own)) IS TRUE),
near AS (
    SELECT target_id FROM scored WHERE cosine >= %s ORDER BY cosine DESC, target_id LIMIT %s),
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

# What the person said themselves and is like a memory, by meaning or by words.
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


@dataclass(frozen=True)
class Meant:
    """A memory that a request may mean. `similarity` is the embedder's cosine, 0-1."""

    pk: int
    content: str
    similarity: float


def perhaps_meant(
    vector: Vectors, *, user: User, terms: Collection[str], longest: str, floor: float
) -> list[Meant]:
    """All memories that share a term, are similar from `floor` on, or once said `longest`."""
    like = "%" + re.sub(r"([\\%_])", r"\\\1", longest) + "%" if longest else ""
    found = statements.rows(
        _MEANT,
        [
            *(user.pk, indexing.written(vector), user.pk, indexing.space_id_of(vector)),
            *(floor, _LOOKED_AT, user.pk, sorted(terms), _LOOKED_AT),
            *(user.pk, like, _LOOKED_AT),
        ],
    )
    return [Meant(pk, content, min(1.0, max(0.0, cosine))) for pk, content, cosine in found]


def perhaps_saying(memory: Memory, *, few: int) -> list[int]:
    """The person's own messages that may say a memory: the `few` nearest and most alike in words.

    What was said a moment ago and isn't indexed yet is not among them.
    """
    terms = sorted(set(segment.terms(memory.content)))
    user = memory.user_id
    found = statements.rows(
        _SAYING,
        [user, user, memory.pk, few, user, terms, _LOOKED_AT, terms, few],
    )
    return [pk for (pk,) in found]


def similar_to(
    vector: Vectors,
    *,
    user: User,
    content: str,
    project: Project | None = None,
    limit: int = 12,
) -> list[Known]:
    """Active, disabled and waiting memories that may speak of the same, most similar first.

    `vector` is one unit vector of shape (dimensions,). Over the gate by meaning or among the
    nearest few, or sharing the most words: short statements that differ in a name ("Lives in
    Leeds", "Lives in Hangzhou") are far apart for the embedder. All only say
    "perhaps the same subject"; no threshold tells a repeat from a contradiction.
    """
    terms = sorted(set(segment.terms(content)))
    project_id = project.pk if project else None
    found = statements.rows(
        _SIMILAR,
        [
            *(user.pk, list(_MET), project_id, indexing.written(vector)),
            *(user.pk, indexing.space_id_of(vector), limit, _ALWAYS_MET, settings.SIMILARITY_GATE),
            *(user.pk, terms, _LOOKED_AT, terms, limit),
        ],
    )
    return [_known(*values) for values in found]


def _known(
    public_id: str,
    kind: str,
    content: str,
    cosine: float,
    status: str,
    origin: str,
    said_at: datetime,
) -> Known:
    return Known(
        id=public_id,
        kind=kind,
        content=content,
        similarity=min(1.0, max(0.0, cosine)),
        status=status,
        origin=origin,
        said_at=said_at,
    )
