"""An operation done to its end."""

from ops.models import Operation, Status
from ops.services import worker


def drained(operation: Operation) -> Operation:
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
    return operation
