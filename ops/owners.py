"""Whose an operation is, for keys that are bound to nobody. Read across users, so as system."""

from ops.access import as_system
from ops.models import Operation, User


def of_operation(public_id: str) -> User | None:
    with as_system():
        operation = Operation.objects.filter(public_id=public_id).first()
        if operation is None or operation.subject is None:
            return None
        return User.objects.filter(subject=operation.subject).first()
