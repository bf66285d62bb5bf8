"""Claims operations under a lease, runs their handlers, and finishes them."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from memcenter.lib.errors import ApplicationError, ProviderError
from ops import registry
from ops.access import as_system, as_user
from ops.models import Operation, User
from ops.services import acting, model_calls, outbox

logger = logging.getLogger(__name__)
_NOBODY = UUID(int=0)
_ROUND_ROBIN_EVERY = 4


class LeaseLost(Exception):
    """Another worker owns the operation now: nothing may be applied."""


class GiveWay(Exception):
    """Raised by a long handler when a forget of the same person waits."""


class Run:
    """One attempt at an operation, as its handler sees it."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.payload: dict[str, Any] = operation.payload

    def user(self) -> User | None:
        """The person it is about, also while being forgotten; None when the account is gone."""
        with as_system():
            subject = self.operation.subject
            return User.objects.filter(subject=subject).first() if subject else None

    @contextmanager
    def applying(self, user: User) -> Iterator[None]:
        """One person's transaction, under this attempt's lease. Raises `LeaseLost`."""
        with as_user(user):
            self._check()
            yield

    @contextmanager
    def applying_as_system(self) -> Iterator[None]:
        with as_system():
            self._check()
            yield

    def step(self, name: str, *, done: int = 0, total: int = 0) -> None:
        """Say how far it is; also proves that the lease still holds. Raises `LeaseLost`."""
        with as_system():
            self._check()
            outbox.note_progress(self.operation, step=name, done=done, total=total)

    def _check(self) -> None:
        if not outbox.holds(self.operation):
            raise LeaseLost(self.operation.public_id)


def drain(*, limit: int | None = None, seconds: float | None = None) -> int:
    """Run what is due until nothing is, or `limit` operations or `seconds` are over.

    Gives how many were run. Operations of kinds without a handler are left alone.
    """
    stop_at = None if seconds is None else time.monotonic() + seconds
    count = 0
    while limit is None or count < limit:
        if stop_at is not None and time.monotonic() > stop_at:
            break
        operation = _turns.claim()
        if operation is None:
            break
        run(operation)
        count += 1
    return count


class _Turns:
    """Whom this process serves next: mostly whoever waits longest, now and then person by person.

    So somebody's ten thousand operations hold nobody else's back by more than a few.
    """

    def __init__(self) -> None:
        self._count = 0
        self._last = _NOBODY

    def claim(self) -> Operation | None:
        self._count += 1
        if self._count % _ROUND_ROBIN_EVERY:
            return self._claimed(after=None)
        operation = self._claimed(after=self._last)
        if operation is None:  # the end of the row of people
            self._last = _NOBODY
            return self._claimed(after=None)
        self._last = operation.subject or _NOBODY
        return operation

    def _claimed(self, *, after: UUID | None) -> Operation | None:
        kinds = sorted(registry.handled_kinds())
        with as_system():
            return outbox.claim(kinds, now=timezone.now(), after=after)


_turns = _Turns()


def run(operation: Operation) -> None:
    """Run one claimed operation's handler and record how it ended. Never raises."""
    handler = registry.handler_of(operation.kind)
    renewal = _Renewal(operation)
    renewal.start()
    try:
        if handler is None:
            raise ApplicationError(f"Nothing handles {operation.kind}.")
        with model_calls.on_behalf_of(operation), acting.acting("worker", "worker"):
            result = handler(Run(operation))
        with as_system():
            outbox.succeed(operation, result=result)
    except LeaseLost:
        logger.warning("operation %s: lost its lease", operation.public_id)
    except GiveWay:
        with as_system():
            outbox.give_back(operation)
    except ApplicationError as error:
        _failed(operation, error.message, permanent=True)
    except ProviderError as error:
        counts = error.uses_up or not error.retryable
        _failed(operation, str(error), permanent=not error.retryable, counts=counts)
    except Exception as error:
        # The message of a database error may quote rows: only its class may be kept.
        _failed(operation, f"It broke off ({type(error).__name__}).", permanent=False)
        logger.error("operation %s broke off at %s", operation.public_id, _where(error))
    finally:
        renewal.stop()


def _failed(operation: Operation, error: str, *, permanent: bool, counts: bool = True) -> None:
    logger.warning("operation %s (%s): %s", operation.public_id, operation.kind, error)
    with as_system():
        outbox.fail(operation, error=error, permanent=permanent, counts=counts)


def _where(error: Exception) -> str:
    """The places that a traceback names, innermost last, without any values."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in frames)


class _Renewal:
    """Holds the lease while a handler works for longer than a third of it."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._timer: threading.Timer | None = None
        self._stopped = threading.Event()

    def start(self) -> None:
        self._timer = threading.Timer(settings.LEASE_SECONDS / 3, self._renew)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()

    def _renew(self) -> None:
        try:
            with as_system():
                held = outbox.renew(self._operation)
        finally:
            connection.close()
        if held and not self._stopped.is_set():
            self.start()
