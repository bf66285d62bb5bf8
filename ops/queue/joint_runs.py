"""Run queued operations of the same person and kind together with the running one.

The running operation holds the person's serial key, so no other worker starts them meanwhile.
They stay PENDING until the transaction that does their work also sets them to SUCCEEDED, guarded
by the status like every transition. A kill leaves all of it or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from memcenter.lib.database import statements
from ops.models import Operation
from ops.webhooks import webhook_events

# An operation that failed before runs alone, since it could fail the others.
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
    """A queued operation next to the running one."""

    pk: int
    payload: Mapping[str, Any]


def waiting(operation: Operation, *, limit: int) -> list[Beside]:
    """Return due ones of the same person, kind and priority, oldest first; none on retries."""
    if operation.attempt > 1 or not operation.serial_key:
        return []
    of = (operation.subject, operation.serial_key, operation.kind, operation.priority)
    found = statements.rows(_WAITING, [*of, timezone.now(), limit])
    return [Beside(pk, json.loads(told) if isinstance(told, str) else told) for pk, told in found]


def hold(beside: Sequence[Beside]) -> set[int]:
    """Lock and return those still queued; only their work may be done."""
    if not beside:
        return set()
    return {pk for (pk,) in statements.rows(_HOLD, [[one.pk for one in beside]])}


def succeed(results: Mapping[int, Mapping[str, Any] | None]) -> None:
    """Set the locked operations to SUCCEEDED, in the transaction that did their work."""
    if not results:
        return
    now = timezone.now()
    told = [json.dumps(dict(one or {})) for one in results.values()]
    values = [now, now, list(results), told, now, now]
    listened_to = [pk for (pk,) in statements.rows(_SUCCEED, values)]
    if listened_to:
        for operation in Operation.objects.filter(pk__in=listened_to).order_by("pk"):
            webhook_events.operation_ended(operation, status=operation.status)


def put_off(pk: int, *, error: str) -> None:
    """Count an attempt of a queued operation whose work killed the process, so it runs alone next.

    Does nothing if it is no longer queued or was tried before.
    """
    now = timezone.now()
    statements.rows(_PUT_OFF, [now + _PUT_OFF_BY, error, now, pk, now, now, error])
