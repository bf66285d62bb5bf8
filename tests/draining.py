"""An operation done to its end."""

from ops import tasks
from ops.models import Kind, Operation, Status
from ops.queue import worker


def drained(operation: Operation) -> Operation:
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
    return operation


def cleaned_up() -> dict[str, int]:
    """Everything that is over its time erased by the hourly operation; gives how many of each."""
    tasks.request_cleanup()
    operation = Operation.objects.get(kind=Kind.CLEANUP, status=Status.PENDING)
    return dict(drained(operation).result)
