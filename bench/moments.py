"""The moments at which a process may be killed, found by watching the running code.

A moment is the beginning of a step that a handler names (`Run.step`), or the point before or after
the commit of a transaction that wrote something. Its name contains the kind of operation (or the
request) and the step. New kinds, steps and transactions therefore need no registration.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_NUMBERED = 3  # from this number on, all transactions of a step have the same name
Pass = Callable[[str], None]


def step_of(moment: str) -> str:
    """Return the step of a moment, or its operation before the first named step."""
    return moment.rpartition(": ")[0]


def kind_of(moment: str) -> str:
    return moment.partition(": ")[0]


def of_worker(moment: str) -> bool:
    """Return whether a moment belongs to an operation; names of requests contain a space."""
    return " " not in kind_of(moment) and ": " in moment


class Position:
    """The current operation or request, its step, and the number of commits in that step."""

    def __init__(self, passing: Pass) -> None:
        self._passing = passing
        self._what = self._step = ""
        self._commits = 0

    def begin(self, what: str, *, step: str = "") -> None:
        self._what, self._step, self._commits = what, step, 0

    def end(self) -> None:
        self._what = ""

    def commit(self) -> str:
        """Return the name of the transaction that is about to be committed."""
        self._commits = min(self._commits + 1, _NUMBERED)
        return f"commit {self._commits}"

    def passing(self, moment: str) -> None:
        if self._what:
            self._passing(": ".join(filter(None, (self._what, self._step, moment))))


def watch_worker(passing: Pass) -> None:
    """Call `passing` at every moment while this process runs operations."""
    from ops.queue import outbox, worker
    from ops.queue.run import Run

    place = Position(passing)
    _watch_commits(place)

    def attempt(real: Any, claimed: Any) -> Any:
        place.begin(claimed.operation.kind)
        place.passing("claimed")
        return real(claimed)

    def step(real: Any, run: Any, name: str, **given: Any) -> None:
        place.end()  # the commit that stores the progress is not a moment
        real(run, name, **given)
        place.begin(run.operation.kind, step=name)
        place.passing("begins")

    def succeed(real: Any, operation: Any, **given: Any) -> Any:
        place.begin(operation.kind, step="end")
        return real(operation, **given)

    _wrap(worker, "_attempt", attempt)
    _wrap(Run, "step", step)
    _wrap(outbox, "succeed", succeed)


def watch_requests(passing: Pass) -> Position:
    """Call `passing` at every moment of the requests that this process answers.

    The caller names each request with `begin` of the returned position.
    """
    from ops import ledger
    from ops.queue import broker

    place = Position(passing)
    _watch_commits(place)

    def around(name: str) -> Callable[..., Any]:
        def call(real: Any, *args: Any, **given: Any) -> Any:
            place.passing(f"{name}, before")
            result = real(*args, **given)
            place.passing(f"{name}, after")
            return result

        return call

    _wrap(ledger, "write", around("ledger"))
    _wrap(broker, "wake", around("wake"))
    return place


def _watch_commits(place: Position) -> None:
    from django.db import connection
    from django.db.transaction import Atomic

    def leave(real: Any, atomic: Any, kind: Any, value: Any, trace: Any) -> Any:
        outermost = not connection.savepoint_ids and connection.in_atomic_block
        if kind is not None or not outermost or connection.needs_rollback or not _wrote():
            return real(atomic, kind, value, trace)
        name = place.commit()
        place.passing(f"before {name}")
        result = real(atomic, kind, value, trace)
        place.passing(f"after {name}")
        return result

    def _wrote() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
            return bool(cursor.fetchone()[0])

    _wrap(Atomic, "__exit__", leave)


def _wrap(owner: Any, name: str, instead: Callable[..., Any]) -> None:
    real = getattr(owner, name)

    @functools.wraps(real)
    def wrapped(*args: Any, **given: Any) -> Any:
        return instead(real, *args, **given)

    setattr(owner, name, wrapped)
