"""Waiting for one operation at a terminal."""

import time

from django.core.management.base import CommandError

from ops.models import Operation, Status
from ops.services import worker

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


def finish(operation: Operation) -> None:
    """Until it is done, by a worker or, where none is faster, by this process.

    Raises `CommandError` with what went wrong.
    """
    while True:
        operation.refresh_from_db()
        if operation.status in _OVER:
            break
        if not worker.drain(limit=1):
            time.sleep(0.2)
    if operation.status != Status.SUCCEEDED:
        raise CommandError(operation.last_error or "The operation was cancelled.")
