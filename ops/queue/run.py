"""One attempt at an operation, as its handler sees it, and how a handler breaks off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ops.access import as_system, as_user
from ops.models import Kind, Operation, User
from ops.queue import joint_runs, outbox, watchdog
from ops.queue.joint_runs import Beside

_FOLLOWING = frozenset([Kind.EXTRACT_TURN, Kind.INDEX_EPISODE, Kind.INDEX_MEMORY, Kind.SUMMARIZE])


class LeaseLost(Exception):
    """Another worker owns the operation now; this attempt must not write."""


class GiveWay(Exception):
    """Raised by a long handler if a forget of the same person is queued."""


class Run:
    """One attempt at an operation, as its handler sees it."""

    def __init__(self, operation: Operation, *, user: User | None) -> None:
        self.operation = operation
        self.payload: dict[str, Any] = operation.payload
        self._user = user
        self._steps = 0  # named without numbers

    def user(self) -> User | None:
        """Return the operation's person as of the claim, even during a forget.

        None if the account was deleted.
        """
        return self._user

    @contextmanager
    def applying(self, user: User, *, durable: bool = False) -> Iterator[None]:
        """Open the person's transaction with lock, under this attempt's lease. Raises `LeaseLost`.

        Derived rows don't wait for the disk. The write-ahead log is ordered, so after a crash the
        recorded end never exists without the operation's rows.
        """
        watchdog.own.go_on()
        durable = durable or self.operation.kind not in _FOLLOWING
        with as_user(user, durable=durable, changing=True):
            self._check()
            yield

    @contextmanager
    def applying_as_system(self) -> Iterator[None]:
        watchdog.own.go_on()
        with as_system():
            self._check()
            yield

    def step(self, name: str, *, done: int = 0, total: int = 0) -> None:
        """Store the progress and check the lease. Raises `LeaseLost`.

        Without numbers, steps are counted: done, and done plus one as the total. Doesn't wait for
        the disk. Starts the limit of processor time again.
        """
        watchdog.own.go_on()
        if not total:
            done, self._steps = self._steps, self._steps + 1
            total = self._steps
        with as_system(durable=False):
            if not outbox.note_progress(self.operation, step=name, done=done, total=total):
                raise LeaseLost(self.operation.public_id)

    def beside(self, *, limit: int) -> list[Beside]:
        """Return queued operations of the same person and kind that may run with this one."""
        return joint_runs.waiting(self.operation, limit=limit)

    def turn_to(self, waiting: int | None) -> None:
        """Switch to the work of a queued operation, or back to this one (None).

        Each has its own processor time and is only blamed for its own work.
        """
        watchdog.own.go_on(with_pk=waiting)

    def _check(self) -> None:
        if not outbox.holds(self.operation):
            raise LeaseLost(self.operation.public_id)
