"""Deferred writes: database writes that run after the response has been sent.

The thread that sent the response runs its writes before it takes the next request, so writes can't
pile up. A server that is asked to stop first finishes the waiting writes. A killed process loses
its waiting writes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition

from django.db import DatabaseError, InterfaceError, connection

logger = logging.getLogger(__name__)

Act = Callable[[], None]
_owing: ContextVar[Owed | None] = ContextVar("owing", default=None)
_done = Condition()
_count = 0


class Owed:
    """The deferred writes of one response. `settle` runs each of them once."""

    def __init__(self) -> None:
        self._acts: list[Act] = []

    def __bool__(self) -> bool:
        return bool(self._acts)

    def add(self, act: Act) -> None:
        self._acts.append(act)
        _counted(1)

    def settle(self) -> None:
        """Run all deferred writes of the response.

        If a write fails, the type of the error is logged and the next write runs.
        """
        try:
            while self._acts:
                self._settle_one()
        finally:
            self.drop()

    def _settle_one(self) -> None:
        act = self._acts.pop(0)
        try:
            act()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("What an answer owed wasn't written: %s.", type(error).__name__)
            # If PostgreSQL has closed the connection, the other writes need a new connection.
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
        finally:
            _counted(-1)

    def drop(self) -> None:
        acts, self._acts = self._acts, []
        _counted(-len(acts))


def do(act: Act) -> None:
    """Run a write after the current response, or at once if no response is being prepared."""
    owed = _owing.get()
    if owed is None:
        act()
    else:
        owed.add(act)


@contextmanager
def collected() -> Iterator[Owed]:
    """Collect the writes deferred inside the block; discard them if the block raises."""
    owed = Owed()
    token = _owing.set(owed)
    try:
        yield owed
    except BaseException:
        owed.drop()
        raise
    finally:
        _owing.reset(token)


def settled(*, within: float) -> bool:
    """Wait until no thread has deferred writes. Return False if `within` seconds aren't enough."""
    with _done:
        return _done.wait_for(lambda: not _count, timeout=within)


def _counted(change: int) -> None:
    global _count
    with _done:
        _count += change
        _done.notify_all()
