"""Waiting for one operation at a terminal."""

import time

from django.core.management.base import CommandError

from ops.access import as_system
from ops.models import Operation, Status
from ops.services import worker

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


def do_here(operation: Operation, *, undone: str = "Not done yet") -> None:
    """By this process, as far as what is due leads to it; what goes before it is done too.

    Raises `CommandError` where it isn't done after that.
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
