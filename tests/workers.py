"""A real Celery worker beside a test, as `deploy/worker.sh` starts it.

It needs a transactional test: it has connections of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ops import tasks
from ops.access import as_system
from ops.models import Operation, Status
from tests.live import ROOT

_PATIENCE = 240  # seconds; two cores are shared by many
_SWEEP_EVERY = 1.0
OPEN = (Status.PENDING, Status.RUNNING)


@contextmanager
def celery_worker(*, include: str, **settings: str) -> Iterator[None]:
    """Two processes that run operations. `include` names a module that they load as well."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "memcenter.celery:app", "worker"]
    options = ["-c", "2", "--loglevel=WARNING", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(
        [*command, *options, "--include", include], cwd=ROOT, env={**os.environ, **settings}
    )
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(timeout=_PATIENCE)


def until_over() -> list[Operation]:
    """Sweep as beat does until no operation is open; gives all of them in order."""
    until(lambda: not _rows(status__in=OPEN), what="all operations to be over")
    return _rows()


def until(look: Callable[[], object], *, what: str) -> None:
    """Sweep as beat does until `look` gives something."""
    deadline, swept = time.monotonic() + _PATIENCE, 0.0
    while not look():
        assert time.monotonic() < deadline, f"Waited in vain for {what}: {_rows()}"
        if time.monotonic() - swept > _SWEEP_EVERY:
            tasks.sweep.apply_async(expires=5)
            swept = time.monotonic()
        time.sleep(0.1)


def _rows(**which: object) -> list[Operation]:
    with as_system():
        return list(Operation.objects.filter(**which).order_by("pk"))
