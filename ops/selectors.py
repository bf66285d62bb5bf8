"""Reads of operations and receipts."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Q, QuerySet

from memcenter.lib.database import statements
from memcenter.lib.errors import NotFound
from ops import registry
from ops.models import Operation, Priority, Receipt, Status, User
from ops.webhooks import held_deliveries

OVERDUE_AFTER = timedelta(minutes=2)
STUCK_AFTER = timedelta(minutes=15)
_LEASE_GRACE = timedelta(seconds=30)  # a sweep recovers lost operations every 5 s
_STAND_STILL = """
SELECT (EXISTS (SELECT 1 FROM ops_operation
                 WHERE status = 'pending' AND run_after <= %(since)s AND kind = ANY(%(kinds)s))
        OR EXISTS (SELECT 1 FROM ops_operation WHERE status = 'running'))
   AND NOT EXISTS (
       SELECT 1 FROM (SELECT started_at, finished_at FROM ops_attempt ORDER BY id DESC LIMIT 100) a
        WHERE started_at > %(since)s OR finished_at > %(since)s)
"""


class Trouble(StrEnum):
    """`OVERDUE`: due, but started by no worker. `STUCK`: running without progress."""

    OVERDUE = "overdue"
    STUCK = "stuck"


def in_trouble(trouble: Trouble, *, now: datetime) -> Q:
    """Return the filter for operations in trouble."""
    if trouble == Trouble.OVERDUE:
        return Q(status=Status.PENDING, run_after__lt=now - OVERDUE_AFTER)
    dead = Q(lease_until__lt=now - _LEASE_GRACE)
    return Q(status=Status.RUNNING) & (dead | Q(updated_at__lt=now - STUCK_AFTER))


def trouble_of(operation: Operation, *, now: datetime) -> Trouble | None:
    """Return the trouble of one operation. Each step and each lost lease counts as progress."""
    if operation.status == Status.PENDING and operation.run_after < now - OVERDUE_AFTER:
        return Trouble.OVERDUE
    if operation.status != Status.RUNNING or operation.lease_until is None:
        return None
    dead = operation.lease_until < now - _LEASE_GRACE
    return Trouble.STUCK if dead or operation.updated_at < now - STUCK_AFTER else None


def stand_still(*, since: datetime) -> bool:
    """Tell whether due or running operations exist and none was claimed or finished since then.

    Call it as the system. Renewals aren't visible here, since they are in locked rows.
    """
    held = held_deliveries.KINDS if held_deliveries.held_since() else frozenset()
    values = {"since": since, "kinds": sorted(registry.handled_kinds() - held)}
    return bool(statements.rows(_STAND_STILL, values)[0][0])


def waiting_since(operation: Operation) -> datetime:
    """Return since when the operation waits or makes no progress."""
    waits = operation.status == Status.PENDING
    return operation.run_after if waits else operation.updated_at


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
        raise NotFound("There is no such operation.")
    return found


def receipt_of(operation: Operation) -> Receipt:
    found = Receipt.objects.filter(operation=operation).first()
    if found is None:
        raise NotFound("There is no receipt of this operation.")
    return found


def user_of(operation: Operation) -> User | None:
    """Return the person of the operation; None if the account is deleted or there is none."""
    if operation.subject is None:
        return None
    return User.objects.filter(subject=operation.subject).first()


def can_be_cancelled(operation: Operation) -> bool:
    """Tell whether the operation may be cancelled, which a forget may not."""
    return operation.status == Status.PENDING and operation.priority != Priority.FORGET
