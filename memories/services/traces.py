"""What a recall or search returned, kept so that it can be explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson
from django.utils import timezone

from conversations.models import Conversation, Message
from memcenter.lib import ids, statements
from memories.extraction import sensitive
from memories.models import RecallTrace, TraceKind
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


_RECORD = """
WITH trace AS (
  INSERT INTO memories_recalltrace
         (user_id, request_id, kind, query, conversation_id, stages, took_ms, created_at)
  VALUES (%s, %s, %s, %s, %s, %s::jsonb, %s, %s) RETURNING id, user_id, created_at
), used AS (
  UPDATE memories_memory m SET access_count = access_count + 1, last_accessed_at = t.created_at
    FROM trace t WHERE m.user_id = t.user_id AND m.id = ANY(%s::bigint[])
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

    A secret in what was asked is blanked out. `used` are the memories (by id) that went into a
    prompt: that counts as an access.
    """
    request_id, asked = ids.request_id(), sensitive.screen(query).text
    noted = [
        {"name": one.name, "took_ms": round(one.took_ms, 2), "count": one.count} for one in stages
    ]
    statements.rows(
        _RECORD,
        [
            *(
                user.pk,
                request_id,
                kind.value,
                asked,
                conversation.pk if conversation else None,
            ),
            *(_json(noted), round(took_ms, 2), timezone.now(), sorted(used)),
            _json([{**vars(hit), "rank": rank} for rank, hit in enumerate(hits, start=1)]),
        ],
    )
    return request_id


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def answered(*, user: User, request_id: str, answer: Message) -> None:
    """Note which reply a recall's block went into: "used in this answer"."""
    RecallTrace.objects.filter(user=user, request_id=request_id).update(answer=answer)
