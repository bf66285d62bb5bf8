"""The operation handler that imports a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

from django.db import connection

from conversations.importing import file_import, imported_index
from conversations.importing.formats.file_rows import Opened
from memcenter.lib.errors import ApplicationError
from ops.access import as_user
from ops.models import Import, Kind, User
from ops.queue import outbox
from ops.queue.run import LeaseLost, Run
from ops.registry import handles
from ops.transfer.export_requests import give_way

_LOOK_EVERY = 1.0
WATCHED_FROM = 2_000
"""Rows; fewer come in within a moment."""


@handles(Kind.IMPORT, is_long=True)
def take_in(run: Run) -> Mapping[str, Any] | None:
    """Read a file, insert all of it in one transaction, and index it.

    Safe to run twice: nothing is written before the transaction, and after it only indexing is
    left to do. The file is deleted when the import ends, whatever its outcome.
    """
    user = run.user()
    if user is None or user.hidden_at is not None:
        return None
    give_way(user)
    with as_user(user):
        row = Import.objects.filter(operation=run.operation).first()
    if row is None:
        return None
    if row.finished_at is None:
        _take_in(run, row, user=user)
    with as_user(user):
        file_import.erase_file(row)
    indexed = imported_index.index_what_is_not(run, user=user)
    counts = {name: row.report.get(name, 0) for name in ("conversations", "messages", "memories")}
    return {**counts, "indexed": indexed}


def _take_in(run: Run, row: Import, *, user: User) -> None:
    try:
        run.step("read")
        opened = file_import.read(row)
        _apply(run, row, opened, user=user)
    except ApplicationError:
        with as_user(user):
            file_import.erase_file(row)
        raise


def _apply(run: Run, row: Import, opened: Opened, *, user: User) -> None:
    run.step("apply", done=0, total=opened.total)
    with _Watch(run, user, total=opened.total) as watch, as_user(user):
        report = file_import.apply(
            opened,
            user=user,
            reference=run.operation.public_id,
            on_progress=watch.look,
        )
        file_import.finish(row, report=report)
        file_import.check_still_wanted(user)
        if not outbox.holds(run.operation):
            raise LeaseLost(run.operation.public_id)


class _Watch:
    """Reports the progress of the long transaction, and checks whether it must give way.

    Uses a connection of its own, since writes of the long transaction are invisible to others.
    """

    def __init__(self, run: Run, user: User, *, total: int) -> None:
        self._run, self._user, self._total = run, user, total
        self._looked_at = monotonic()
        self._thread: ThreadPoolExecutor | None = None

    def __enter__(self) -> _Watch:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._thread is not None:
            self._thread.submit(lambda: connection.close()).result()  # that thread's own
            self._thread.shutdown()

    def look(self, done: int) -> None:
        """Raise `GiveWay` or `LeaseLost` if the import must stop."""
        now = monotonic()
        if self._total < WATCHED_FROM or now - self._looked_at < _LOOK_EVERY:
            return
        self._looked_at = now
        self._elsewhere(lambda: self._tell(done))

    def _tell(self, done: int) -> None:
        self._run.step("apply", done=min(done, self._total), total=self._total)
        give_way(self._user)

    def _elsewhere(self, action: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="import-watch")
        self._thread.submit(action).result()
