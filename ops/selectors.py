"""Queries about operations and receipts, the state of the queue, and the cost of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.db.models import Avg, Count, Min, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from foundation.database import statements
from foundation.errors import NotFound
from ops import registry
from ops.models import Kind, ModelCall, Operation, Priority, Receipt, Status, User
from ops.queue import webhook_events

OVERDUE_AFTER = timedelta(minutes=2)
STUCK_AFTER = timedelta(minutes=15)
_LEASE_GRACE = timedelta(seconds=30)  # a sweep recovers lost operations every 5 s
_IS_STALLED = """
SELECT (EXISTS (SELECT 1 FROM ops_operation
                 WHERE status = 'pending' AND run_after <= %(since)s AND kind = ANY(%(kinds)s))
        OR EXISTS (SELECT 1 FROM ops_operation WHERE status = 'running'))
   AND NOT EXISTS (
       SELECT 1 FROM (SELECT started_at, finished_at FROM ops_attempt ORDER BY id DESC LIMIT 100) a
        WHERE started_at > %(since)s OR finished_at > %(since)s)
"""
_COST_DAYS = 30


class Trouble(StrEnum):
    """The ways in which an operation is delayed.

    `OVERDUE`: it is due, but no worker has started it. `STUCK`: it is running, but makes no
    progress.
    """

    OVERDUE = "overdue"
    STUCK = "stuck"


def in_trouble(trouble: Trouble, *, now: datetime) -> Q:
    """Return the filter that selects the operations delayed in this way."""
    if trouble == Trouble.OVERDUE:
        return Q(status=Status.PENDING, run_after__lt=now - OVERDUE_AFTER)
    dead = Q(lease_until__lt=now - _LEASE_GRACE)
    return Q(status=Status.RUNNING) & (dead | Q(updated_at__lt=now - STUCK_AFTER))


def trouble_of(operation: Operation, *, now: datetime) -> Trouble | None:
    """Return the way in which an operation is delayed, or None if it isn't delayed.

    A running operation is stuck if it has stored no progress for `STUCK_AFTER`, or if its lease ran
    out and no sweep has recovered it.
    """
    if operation.status == Status.PENDING and operation.run_after < now - OVERDUE_AFTER:
        return Trouble.OVERDUE
    if operation.status != Status.RUNNING or operation.lease_until is None:
        return None
    dead = operation.lease_until < now - _LEASE_GRACE
    return Trouble.STUCK if dead or operation.updated_at < now - STUCK_AFTER else None


def is_stalled(*, since: datetime) -> bool:
    """Return whether operations wait or run, but no attempt began or ended after `since`.

    Operations that became due after `since` don't count as waiting. Renewed leases aren't examined,
    since a renewal skips locked rows and so may leave no trace in the table. Call this inside
    `as_system`.
    """
    held = webhook_events.HELD_KINDS if webhook_events.deliveries_held_since() else ()
    values = {"since": since, "kinds": sorted(registry.handled_kinds() - {*held})}
    return bool(statements.rows(_IS_STALLED, values)[0][0])


def waiting_since(operation: Operation) -> datetime:
    """Return the time since which the operation waits.

    A queued operation waits since it became due, any other since it last made progress.
    """
    is_queued = operation.status == Status.PENDING
    return operation.run_after if is_queued else operation.updated_at


def operations_of(user: User, *, status: str = "", kind: str = "") -> QuerySet[Operation]:
    found = Operation.objects.filter(subject=user.subject).select_related("receipt", "import")
    if status:
        found = found.filter(status=status)
    return found.filter(kind=kind) if kind else found


def operation_by(public_id: str) -> Operation:
    found = (
        Operation.objects.filter(public_id=public_id).select_related("receipt", "import").first()
    )
    if found is None:
        raise NotFound("This operation doesn’t exist.")
    return found


def receipt_of(operation: Operation) -> Receipt:
    found = Receipt.objects.filter(operation=operation).select_related("operation").first()
    if found is None:
        raise NotFound("This operation has no receipt.")
    return found


def user_of(operation: Operation) -> User | None:
    """Return the person whom the operation concerns.

    Return None if it concerns nobody, or the account has been deleted.
    """
    if operation.subject is None:
        return None
    return User.objects.filter(subject=operation.subject).first()


def can_be_cancelled(operation: Operation) -> bool:
    """Return whether the operation can be cancelled: it is pending and isn't a forget operation."""
    return operation.status == Status.PENDING and operation.priority != Priority.FORGET


def queue_states(*, now: datetime) -> Sequence[dict[str, Any]]:
    """Return the numbers of queued, running and failed operations for each kind that has any.

    `oldest` is the time at which the oldest queued operation became due, or None if none is due.
    """
    found: dict[str, dict[str, Any]] = {}
    counted_as = {Status.PENDING: "waiting", Status.RUNNING: "running", Status.FAILED: "failed"}
    for status, name in counted_as.items():
        rows = Operation.objects.filter(status=status).order_by().values("kind")
        due = Min("run_after", filter=Q(run_after__lte=now))
        for row in rows.annotate(count=Count("pk"), oldest=due):
            none = {"waiting": 0, "running": 0, "failed": 0, "oldest": None}
            names = {"kind": row["kind"], "name": str(Kind(row["kind"]).label)}
            figures = found.setdefault(row["kind"], names | none)
            figures[name] = row["count"]
            if status == Status.PENDING:
                figures["oldest"] = row["oldest"]
    return [figures for _, figures in sorted(found.items())]


@dataclass(frozen=True)
class ModelCost:
    """The use of one model for one kind of step on one day (in the active time zone)."""

    day: date
    step: str
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: Decimal
    took_ms: float


def model_costs(*, now: datetime) -> Sequence[ModelCost]:
    """Return the use of models in the last thirty days, by day, step and model, newest first."""
    rows = (
        ModelCall.objects.filter(created_at__gt=now - timedelta(days=_COST_DAYS))
        .order_by()
        .annotate(day=TruncDate("created_at"))
        .values_list("day", "step", "model")
        .annotate(
            calls=Count("pk"),
            failed=Count("pk", filter=Q(outcome__in=["failed", "unreadable"])),
            sent=Sum("input_tokens"),
            answered=Sum("output_tokens"),
            paid=Sum("cost"),
            took=Avg("took_ms"),
        )
        .order_by("-day", "step", "model")
    )
    return [ModelCost(*row) for row in rows]
