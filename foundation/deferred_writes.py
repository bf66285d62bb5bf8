"""Deferred writes: database writes that run after the response has been sent.

The thread that sent a response runs the deferred writes before it takes the next request, so writes
can't pile up. A process that stops waits a few seconds for its deferred writes. If a process is
killed, its waiting writes are lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition

from django.db import DatabaseError, InterfaceError, connection

logger = logging.getLogger(__name__)

Write = Callable[[], None]
_current: ContextVar[DeferredWrites | None] = ContextVar("deferred_writes", default=None)
_done = Condition()
_count = 0


class DeferredWrites:
    """The deferred writes of one response. `run` runs each of them once."""

    def __init__(self) -> None:
        self._writes: list[Write] = []

    def __bool__(self) -> bool:
        return bool(self._writes)

    def add(self, write: Write) -> None:
        self._writes.append(write)
        _count_waiting(1)

    def run(self) -> None:
        """Run all deferred writes of the response.

        If the database fails during a write, the type of the error is logged and the next write
        runs. After any other error, the remaining writes are discarded.
        """
        try:
            while self._writes:
                self._run_next()
        finally:
            self.discard()

    def _run_next(self) -> None:
        write = self._writes.pop(0)
        try:
            write()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("A deferred write failed: %s.", type(error).__name__)
            # The other writes need a new connection if PostgreSQL has closed this one.
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
        finally:
            _count_waiting(-1)

    def discard(self) -> None:
        writes, self._writes = self._writes, []
        _count_waiting(-len(writes))


def defer(write: Write) -> None:
    """Run a write after the current response, or at once if no response is being prepared."""
    deferred = _current.get()
    if deferred is None:
        write()
    else:
        deferred.add(write)


@contextmanager
def collect() -> Iterator[DeferredWrites]:
    """Collect the writes deferred inside the block; discard them if the block raises."""
    deferred = DeferredWrites()
    token = _current.set(deferred)
    try:
        yield deferred
    except BaseException:
        deferred.discard()
        raise
    finally:
        _current.reset(token)


def wait_until_done(*, within: float) -> bool:
    """Wait at most `within` seconds for all deferred writes to run; return whether they have."""
    with _done:
        return _done.wait_for(lambda: not _count, timeout=within)


def _count_waiting(change: int) -> None:
    global _count
    with _done:
        _count += change
        _done.notify_all()
