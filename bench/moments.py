"""The moments at which a process may die: taken from the code that runs, not from a list.

A moment is the beginning of a step that a handler names (`Run.step`), or the point before or
after the commit of a transaction that wrote something, named by the kind of operation (or the
request) and the step in which it happens. So a new kind, step or transaction is there by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_NUMBERED = 3  # transactions of one step that are told apart
Pass = Callable[[str], None]


def step_of(moment: str) -> str:
    """The named step (or what comes before the first) to which a moment belongs."""
    return moment.rpartition(": ")[0]


def kind_of(moment: str) -> str:
    return moment.partition(": ")[0]


def of_worker(moment: str) -> bool:
    """Requests are named by their method and path."""
    return " " not in kind_of(moment) and ": " in moment


class Place:
    """Where the process is: an operation or a request, its step, and the transactions of that."""

    def __init__(self, passing: Pass) -> None:
        self._passing = passing
        self._what = self._step = ""
        self._commits = 0

    def begin(self, what: str, *, step: str = "") -> None:
        self._what, self._step, self._commits = what, step, 0

    def end(self) -> None:
        self._what = ""

    def commit(self) -> str:
        """The name of the transaction that is about to be committed."""
        self._commits = min(self._commits + 1, _NUMBERED)
        return f"commit {self._commits}"

    def passing(self, moment: str) -> None:
        if self._what:
            self._passing(": ".join(filter(None, (self._what, self._step, moment))))


def watch_worker(passing: Pass) -> None:
    """Tell every moment that this process passes while it runs operations."""
    from ops.queue import outbox, worker
    from ops.queue.run import Run

    place = Place(passing)
    _watch_commits(place)

    def attempt(real: Any, claimed: Any) -> Any:
        place.begin(claimed.operation.kind)
        place.passing("claimed")
        return real(claimed)

    def step(real: Any, run: Any, name: str, **given: Any) -> None:
        place.end()  # nothing depends on the transaction that says how far it is
        real(run, name, **given)
        place.begin(run.operation.kind, step=name)
        place.passing("begins")

    def succeed(real: Any, operation: Any, **given: Any) -> Any:
        place.begin(operation.kind, step="end")
        return real(operation, **given)

    _around(worker, "_attempt", attempt)
    _around(Run, "step", step)
    _around(outbox, "succeed", succeed)


def watch_requests(passing: Pass) -> Place:
    """The same for requests; `begin` says which."""
    from ops.forgetting import ledger
    from ops.queue import broker

    place = Place(passing)
    _watch_commits(place)

    def told(name: str) -> Callable[..., Any]:
        def tell(real: Any, *args: Any, **given: Any) -> Any:
            place.passing(f"{name}, before")
            result = real(*args, **given)
            place.passing(f"{name}, after")
            return result

        return tell

    _around(ledger, "write", told("ledger"))
    _around(broker, "wake", told("wake"))
    return place


def _watch_commits(place: Place) -> None:
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

    _around(Atomic, "__exit__", leave)


def _around(owner: Any, name: str, instead: Callable[..., Any]) -> None:
    real = getattr(owner, name)

    @functools.wraps(real)
    def wrapped(*args: Any, **given: Any) -> Any:
        return instead(real, *args, **given)

    setattr(owner, name, wrapped)
