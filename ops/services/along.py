"""Doing what waits of one person together with what runs: their operations of one kind.

The one that runs holds the person's serial key, so nobody begins another of them meanwhile. They
stay PENDING until the transaction that does their work, which ends them as well: PENDING ->
SUCCEEDED, guarded by the status as every transition is. A kill leaves all of it or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from memcenter.lib import statements
from ops.models import Operation
from ops.services import events

# What failed before is run alone: it would take the others with it.
_WAITING = """
SELECT id, payload FROM ops_operation
 WHERE status = 'pending' AND subject = %s AND serial_key = %s AND kind = %s AND priority = %s
   AND run_after <= %s AND attempt = 0
 ORDER BY run_after, id LIMIT %s
"""
_HOLD = """
SELECT id FROM ops_operation WHERE id = ANY(%s) AND status = 'pending' FOR UPDATE SKIP LOCKED
"""
_SUCCEED = """
WITH moved AS (
    UPDATE ops_operation o SET status = 'succeeded', attempt = attempt + 1, finished_at = %s,
           updated_at = %s, result = told.result
      FROM unnest(%s::bigint[], %s::jsonb[]) AS told (id, result)
     WHERE o.id = told.id AND o.status = 'pending'
    RETURNING o.id, o.attempt),
tried AS (
    INSERT INTO ops_attempt (operation_id, number, started_at, finished_at, outcome, error)
    SELECT id, attempt, %s, %s, 'succeeded', '' FROM moved)
SELECT id FROM moved WHERE EXISTS (
       SELECT 1 FROM ops_webhook WHERE is_active AND 'operation.finished' = ANY(events))
"""


_PUT_OFF = """
WITH moved AS (
    UPDATE ops_operation SET attempt = attempt + 1, run_after = %s, last_error = %s,
           updated_at = %s, max_attempts = greatest(max_attempts, 2)
     WHERE id = %s AND status = 'pending' AND attempt = 0
    RETURNING id, attempt)
INSERT INTO ops_attempt (operation_id, number, started_at, finished_at, outcome, error)
SELECT id, attempt, %s, %s, 'retried', %s FROM moved
"""
_PUT_OFF_BY = timedelta(seconds=1)


@dataclass(frozen=True)
class Beside:
    """An operation that waits beside the one that runs."""

    pk: int
    payload: Mapping[str, Any]


def waiting(operation: Operation, *, limit: int) -> list[Beside]:
    """What is due of the same person, kind and urgency, oldest first; nothing on a second try."""
    if operation.attempt > 1 or not operation.serial_key:
        return []
    of = (operation.subject, operation.serial_key, operation.kind, operation.priority)
    found = statements.rows(_WAITING, [*of, timezone.now(), limit])
    return [Beside(pk, json.loads(told) if isinstance(told, str) else told) for pk, told in found]


def hold(beside: Sequence[Beside]) -> set[int]:
    """Those that still wait, held until the transaction ends: only their work may be done."""
    if not beside:
        return set()
    return {pk for (pk,) in statements.rows(_HOLD, [[one.pk for one in beside]])}


def succeed(results: Mapping[int, Mapping[str, Any] | None]) -> None:
    """End those that are held, in the transaction that did their work."""
    if not results:
        return
    now = timezone.now()
    told = [json.dumps(dict(one or {})) for one in results.values()]
    values = [now, now, list(results), told, now, now]
    listened_to = [pk for (pk,) in statements.rows(_SUCCEED, values)]
    if listened_to:
        for operation in Operation.objects.filter(pk__in=listened_to).order_by("pk"):
            events.operation_ended(operation, status=operation.status)


def put_off(pk: int, *, error: str) -> None:
    """Count a try of one that waits, whose work ended the process: next it is run alone.

    Nothing where it waits no longer, or was tried before.
    """
    now = timezone.now()
    statements.rows(_PUT_OFF, [now + _PUT_OFF_BY, error, now, pk, now, now, error])
