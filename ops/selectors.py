"""What is read of operations and receipts. Nothing here writes."""

from __future__ import annotations

from django.db.models import QuerySet

from memcenter.lib.errors import NotFound
from ops.models import Operation, Priority, Receipt, Status, User


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
    """Whom it is about; None when the account is gone or it is about nobody."""
    if operation.subject is None:
        return None
    return User.objects.filter(subject=operation.subject).first()


def can_be_cancelled(operation: Operation) -> bool:
    """What is hidden already must be erased: forgetting can't be withdrawn."""
    return operation.status == Status.PENDING and operation.priority != Priority.FORGET
