"""Claim operations, run their handlers, and record the results."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.management.base import CommandError
from django.db import IntegrityError
from django.utils import timezone

from foundation import file_storage, telemetry
from foundation.errors import ApplicationError, ProviderError, TryAgain
from ops import audit_log, registry
from ops.access import as_system
from ops.models import Operation, Status
from ops.queue import outbox, watchdog
from ops.queue.outbox import ClaimedOperation
from ops.queue.run import GiveWay, LeaseLost, Run, attribute_model_calls

logger = logging.getLogger(__name__)
_NOBODY = UUID(int=0)
_ROUND_ROBIN_EVERY = 4
_MOST_RACES = 10
Ending = Callable[[], bool]
_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


def drain(*, limit: int | None = None, seconds: float | None = None) -> int:
    """Run due operations until none is left, or until `limit` operations or `seconds` are used up.

    Return the number of operations that were run. Operations without a handler stay queued.
    """
    stop_at = None if seconds is None else time.monotonic() + seconds
    count = 0
    claimed = _finish_and_take(None, more=limit is None or limit > 0)
    while claimed is not None:
        ending = _attempt(claimed)
        count += 1
        in_time = stop_at is None or time.monotonic() <= stop_at
        ended = (claimed.operation, ending)
        claimed = _finish_and_take(ended, more=in_time and (limit is None or count < limit))
    return count


class _Turns:
    """Chooses the next operation: usually the oldest one of the most urgent priority.

    For every fourth operation, people take turns: it is the oldest operation of the next person.
    So even if one person has ten thousand operations, other people's operations run soon.
    """

    def __init__(self) -> None:
        self._count = 0
        self._last = _NOBODY

    def claim_next(self) -> ClaimedOperation | None:
        """Claim the next operation, or return None if none is due. Call it inside `as_system`.

        Raise `IntegrityError` if another worker was faster.
        """
        self._count += 1
        if self._count % _ROUND_ROBIN_EVERY:
            return self._claim(after=None)
        claimed = self._claim(after=self._last)
        if claimed is None:  # no person is left in this round
            self._last = _NOBODY
            return self._claim(after=None)
        self._last = claimed.operation.subject or _NOBODY
        return claimed

    def _claim(self, *, after: UUID | None) -> ClaimedOperation | None:
        kinds = sorted(registry.handled_kinds())
        return outbox.claim_next(kinds, now=timezone.now(), after=after)


_turns = _Turns()


def _finish_and_take(
    ended: tuple[Operation, Ending] | None, *, more: bool
) -> ClaimedOperation | None:
    """Record the end of one operation and claim the next one, in one transaction.

    If another worker claims the next operation first, the end is recorded in its own transaction,
    and claiming is tried again. The commits don't wait for the disk, since work lost in a crash is
    repeated.
    """
    for _ in range(_MOST_RACES):
        try:
            with as_system(durable=False):
                if ended is not None:
                    _end(*ended)
                return _turns.claim_next() if more else None
        except IntegrityError:
            if ended is not None:
                _record(*ended)
        except TypeError as error:  # a result that isn't JSON
            if ended is None:
                raise
            _record(ended[0], _broke_off(ended[0], error))
        ended = None
    return None


def _record(operation: Operation, ending: Ending) -> None:
    with as_system():
        _end(operation, ending)


def _end(operation: Operation, ending: Ending) -> None:
    """Call `ending`, while the request id is that of the request that caused the operation.

    Follow-ups such as webhook events get this request id too.
    """
    with telemetry.use_request_id(operation.request_id):
        ending()


def _attempt(claimed: ClaimedOperation) -> Ending:
    """Run the handler of a claimed operation; return the function that records its end.

    Never raises an exception.
    """
    operation = claimed.operation
    with (
        telemetry.use_request_id(operation.request_id) as operation.request_id,
        telemetry.span(
            f"operation {operation.kind}",
            {"memcenter.operation": operation.public_id, "memcenter.attempt": operation.attempt},
        ),
    ):
        return _run_handler(claimed)


def _run_handler(claimed: ClaimedOperation) -> Ending:
    operation = claimed.operation
    handler = registry.handler_of(operation.kind)
    try:
        if handler is None:
            raise ApplicationError(f"Nothing handles {operation.kind}.")
        with (
            watchdog.own.watching(operation, seconds=_seconds_for(operation)),
            watchdog.held.holding(operation),
            attribute_model_calls(operation),
            audit_log.use_actor("worker", "worker"),
        ):
            result = handler(Run(operation, user=claimed.user))
        return partial(outbox.succeed, operation, result=result)
    except LeaseLost:
        logger.warning("operation %s: lost its lease", operation.public_id)
        return lambda: False
    except GiveWay:
        return partial(outbox.release, operation)
    except ApplicationError as error:
        return _failed(operation, error.message, permanent=not isinstance(error, TryAgain))
    except ProviderError as error:
        counts = error.uses_up or not error.retryable
        return _failed(operation, str(error), permanent=not error.retryable, counts=counts)
    except Exception as error:
        return _broke_off(operation, error)


def _seconds_for(operation: Operation) -> int:
    if registry.is_long(operation.kind):
        return int(settings.LONG_OPERATION_CPU_SECONDS)
    return int(settings.OPERATION_CPU_SECONDS)


def _broke_off(operation: Operation, error: Exception) -> Ending:
    """Return the function that records an unexpected error of the handler.

    Only the type of the error is recorded, since its message may quote rows. A full disk has a
    message of its own.
    """
    logger.error("operation %s broke off at %s", operation.public_id, _where(error))
    if isinstance(error, OSError) and error.errno in file_storage.NO_ROOM:
        return _failed(operation, file_storage.DISK_FULL, permanent=False)
    return _failed(operation, f"It broke off ({type(error).__name__}).", permanent=False)


def _failed(operation: Operation, error: str, *, permanent: bool, counts: bool = True) -> Ending:
    logger.warning("operation %s (%s): %s", operation.public_id, operation.kind, error)
    return partial(outbox.fail, operation, error=error, permanent=permanent, counts=counts)


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)


def run_until_done(operation: Operation, *, undone: str = "Not done yet") -> None:
    """Run the operation in this process, after every due operation that comes before it.

    Raise `CommandError` if the operation hasn't succeeded afterwards.
    """
    while _refreshed(operation).status not in _OVER and drain(limit=1):
        continue
    if _refreshed(operation).status != Status.SUCCEEDED:
        raise CommandError(f"{undone}: {operation.last_error or operation.status}")


def _refreshed(operation: Operation) -> Operation:
    with as_system():
        operation.refresh_from_db()
    return operation


def wait_until_done(operation: Operation) -> None:
    """Wait until the operation is done, and run due operations in this process meanwhile.

    Raise `CommandError` with the last error if the operation failed or was cancelled.
    """
    while True:
        operation.refresh_from_db()
        if operation.status in _OVER:
            break
        if not drain(limit=1):
            time.sleep(0.2)
    if operation.status != Status.SUCCEEDED:
        raise CommandError(operation.last_error or "The operation was cancelled.")
