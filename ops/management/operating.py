"""Run or await one operation at a terminal."""

import time

from django.core.management.base import CommandError

from ops.access import as_system
from ops.models import Operation, Status
from ops.queue import worker

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


def do_here(operation: Operation, *, undone: str = "Not done yet") -> None:
    """Run the operation in this process, with every due operation before it.

    Raises `CommandError` if it isn't done then.
    """
    while _refreshed(operation).status not in _OVER and worker.drain(limit=1):
        continue
    if _refreshed(operation).status != Status.SUCCEEDED:
        raise CommandError(f"{undone}: {operation.last_error or operation.status}")


def _refreshed(operation: Operation) -> Operation:
    with as_system():
        operation.refresh_from_db()
    return operation


def finish(operation: Operation) -> None:
    """Wait until a worker has done the operation, or run it in this process.

    Raises `CommandError` with the error.
    """
    while True:
        operation.refresh_from_db()
        if operation.status in _OVER:
            break
        if not worker.drain(limit=1):
            time.sleep(0.2)
    if operation.status != Status.SUCCEEDED:
        raise CommandError(operation.last_error or "The operation was cancelled.")
