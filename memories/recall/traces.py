"""Record the results of recalls and searches as traces, so that they can be explained later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import orjson
from django.db.models import F
from django.utils import timezone

from conversations.models import Conversation, Message
from foundation import deferred_writes, ids
from foundation.database import statements
from memories.extraction import masking
from memories.extraction.requests import commands
from memories.models import Memory, RecallHit, RecallTrace, TraceKind
from ops.access import STILL_THERE, join_transaction
from ops.models import User

# The score components of a memory that a reply quotes on request, without a search.
_QUOTED = {"raw_relevance": 1.0, "concept": 1.0}
_RECALLED_BEFORE = timedelta(hours=1)  # a client recalls for a message before it records the turn


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


# The user's row is locked until the transaction ends. A request to forget that arrives meanwhile
# waits, and erases this trace too. An earlier request has raised `User.forgets`, so nothing is
# written. A memory that another transaction has locked is skipped; then its access count may be one
# too low.
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
    """Record a recall or search with its hits in order, and return its request id.

    The record is written in one statement, after the current response if there is one
    (`deferred_writes`). Nothing is written if any of the user's data has been forgotten since
    `user` was read. `stored_query` determines the query text that is stored. `used` holds the ids
    of the memories that went into a prompt, which counts as an access.
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
    deferred_writes.defer(partial(_write, user, recalled))
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


def stored_query(text: str) -> str:
    """Return the query text that a trace stores.

    The text is empty if the query contains a secret or asks not to be kept; the trace then shows
    the results, but not the query.
    """
    is_secret = masking.is_redacted(masking.masked(text))
    return "" if is_secret or commands.asks_not_to_store(text) else text


def erase_query(message: Message) -> None:
    """Erase a message's text from traces, because the user asked not to keep it.

    Traces that were made more than an hour before the message are left unchanged.
    """
    since = message.created_at - _RECALLED_BEFORE
    traces = RecallTrace.objects.filter(user=message.user_id, created_at__gte=since)
    traces.filter(query=message.content).update(query="")


def _write(user: User, trace: _Recalled) -> None:
    """Write the trace without waiting for the disk; a crash may lose traces of the last 0.5 s."""
    query = stored_query(trace.query)
    stages = [
        {"name": stage.name, "took_ms": round(stage.took_ms, 2), "count": stage.count}
        for stage in trace.stages
    ]
    hits = [{**vars(hit), "rank": rank} for rank, hit in enumerate(trace.hits, start=1)]
    values = [
        *(user.pk, user.forgets),
        *(trace.request_id, trace.kind.value, query, trace.conversation_id),
        *(_json(stages), round(trace.took_ms, 2), trace.at, sorted(trace.used), _json(hits)),
    ]
    with join_transaction(user, durable=False, at_once=False):
        written = statements.Batch()
        written.add(_RECORD, values)
        written.run(ends=True)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def link_answer(
    *, user: User, request_id: str, answer: Message, quoted: Sequence[str] = ()
) -> None:
    """Link a recorded recall to the reply that was generated with the recalled memories.

    `quoted` holds the public ids of memories that the reply quotes. Quoted memories that weren't
    recalled are added as hits, so that the trace lists every memory that the reply uses, and are
    counted as used.
    """
    found = RecallTrace.objects.filter(user=user, request_id=request_id)
    found.update(answer=answer)
    trace = found.first() if quoted else None
    if trace is None:
        return
    known = list(trace.hits.values_list("target_public_id", flat=True))
    new = [one for one in quoted if one not in known]
    RecallHit.objects.bulk_create(
        RecallHit(
            user=user,
            trace=trace,
            type="memory",
            target_public_id=one,
            rank=rank,
            score=1.0,
            components=_QUOTED,
            in_block=True,
        )
        for rank, one in enumerate(new, start=len(known) + 1)
    )
    found_memories = Memory.objects.filter(user=user, public_id__in=new)
    free = found_memories.select_for_update(skip_locked=True, no_key=True)
    Memory.objects.filter(pk__in=list(free.values_list("pk", flat=True))).update(
        access_count=F("access_count") + 1, last_accessed_at=trace.created_at
    )
