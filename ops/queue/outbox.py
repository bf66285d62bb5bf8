"""Enqueue operations and change their status.

Apart from `run.succeed_queued`, no other module changes the status of an operation. Each change is
an UPDATE that requires the old status, so that of two concurrent changes only one succeeds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_noop

from foundation.database import statements
from foundation.errors import Conflict
from ops import audit_log
from ops.models import AttemptOutcome, Kind, Operation, Priority, Status, User
from ops.queue import broker, webhook_events

STOPPED = gettext_noop("The worker stopped in the middle.")
_AFTER_GIVING_WAY = 2
_TWIN = "(dedupe_key) WHERE status = 'pending'"
_SENT_OUTSIDE = ", ".join(f"'{kind.value}'" for kind in webhook_events.HELD_KINDS)

# The statement also loads the person, since nearly every handler needs them.
_CLAIM = f"""
WITH taken AS (
    UPDATE ops_operation SET status = 'running', attempt = attempt + 1, updated_at = %s,
           lease_until = %s, last_error = ''
     WHERE status = 'pending' AND id = (
        SELECT id FROM ops_operation waiting
         WHERE status = 'pending' AND run_after <= %s AND kind = ANY(%s)
           AND (serial_key IS NULL OR NOT EXISTS (
                SELECT 1 FROM ops_operation running
                 WHERE running.status = 'running' AND running.serial_key = waiting.serial_key))
           AND (kind NOT IN ({_SENT_OUTSIDE}) OR NOT EXISTS (
                SELECT 1 FROM ops_instance WHERE deliveries_held_at IS NOT NULL))
               {{whose}}
         ORDER BY priority, {{order}}run_after, id
           FOR UPDATE SKIP LOCKED
         LIMIT 1)
    RETURNING *),
tried AS (
    INSERT INTO ops_attempt (operation_id, number, started_at, error)
    SELECT id, attempt, %s, '' FROM taken)
SELECT {statements.columns(Operation, "taken")}, {statements.columns(User, "u")}
  FROM taken LEFT JOIN ops_user u ON u.subject = taken.subject
"""
_HELD = """
SELECT 1 FROM ops_operation WHERE id = %s AND status = 'running' AND attempt = %s FOR UPDATE
"""
_RENEW = """
UPDATE ops_operation SET lease_until = %s WHERE id = (
    SELECT id FROM ops_operation WHERE id = %s AND status = 'running' AND attempt = %s
       FOR UPDATE SKIP LOCKED)
RETURNING 1
"""
_RUNS = "SELECT 1 FROM ops_operation WHERE id = %s AND status = 'running' AND attempt = %s"
_PROGRESS = """
UPDATE ops_operation
   SET progress_step = %s, progress_done = %s, progress_total = %s, updated_at = %s
 WHERE id = %s AND status = 'running' AND attempt = %s RETURNING 1
"""
_ENDED = """
UPDATE ops_attempt SET finished_at = %s, outcome = %s, error = %s
 WHERE operation_id = %s AND number = %s
"""
_STORE_FORGET_OUTCOME = (
    "UPDATE ops_operation SET payload = jsonb_set(payload, '{forget}', %s::jsonb) WHERE id = %s"
)
_MARK_ANSWERED = """
UPDATE ops_operation
   SET payload = payload || jsonb_build_object('answered', true, 'answered_by', %s::text)
 WHERE id = %s
"""
_OLDEST = _CLAIM.format(whose="", order="")
_NEXT_PERSON = _CLAIM.format(
    whose="""
           AND subject > %s AND priority = (
                SELECT min(priority) FROM ops_operation
                 WHERE status = 'pending' AND run_after <= %s AND kind = ANY(%s))""",
    order="subject, ",
)
_SUCCEED = """
WITH moved AS (
    UPDATE ops_operation SET status = 'succeeded', lease_until = NULL, finished_at = %s,
           updated_at = %s, result = %s, progress_done = progress_total
     WHERE id = %s AND status = 'running' AND attempt = %s
    RETURNING id, attempt),
ended AS (
    UPDATE ops_attempt tried SET finished_at = %s, outcome = 'succeeded', error = ''
      FROM moved WHERE tried.operation_id = moved.id AND tried.number = moved.attempt)
SELECT count(*), EXISTS (
           SELECT 1 FROM ops_webhook WHERE is_active AND 'operation.finished' = ANY(events))
  FROM moved
