"""One attempt at an operation, as its handler sees it, and helpers for handlers.

A handler may work in batches, and may do the work of queued operations of the same person and kind
together with its own. No other worker starts the queued operations in the meantime, since the
running operation occupies the person's serial key. They stay PENDING until the transaction that
does their work also sets them to SUCCEEDED, by an UPDATE that requires the old status. If the
process is killed, each transaction has done either all of its work or none.

Each call of a model is recorded with its operation, tokens, time and cost, but without any content.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from foundation.database import statements
from foundation.providers.base import ModelUse
from ops.access import as_system, as_user
from ops.models import Kind, ModelCall, Operation, User
from ops.queue import outbox, watchdog, webhook_events

_FOLLOWING = frozenset([Kind.EXTRACT_TURN, Kind.INDEX_EPISODE, Kind.INDEX_MEMORY, Kind.SUMMARIZE])
# Excludes operations that failed before: they run alone, since they could make the others fail.
_FIND_QUEUED = """
SELECT id, payload FROM ops_operation
 WHERE status = 'pending' AND subject = %s AND serial_key = %s AND kind = %s AND priority = %s
   AND run_after <= %s AND attempt = 0
 ORDER BY run_after, id LIMIT %s
"""
_LOCK_QUEUED = """
SELECT id FROM ops_operation WHERE id = ANY(%s) AND status = 'pending' FOR UPDATE SKIP LOCKED
"""
_SUCCEED_QUEUED = """
WITH moved AS (
    UPDATE ops_operation o SET status = 'succeeded', attempt = attempt + 1, finished_at = %s,
           updated_at = %s, result = new.result
      FROM unnest(%s::bigint[], %s::jsonb[]) AS new (id, result)
     WHERE o.id = new.id AND o.status = 'pending'
    RETURNING o.id, o.attempt),
tried AS (
    INSERT INTO ops_attempt (operation_id, number, started_at, finished_at, outcome, error)
    SELECT id, attempt, %s, %s, 'succeeded', '' FROM moved)
SELECT id FROM moved WHERE EXISTS (
       SELECT 1 FROM ops_webhook WHERE is_active AND 'operation.finished' = ANY(events))
