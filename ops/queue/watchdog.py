"""Limit the processor time of operations, renew leases, and recover operations of dead workers.

If an operation exceeds the limit, its process ends, and Celery starts another process. Each worker
process has a small file that names the operation it runs; when the limit is reached, the current
stack is appended. The process holds a lock on the file as long as it lives, so the sweep in another
process notices its death at once, without waiting for the lease to run out. The file contains only
numbers and the names of files and functions.

One thread renews the leases of all operations that the process runs. Starting a thread for each
operation would cost as much as a database statement, and few operations run long enough to need a
renewal.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.utils.translation import gettext_noop
from redis.exceptions import RedisError

from foundation import process
from ops.access import as_system
from ops.models import Attempt, Operation, Status
from ops.queue import outbox

logger = logging.getLogger(__name__)
TOO_LONG = gettext_noop("It took too much processor time and was stopped.")
MOST_KILLS = 2
"""An operation fails for good after it has ended this many processes."""

_HEAD = 64  # bytes; `faulthandler` writes the stack after them
_NOTHING = b" " * _HEAD
_LINE = re.compile(r'File "(?:.*/)?([^"/]+)", line (\d+)')
_FRAMES = 6
RENEWED_KEY = "operations-renewed"
RENEWED_SECONDS = 20
"""For this many seconds after a lease was renewed, operations count as making progress."""
_LONGEST_PAUSE = 5


class Watchdog:
    """A watchdog for the operation that a worker process runs. Inactive until `begin` is called."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._operation: Operation | None = None
        self._seconds = 0.0

    def begin(self) -> None:
        """Create and lock this process's file; end the process if its interpreter gets stuck."""
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = uuid4().hex
        hidden = folder / f".{name}"
        self._file = hidden.open("xb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.write(_NOTHING)
        # The file is renamed after it is locked, so a sweep never finds an unlocked file.
        hidden.rename(folder / f"{name}.run")
        process.write_dump_to(self._file)
        process.end_when_stuck(settings.OPERATION_CPU_SECONDS)

    @contextmanager
    def watching(self, operation: Operation, *, seconds: float) -> Iterator[None]:
        """Limit the processor time of the operation inside the block.

        Each call of `restart_limit` resets the limit.
        """
        if self._file is None:
            yield
            return
        self._operation, self._seconds = operation, seconds
        self.restart_limit()
        try:
            yield
        finally:
            process.lift_processor_time_limit()
            self._operation = None
            os.pwrite(self._file.fileno(), _NOTHING, 0)

    def restart_limit(self, *, with_pk: int | None = None) -> None:
        """Reset the limit after some progress, or before work on another operation begins.

        `with_pk` is the primary key of the queued operation on which work begins, if there is one.
        """
        if self._operation is None or self._file is None:
            return
        running = self._operation
        line = f"{running.pk} {running.attempt} {with_pk or running.pk}".encode()
        os.pwrite(self._file.fileno(), line.ljust(_HEAD), 0)
        process.limit_processor_time(self._seconds)


own = Watchdog()


def recover_operations() -> int:
    """Recover the operations of dead worker processes: queue them again, or mark them as failed.

    Only processes that used this data folder are considered. Return the number of operations. Safe
    to repeat and to run concurrently.
    """
    return sum(_recover_if_worker_died(path) for path in sorted(_folder().glob("*.run")))


@dataclass(frozen=True)
class _Ended:
    """A worker process that has died.

    `running` is the primary key of the operation that the process ran. `culprit` is the primary key
    of the operation on which it was working, which may be a queued one. `where` is the stack if the
    time limit ended the process, else empty.
    """

    running: int
    attempt: int
    culprit: int
    where: str


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "workers"


def _recover_if_worker_died(path: Path) -> bool:
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
            outbox.postpone(ended.culprit, error=TOO_LONG)
            return outbox.release(operation)
        kills = 1 + Attempt.objects.filter(operation=operation, error=TOO_LONG).count()
        return outbox.fail(operation, error=TOO_LONG, permanent=kills >= MOST_KILLS)


class Leases:
    """The leases of the running operations, renewed every few seconds by a thread.

    The thread ends when no operation is running.
    """

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all leases. Called in a forked process, since a fork doesn't copy the thread."""
        self._held: dict[int, Operation] = {}
        self._used = False
        self._guard = threading.Lock()
        self._never = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def holding(self, operation: Operation) -> Iterator[None]:
        """Keep renewing the operation's lease inside the block, unless the lease is lost."""
        with self._guard:
            self._held[id(operation)] = operation
            self._used = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._guard:
                self._held.pop(id(operation), None)

    def renew(self) -> None:
        """Renew all leases, and stop renewing those that were lost."""
        with self._guard:
            held = list(self._held.items())
        for key, operation in held:
            if not self._renewed(operation):
                with self._guard:
                    self._held.pop(key, None)
        if held:
            try:  # for `/readyz`, since a renewal leaves locked rows unchanged
                cache.set(RENEWED_KEY, 1, timeout=RENEWED_SECONDS)
            except (RedisError, OSError):
                logger.warning("Redis can't be reached.")
            connection.close()

    def _keep(self) -> None:
        while True:
            self._never.wait(min(settings.LEASE_SECONDS / 3, _LONGEST_PAUSE))
            with self._guard:
                if not self._used:
                    self._thread = None
                    return
                self._used = bool(self._held)
            self.renew()

    def _renewed(self, operation: Operation) -> bool:
        try:
            with as_system():
                return outbox.renew(operation)
        except Exception as error:
            # The database may be restarting; then no other worker can take the lease either. Other
            # failures must not end the thread, since it renews all leases.
            kind = type(error).__name__
            logger.warning("operation %s: its lease was not renewed: %s", operation.public_id, kind)
            return True


held = Leases()
os.register_at_fork(after_in_child=held.begin_anew)
