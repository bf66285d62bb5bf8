"""Limit the processor time of each operation, and recover operations of dead worker processes.

An operation over the limit ends its process, and Celery starts another. Each worker process keeps
a small file with the running operation, and after a limit the lines that ran at that moment. The
file is locked while the process lives, so the sweep of another process sees at once that it died,
without waiting for the lease. The file contains only numbers and names of files and functions.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from django.conf import settings
from django.utils.translation import gettext_noop

from memcenter.lib import processor_time
from ops.access import as_system
from ops.models import Attempt, Operation, Status
from ops.queue import joint_runs, outbox

logger = logging.getLogger(__name__)
TOO_LONG = gettext_noop("It took too much processor time and was stopped.")
MOST_KILLS = 2
"""Processes that one operation may end; after that it has failed."""

_HEAD = 64  # bytes; what `faulthandler` writes comes behind them
_NOTHING = b" " * _HEAD
_LINE = re.compile(r'File "(?:.*/)?([^"/]+)", line (\d+)')
_FRAMES = 6


class Watchdog:
    """The running operation of one worker process. Inactive until `begin` is called."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._operation: Operation | None = None
        self._seconds = 0.0

    def begin(self) -> None:
        """Activate the watchdog for this process."""
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = uuid4().hex
        hidden = folder / f".{name}"
        self._file = hidden.open("xb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.write(_NOTHING)
        hidden.rename(folder / f"{name}.run")  # a sweep sees no file that isn't locked yet
        processor_time.write_dump_to(self._file)
        processor_time.end_when_stuck(settings.OPERATION_CPU_SECONDS)

    @contextmanager
    def watching(self, operation: Operation, *, seconds: float) -> Iterator[None]:
        """Limit the operation's processor time; `go_on` starts the limit again."""
        if self._file is None:
            yield
            return
        self._operation, self._seconds = operation, seconds
        self.go_on()
        try:
            yield
        finally:
            processor_time.lift()
            self._operation = None
            os.pwrite(self._file.fileno(), _NOTHING, 0)

    def go_on(self, *, with_pk: int | None = None) -> None:
        """Start the limit again, after progress or before the work of another queued operation."""
        if self._operation is None or self._file is None:
            return
        running = self._operation
        told = f"{running.pk} {running.attempt} {with_pk or running.pk}".encode()
        os.pwrite(self._file.fileno(), told.ljust(_HEAD), 0)
        processor_time.limit(self._seconds)


own = Watchdog()


def take_back() -> int:
    """Requeue or fail the operations of dead worker processes of this data folder.

    Returns how many. Safe to repeat and to run concurrently.
    """
    return sum(_taken_back(path) for path in sorted(_folder().glob("*.run")))


@dataclass(frozen=True)
class _Ended:
    """A dead process: `running` is its operation, `culprit` the one whose work it was doing.

    `where` names the lines that ran when the limit ended the process, or is empty.
    """

    running: int
    attempt: int
    culprit: int
    where: str


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "workers"


def _taken_back(path: Path) -> bool:
    """Return False if the process lives, or died while idle."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ended = _read(file.read())
            taken = ended is not None and _settle(ended)
            path.unlink(missing_ok=True)
    except (BlockingIOError, FileNotFoundError):
        return False
    return taken


def _read(content: bytes) -> _Ended | None:
    words = content[:_HEAD].split()
    if len(words) != 3:
        return None
    running, attempt, culprit = map(int, words)
    return _Ended(running, attempt, culprit, where=_where(content[_HEAD:].decode(errors="replace")))


def _where(dump: str) -> str:
    """Return the lines of the main thread, which runs operations, innermost first."""
    found = _LINE.findall(dump.rpartition("\n\n")[2])[:_FRAMES]
    return " < ".join(f"{name}:{line}" for name, line in found) or dump.strip()[:80]


def _settle(ended: _Ended) -> bool:
    with as_system():
        operation = Operation.objects.filter(
            pk=ended.running, status=Status.RUNNING, attempt=ended.attempt
        ).first()
        if operation is None:
            return False
        if not ended.where:
            logger.warning("operation %s: its worker stopped", operation.public_id)
            return outbox.fail(operation, error=outbox.STOPPED)
        logger.error("operation %s took too long at %s", operation.public_id, ended.where)
        if ended.culprit != ended.running:
            joint_runs.put_off(ended.culprit, error=TOO_LONG)
            return outbox.give_back(operation)
        kills = 1 + Attempt.objects.filter(operation=operation, error=TOO_LONG).count()
        return outbox.fail(operation, error=TOO_LONG, permanent=kills >= MOST_KILLS)