"""
AT_ONCE = 1_000
_MILLION = Decimal(1_000_000)
_MOST_COST = Decimal("999999.999999")  # the column's maximum
_current: ContextVar[Operation | None] = ContextVar("operation_that_asks", default=None)


class LeaseLost(Exception):
    """This attempt has lost its lease on the operation, so it must not write anything more."""


class GiveWay(Exception):
    """Raised by a long handler if a forget operation for the same person is queued or running.

    The interrupted operation is then queued again, and the forget operation runs first.
    """


class Run:
    """One attempt at an operation, as its handler sees it."""

    def __init__(self, operation: Operation, *, user: User | None) -> None:
        self.operation = operation
        self.payload: dict[str, Any] = operation.payload
        self._user = user
        self._steps = 0  # steps reported without numbers

    def user(self) -> User | None:
        """Return the person of the operation, even if they are being forgotten.

        Return None if the account had been deleted when the operation was claimed.
        """
        return self._user

    @contextmanager
    def applying(self, user: User, *, durable: bool = False) -> Iterator[None]:
        """Open a transaction that holds the person's lock, and check this attempt's lease.

        Raise `LeaseLost` if the lease was lost. For kinds of operations that only derive rows from
        other rows, the commit doesn't wait for the disk, unless `durable` is True. The write-ahead
        log is ordered, so after a crash an operation is never recorded as finished without its
        rows.
        """
        watchdog.own.restart_limit()
        durable = durable or self.operation.kind not in _FOLLOWING
        with as_user(user, durable=durable, changing=True):
            self._check()
            yield

    @contextmanager
    def applying_as_system(self) -> Iterator[None]:
        watchdog.own.restart_limit()
        with as_system():
            self._check()
            yield

    def step(self, name: str, *, done: int = 0, total: int = 0) -> None:
        """Store the progress. Raise `LeaseLost` if this attempt has lost its lease.

        If `total` is 0, the progress is counted in steps: `n` earlier steps out of `n + 1`. The
        commit doesn't wait for the disk. Each step resets the limit on processor time.
        """
        watchdog.own.restart_limit()
        if not total:
            done, self._steps = self._steps, self._steps + 1
            total = self._steps
        with as_system(durable=False):
            if not outbox.note_progress(self.operation, step=name, done=done, total=total):
                raise LeaseLost(self.operation.public_id)

    def find_queued(self, *, limit: int) -> list[QueuedOperation]:
        """Return queued operations of the same person and kind whose work this run may do too."""
        return find_queued(self.operation, limit=limit)

    def switch_to(self, waiting: int | None) -> None:
        """Record that work on a queued operation begins.

        `waiting` is its primary key; None means that the running operation resumes its own work.
        The processor time of each operation is limited separately. If a limit is exceeded, only the
        operation whose work exceeded it gets a failed attempt.
        """
        watchdog.own.restart_limit(with_pk=waiting)

    def _check(self) -> None:
        if not outbox.has_lease(self.operation):
            raise LeaseLost(self.operation.public_id)


@dataclass(frozen=True)
class QueuedOperation:
    """A queued operation whose work a running operation may do together with its own."""

    pk: int
    payload: Mapping[str, Any]


def find_queued(operation: Operation, *, limit: int) -> list[QueuedOperation]:
    """Return due, untried operations of the same person, kind and priority, oldest first.

    The list is empty if `operation` is being retried, since it must then run alone.
    """
    if operation.attempt > 1 or not operation.serial_key:
        return []
    same = (operation.subject, operation.serial_key, operation.kind, operation.priority)
    found = statements.rows(_FIND_QUEUED, [*same, timezone.now(), limit])
    return [
        QueuedOperation(pk, json.loads(payload) if isinstance(payload, str) else payload)
        for pk, payload in found
    ]


def lock_queued(queued: Sequence[QueuedOperation]) -> set[int]:
    """Lock the operations that are still queued; return their primary keys.

    The caller may do the work of the locked operations only.
    """
    if not queued:
        return set()
    return {pk for (pk,) in statements.rows(_LOCK_QUEUED, [[item.pk for item in queued]])}


def succeed_queued(results: Mapping[int, Mapping[str, Any] | None]) -> None:
    """Set these operations to SUCCEEDED, in the transaction that did their work.

    The operations must have been locked by `lock_queued`.
    """
    if not results:
        return
    now = timezone.now()
    result_texts = [json.dumps(dict(result or {})) for result in results.values()]
    values = [now, now, list(results), result_texts, now, now]
    listened_to = [pk for (pk,) in statements.rows(_SUCCEED_QUEUED, values)]
    if listened_to:
        for operation in Operation.objects.filter(pk__in=listened_to).order_by("pk"):
            webhook_events.operation_ended(operation, status=operation.status)


def work_in_batches(run: Run, rows: QuerySet[Any], act: Callable[[QuerySet[Any]], object]) -> int:
    """Call `act` with `rows`, at most `AT_ONCE` at a time, each batch in its own transaction.

    `act` must change the rows so that `rows` no longer contains them. Return the number of
    processed rows.
    """
    count = 0
    while True:
        with run.applying_as_system():
            pks = list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
            act(rows.model._base_manager.filter(pk__in=pks))
        count += len(pks)
        if len(pks) < AT_ONCE:
            return count


def delete_rows(rows: QuerySet[Any]) -> None:
    rows.delete()


@contextmanager
def attribute_model_calls(operation: Operation) -> Iterator[None]:
    """Record model calls inside the block as calls of this operation."""
    before = _current.set(operation)
    try:
        yield
    finally:
        _current.reset(before)


def record_model_call(use: ModelUse, *, subject: UUID | None = None) -> None:
    """Record one model call for the operation that is running.

    If no operation is running, as in a chat, `subject` names the person. Call this function outside
    any transaction: the record must remain if the operation fails later, since the model call was
    paid for.
    """
    operation = _current.get()
    with as_system():
        ModelCall.objects.create(
            subject=operation.subject if operation else subject,
            operation_public_id=operation.public_id if operation else "",
            step=use.step[:30],
            provider=use.provider[:60],
            model=use.model[:100],
            prompt_version=use.prompt_version[:20],
            input_tokens=use.input_tokens,
            output_tokens=use.output_tokens,
            cost=cost_of_call(use),
            took_ms=use.took_ms,
            outcome=use.outcome[:20],
            dropped=use.dropped,
        )


def cost_of_call(use: ModelUse) -> Decimal:
    """Return the cost of a model call at the configured prices per million tokens."""
    paid = use.input_tokens * Decimal(str(settings.MODEL_PRICE_INPUT))
    paid += use.output_tokens * Decimal(str(settings.MODEL_PRICE_OUTPUT))
    return min(_MOST_COST, (paid / _MILLION).quantize(Decimal("0.000001")))