"""

_POSTPONE = """
WITH moved AS (
    UPDATE ops_operation SET attempt = attempt + 1, run_after = %s, last_error = %s,
           updated_at = %s, max_attempts = greatest(max_attempts, 2)
     WHERE id = %s AND status = 'pending' AND attempt = 0
    RETURNING id, attempt)
INSERT INTO ops_attempt (operation_id, number, started_at, finished_at, outcome, error)
SELECT id, attempt, %s, %s, 'retried', %s FROM moved
"""
_POSTPONED_BY = timedelta(seconds=1)


@dataclass(frozen=True)
class ClaimedOperation:
    """An operation claimed by this worker, with its person if they still exist."""

    operation: Operation
    user: User | None


def enqueue(
    kind: Kind,
    *,
    subject: UUID | None,
    payload: Mapping[str, Any],
    priority: Priority = Priority.TURN,
    dedupe_key: str | None = None,
    serial_key: str | None = None,
    run_after: datetime | None = None,
    requested_by_key: int | None = None,
) -> Operation:
    """Insert an operation in the caller's transaction, and wake the worker after the commit.

    `payload` must not contain any content, only ids and options. The worker is not woken for an
    operation with `run_after`; the periodic sweep finds it. If an operation with the same
    `dedupe_key` is already queued, return that operation. By default, the acting API key is
    recorded as the requester.
    """
    operation = _new(
        NewOperation(kind, payload, priority),
        subject=subject,
        serial_key=serial_key,
        dedupe_key=dedupe_key,
        run_after=run_after or timezone.now(),
        requested_by_key=requested_by_key or audit_log.acting_key_id(),
    )
    operation = _inserted(operation)
    if run_after is None:
        transaction.on_commit(broker.wake, robust=True)
    return operation


def _new(wanted: NewOperation, **fields: Any) -> Operation:
    return Operation(
        kind=wanted.kind,
        payload=dict(wanted.payload),
        priority=wanted.priority,
        max_attempts=settings.OPERATION_ATTEMPTS,
        **fields,
    )


def store_forget_outcome(operation: Operation, outcome: dict[str, Any]) -> None:
    """Store the outcome of a request to forget in the operation that handled the request.

    `outcome` contains a status and ids. It may be a question that the person must answer: which of
    several matches to forget.
    """
    statements.rows(_STORE_FORGET_OUTCOME, [json.dumps(outcome), operation.pk])
    operation.payload["forget"] = outcome


def mark_answered(operation: Operation, *, by: str = "") -> None:
    """Record that the person has answered the question stored in this operation.

    `by` is the public id of the operation that carries out the answer.
    """
    statements.rows(_MARK_ANSWERED, [by, operation.pk])


def _inserted(operation: Operation) -> Operation:
    while not statements.insert_if_new(operation, conflict=_TWIN):
        twins = Operation.objects.filter(dedupe_key=operation.dedupe_key, status=Status.PENDING)
        if twin := twins.first():
            return twin
    return operation


@dataclass(frozen=True)
class NewOperation:
    """Kind, payload and priority of an operation to be enqueued by `enqueue_each`."""

    kind: Kind
    payload: Mapping[str, Any]
    priority: Priority


def enqueue_each(
    wanted: Sequence[NewOperation], *, subject: UUID, serial_key: str | None = None
) -> tuple[Operation, ...]:
    """Enqueue several operations in one statement, without dedupe keys."""
    now, key = timezone.now(), audit_log.acting_key_id()
    fields = {"subject": subject, "serial_key": serial_key, "requested_by_key": key}
    made = [_new(item, run_after=now, **fields) for item in wanted]
    statements.insert(made)
    transaction.on_commit(broker.wake, robust=True)
    return tuple(made)


def enqueue_all(
    kind: Kind,
    *,
    subject: UUID,
    payloads: Sequence[Mapping[str, Any]],
    priority: Priority,
    serial_key: str | None = None,
) -> int:
    """Enqueue many operations of the same kind, without dedupe keys; return their number."""
    fields = {"subject": subject, "serial_key": serial_key, "run_after": timezone.now()}
    made = [_new(NewOperation(kind, payload, priority), **fields) for payload in payloads]
    Operation.objects.bulk_create(made, batch_size=1_000)
    transaction.on_commit(broker.wake, robust=True)
    return len(made)


def claim_next(
    kinds: Sequence[str], *, now: datetime, after: UUID | None = None
) -> ClaimedOperation | None:
    """Claim the most urgent operation that is due, or return None.

    Claiming gives this worker a lease: the right to run the operation until a time that the worker
    must keep extending. Among operations of the same priority, the oldest is claimed or, with
    `after`, the oldest of the person whose subject follows `after`. Operations with the same
    `serial_key` run one at a time. Raise `IntegrityError` if another worker was faster; the
    caller's transaction is then rolled back.
    """
    due = [now, list(kinds)]
    following = [] if after is None else [after, *due]
    text = _OLDEST if after is None else _NEXT_PERSON
    found = statements.rows(text, [now, _lease(now), *due, *following, now])
    if not found:
        return None
    width = statements.width(Operation)
    operation = statements.instance(Operation, found[0][:width])
    person = found[0][width:]
    return ClaimedOperation(operation, statements.instance(User, person) if person[0] else None)


def succeed(operation: Operation, *, result: Mapping[str, Any] | None = None) -> bool:
    """RUNNING -> SUCCEEDED. Return False if this worker has lost its lease."""
    now = timezone.now()
    result_json = json.dumps(dict(result or {}))
    values = [now, now, result_json, operation.pk, operation.attempt, now]
    moved, anybody_listens = statements.rows(_SUCCEED, values)[0]
    if moved and anybody_listens:
        webhook_events.operation_ended(operation, status=Status.SUCCEEDED)
    return bool(moved)


def fail(operation: Operation, *, error: str, permanent: bool = False, counts: bool = True) -> bool:
    """RUNNING -> PENDING with a delay, or FAILED for good. Return False if the lease was lost.

    The delay is 1 s, and doubles with each attempt up to `OPERATION_BACKOFF_CAP`. `error` is plain
    text without any personal content. With `counts=False` (for example if a server was down), the
    failure uses up no attempt while the operation is younger than `PROVIDER_PATIENCE_HOURS`.
    """
    now = timezone.now()
    patience = timedelta(hours=settings.PROVIDER_PATIENCE_HOURS)
    spared = not counts and now - operation.created_at < patience
    over = permanent or (operation.attempt >= operation.max_attempts and not spared)
    changes: dict[str, Any] = {"lease_until": None, "last_error": error[:500], "updated_at": now}
    if over:
        changes |= {"status": Status.FAILED, "finished_at": now}
    else:
        delay = min(2 ** (operation.attempt - 1), settings.OPERATION_BACKOFF_CAP)
        changes |= {"status": Status.PENDING, "run_after": now + timedelta(seconds=delay)}
        changes |= {"max_attempts": F("max_attempts") + 1} if spared else {}
    outcome = AttemptOutcome.FAILED if over else AttemptOutcome.RETRIED
    moved = _move_back(operation, changes)
    if moved and over:
        webhook_events.operation_ended(operation, status=Status.FAILED)
    return _ended(operation, moved, outcome=outcome, error=error)


def release(operation: Operation) -> bool:
    """RUNNING -> PENDING without using up an attempt, to let a forget operation run first.

    The operation is due after a short delay, since it would otherwise be interrupted again at once.
    Return False if the lease was lost.
    """
    now = timezone.now()
    changes = {
        "status": Status.PENDING,
        "lease_until": None,
        "run_after": now + timedelta(seconds=_AFTER_GIVING_WAY),
        "max_attempts": F("max_attempts") + 1,
        "updated_at": now,
    }
    return _ended(operation, _move_back(operation, changes), outcome=AttemptOutcome.RETRIED)


def postpone(pk: int, *, error: str) -> None:
    """Record a failed attempt at a queued operation whose work exceeded the time limit.

    A running operation was doing this work together with its own. After the failed attempt, the
    queued operation runs on its own. Do nothing if it is no longer queued or was tried before.
    """
    now = timezone.now()
    statements.rows(_POSTPONE, [now + _POSTPONED_BY, error, now, pk, now, now, error])


def expire(*, now: datetime) -> int:
    """End the expired leases of at most 500 operations, and return the number of these operations.

    Each operation becomes PENDING again, or FAILED if no attempts are left. Also correct times that
    were stored while the system clock was ahead, before it was set back.
    """
    count = 0
    lost = Operation.objects.filter(status=Status.RUNNING, lease_until__lt=now)
    # A stuck worker may hold a lock on a row; skip such rows rather than wait.
    for operation in lost.select_for_update(skip_locked=True).order_by("pk")[:500]:
        changes: dict[str, Any] = {
            "lease_until": None,
            "last_error": STOPPED,
            "updated_at": now,
        }
        if operation.attempt >= operation.max_attempts:
            changes |= {"status": Status.FAILED, "finished_at": now}
        else:
            changes |= {"status": Status.PENDING}
        moved = _move_back(operation, changes, lease_until__lt=now)
        if moved and changes["status"] == Status.FAILED:
            webhook_events.operation_ended(operation, status=Status.FAILED)
        count += _ended(operation, moved, outcome=AttemptOutcome.EXPIRED)
    # Correct the times of operations that were stored while the clock was ahead. Queued operations
    # become due now, and leases run out after the usual time.
    soon = _lease(now)
    ahead = Operation.objects.filter(updated_at__gt=soon)
    waiting = ahead.filter(status=Status.PENDING, run_after__gt=now)
    waiting.update(run_after=now, updated_at=now)
    leased = ahead.filter(status=Status.RUNNING, lease_until__gt=soon)
    leased.update(lease_until=soon, updated_at=now)
    return count


def cancel(operation: Operation) -> None:
    """PENDING -> CANCELLED. Raise `Conflict` if the operation is no longer queued."""
    now = timezone.now()
    waiting = Operation.objects.filter(pk=operation.pk, status=Status.PENDING)
    if not waiting.update(status=Status.CANCELLED, finished_at=now, updated_at=now):
        raise Conflict("Only an operation that is still waiting can be cancelled.")
    audit_log.record_together(
        "operation.cancel", subject=operation.subject, target=operation.public_id
    )
    webhook_events.operation_ended(operation, status=Status.CANCELLED)


def bring_forward(operation: Operation) -> None:
    """Make a queued operation due now."""
    now = timezone.now()
    waiting = Operation.objects.filter(pk=operation.pk, status=Status.PENDING, run_after__gt=now)
    if waiting.update(run_after=now, updated_at=now):
        transaction.on_commit(broker.wake, robust=True)


def retry(operation: Operation) -> None:
    """FAILED -> PENDING, with as many attempts as a new operation has.

    Raise `Conflict` if the operation hasn't failed, or if another operation with the same dedupe
    key is queued.
    """
    now = timezone.now()
    failed = Operation.objects.filter(pk=operation.pk, status=Status.FAILED)
    try:
        with transaction.atomic():
            moved = failed.update(
                status=Status.PENDING,
                max_attempts=F("attempt") + settings.OPERATION_ATTEMPTS,
                run_after=now,
                finished_at=None,
                updated_at=now,
            )
    except IntegrityError as error:
        raise Conflict("This is already waiting to be done.") from error
    if not moved:
        raise Conflict("Only an operation that has failed can be retried.")
    audit_log.record_together(
        "operation.retry", subject=operation.subject, target=operation.public_id
    )
    transaction.on_commit(broker.wake, robust=True)


def renew(operation: Operation) -> bool:
    """Extend the operation's lease. Return False if the lease was lost.

    `updated_at` stays unchanged, since it is the time of the last progress. A locked row is
    skipped, since the lock normally belongs to a transaction of the same attempt.
    """
    attempt = [operation.pk, operation.attempt]
    renewed = statements.rows(_RENEW, [_lease(timezone.now()), *attempt])
    return bool(renewed or statements.rows(_RUNS, attempt))


def has_lease(operation: Operation) -> bool:
    """Return whether this attempt still has its lease, and lock the row until the commit."""
    return bool(statements.rows(_HELD, [operation.pk, operation.attempt]))


def note_progress(operation: Operation, *, step: str, done: int, total: int) -> bool:
    """Store the progress, and lock the row until the commit.

    Return False if the lease was lost.
    """
    values = [step, done, total, timezone.now(), operation.pk, operation.attempt]
    return bool(statements.rows(_PROGRESS, values))


def _lease(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def _running(operation: Operation) -> Any:
    return Operation.objects.filter(
        pk=operation.pk, status=Status.RUNNING, attempt=operation.attempt
    )


def _move_back(operation: Operation, changes: Mapping[str, Any], **also: Any) -> int:
    """Apply the changes to the running operation; return the number of changed rows.

    If the operation can't become PENDING because another operation with its dedupe key is queued,
    cancel the operation.
    """
    try:
        with transaction.atomic():
            return int(_running(operation).filter(**also).update(**changes))
    except IntegrityError:
        gone = {"status": Status.CANCELLED, "lease_until": None, "finished_at": timezone.now()}
        return int(_running(operation).filter(**also).update(**gone))


def _ended(operation: Operation, moved: int, *, outcome: AttemptOutcome, error: str = "") -> bool:
    if moved:
        values = [timezone.now(), outcome.value, error[:500], operation.pk, operation.attempt]
        statements.rows(_ENDED, values)
    return bool(moved)
