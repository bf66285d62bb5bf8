"""What is written after an answer has gone out: nobody waits for it, and a stop doesn't lose it.

The thread that gave the answer does it itself, so no more can wait than there are threads. Only a
process that is killed outright loses what it still owed, a few milliseconds of it.
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
    """What one answer leaves to be done; `settle` does it, once."""

    def __init__(self) -> None:
        self._acts: list[Act] = []

    def __bool__(self) -> bool:
        return bool(self._acts)

    def add(self, act: Act) -> None:
        self._acts.append(act)
        _counted(1)

    def settle(self) -> None:
        """Do it all. What fails is told by its kind alone, and the others are done all the same."""
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
            # The server may have closed the connection, on which nothing else could be written.
            if not connection.in_atomic_block:
                connection.close_if_unusable_or_obsolete()
        finally:
            _counted(-1)

    def drop(self) -> None:
        acts, self._acts = self._acts, []
        _counted(-len(acts))


def do(act: Act) -> None:
    """Do it after the answer that is being given; at once where nobody waits for one."""
    owed = _owing.get()
    if owed is None:
        act()
    else:
        owed.add(act)


@contextmanager
def collected() -> Iterator[Owed]:
    """What `do` is asked for meanwhile; if this ends by an error nothing of it is owed."""
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
    """Wait at most so many seconds until no thread of this process owes anything."""
    with _done:
        return _done.wait_for(lambda: not _count, timeout=within)


def _counted(change: int) -> None:
    global _count
    with _done:
        _count += change
        _done.notify_all()
