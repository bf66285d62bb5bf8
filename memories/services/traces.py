"""What a recall or search returned, kept so that it can be explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import orjson
from django.utils import timezone

from conversations.models import Conversation, Message
from memcenter.lib import afterwards, ids, statements
from memories.extraction import sensitive
from memories.models import RecallTrace, TraceKind
from ops.access import STILL_THERE, within
from ops.models import User


@dataclass(frozen=True)
class Hit:
    type: str
    id: str
    score: float
    components: Mapping[str, float] = field(default_factory=dict)
    in_block: bool = False


@dataclass(frozen=True)
class Stage:
    name: str
    took_ms: float
    count: int


# Who asked is held until the end of it: a forget that begins meanwhile waits, and erases this too;
# one that had begun before has counted itself, and then there is nothing to write. A memory that
# somebody changes at this moment isn't waited for: its count of accesses may be one too low.
_RECORD = f"""
WITH person AS ({STILL_THERE}), trace AS (
  INSERT INTO memories_recalltrace
         (user_id, request_id, kind, query, conversation_id, stages, took_ms, created_at)
  SELECT p.id, %s, %s, %s, %s::bigint, %s::jsonb, %s::float8, %s::timestamptz FROM person p
  RETURNING id, user_id, created_at
), free AS (
  SELECT m.id FROM memories_memory m JOIN trace t ON m.user_id = t.user_id
   WHERE m.id = ANY(%s::bigint[]) FOR NO KEY UPDATE OF m SKIP LOCKED
), used AS (
  UPDATE memories_memory m SET access_count = access_count + 1, last_accessed_at = t.created_at
    FROM trace t, free WHERE m.id = free.id
)
INSERT INTO memories_recallhit
       (user_id, trace_id, type, target_public_id, rank, score, components, in_block)
SELECT t.user_id, t.id, h.type, h.id, h.rank, h.score, h.components, h.in_block
  FROM trace t, jsonb_to_recordset(%s::jsonb)
    AS h(type text, id text, rank int, score float8, components jsonb, in_block bool)
"""


def record(
    *,
    user: User,
    kind: TraceKind,
    query: str,
    hits: Sequence[Hit],
    stages: Sequence[Stage],
    took_ms: float,
    conversation: Conversation | None = None,
    used: Sequence[int] = (),
) -> str:
    """Keep one recall with its hits in order, in one statement; gives its request id.

    It is written after the answer where one is being given (`afterwards`), and not at all when
    something of the person was forgotten since `user` was read. A secret in what was asked is
    blanked out. `used` are the memories (by id) that went into a prompt: that counts as an access.
    """
    recalled = _Recalled(
        request_id=ids.request_id(),
        kind=kind,
        query=query,
        hits=hits,
        stages=stages,
        took_ms=took_ms,
        conversation_id=conversation.pk if conversation else None,
        used=used,
        at=timezone.now(),
    )
    afterwards.do(partial(_write, user, recalled))
    return recalled.request_id


@dataclass(frozen=True)
class _Recalled:
    request_id: str
    kind: TraceKind
    query: str
    hits: Sequence[Hit]
    stages: Sequence[Stage]
    took_ms: float
    conversation_id: int | None
    used: Sequence[int]
    at: datetime


def _write(user: User, made: _Recalled) -> None:
    """What the commit may lose when the machine itself breaks down is the last half second."""
    asked = sensitive.masked(made.query)
    noted = [
        {"name": one.name, "took_ms": round(one.took_ms, 2), "count": one.count}
        for one in made.stages
    ]
    hits = [{**vars(hit), "rank": rank} for rank, hit in enumerate(made.hits, start=1)]
    with within(user, durable=False):
        statements.rows(
            _RECORD,
            [
                *(user.pk, user.forgets),
                *(made.request_id, made.kind.value, asked, made.conversation_id),
                *(_json(noted), round(made.took_ms, 2), made.at, sorted(made.used), _json(hits)),
            ],
        )


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def answered(*, user: User, request_id: str, answer: Message) -> None:
    """Note which reply a recall's block went into: "used in this answer"."""
    RecallTrace.objects.filter(user=user, request_id=request_id).update(answer=answer)
