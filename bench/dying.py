"""A worker that dies at chosen moments; `bench/forgetting.py` runs it beside a product.

It reads one JSON order a line from stdin, has children drain the outbox accordingly, and answers
one JSON line: at which moments they died.

| order | what its children meet |
|---|---|
| `step` | kill -9 before a named step, inside its transaction, or between two transactions |
| `full` | no file may grow beyond a few hundred bytes, as on a full disk |
| `clock` | a clock that is `hours` ahead (or behind) |
| `plain` | nothing |
"""

from __future__ import annotations

import functools
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

_PATIENCE = 30.0  # seconds for one child; one that takes longer is killed and reported as stuck
_DRAINING = 8.0
_FULL = 600  # bytes
_AGAIN = 0.04  # how often a child dies where another one already did


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "memcenter.settings"
    import django

    django.setup()
    met: set[str] = set()
    for line in sys.stdin:
        print(json.dumps(_obey(json.loads(line), met)), flush=True)


def _obey(order: Mapping[str, Any], met: set[str]) -> Mapping[str, Any]:
    moments = []
    for _ in range(order.get("deaths", 1)):
        moment = _child(order, met)
        moments.append(moment)
        if not moment:
            break
        met.add(moment)
    return {"died": [one for one in moments if one]}


def _child(order: Mapping[str, Any], met: set[str]) -> str:
    """Where it died; empty when it found nothing more to do."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            _drain(order, met, write)
        finally:
            os._exit(0)
    os.close(write)
    stuck = not _ended(pid)
    with os.fdopen(read) as said:
        moment = said.read()
    return "stuck" if stuck else moment


def _ended(pid: int) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def _drain(order: Mapping[str, Any], met: set[str], told: int) -> None:
    from django.utils import timezone

    from ops.access import as_system
    from ops.services import outbox, worker

    random.seed(os.urandom(8))
    if order["how"] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FULL, _FULL))
    if order["how"] == "clock":
        _shift(timedelta(hours=order["hours"]))
    with as_system():  # of children before, and of a worker that is stopped
        outbox.expire(now=timezone.now() + timedelta(hours=1))
    if order["how"] == "step":
        _arm(met, told)
    worker.drain(seconds=_DRAINING)


def _shift(by: timedelta) -> None:
    from django.utils import timezone

    real = timezone.now
    timezone.now = lambda: real() + by


def _arm(met: set[str], told: int) -> None:
    from ops.services import outbox, receipts
    from ops.services.worker import Run

    def die_at(moment: str) -> None:
        if moment not in met or random.random() < _AGAIN:
            os.write(told, moment.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    _around(
        Run, "step", before=lambda run, name, **_: die_at(f"{run.operation.kind} {name} before")
    )
    _around(
        receipts,
        "note",
        after=lambda operation, *, step, **_: die_at(f"{operation.kind} {step} inside"),
    )
    _around(
        receipts, "issue", after=lambda operation, **_: die_at(f"{operation.kind} receipt inside")
    )
    _around(outbox, "succeed", before=lambda operation, **_: die_at(f"{operation.kind} end before"))
    _around_applying(Run, die_at)


def _around(
    owner: Any,
    name: str,
    *,
    before: Callable[..., None] | None = None,
    after: Callable[..., None] | None = None,
) -> None:
    real = getattr(owner, name)

    @functools.wraps(real)
    def armed(*args: Any, **given: Any) -> Any:
        if before:
            before(*args, **given)
        result = real(*args, **given)
        if after:
            after(*args, **given)
        return result

    setattr(owner, name, armed)


def _around_applying(run_class: Any, die_at: Callable[[str], None]) -> None:
    real = run_class.applying

    @contextmanager
    def applying(self: Any, user: Any) -> Iterator[None]:
        with real(self, user):
            yield
            die_at(f"{self.operation.kind} applying inside")
        die_at(f"{self.operation.kind} applying after")

    run_class.applying = applying


if __name__ == "__main__":
    main()
