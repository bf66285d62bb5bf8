"""Migrate the schema before any program uses it, after a backup of what is there."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path

from memcenter.embedded.folder import EmbeddedError
from memcenter.lib import places


class State(Enum):
    """How the database stands to this version's migrations."""

    EMPTY = auto()
    EARLIER = auto()
    CURRENT = auto()


def migrate_if_needed(
    *, meanwhile: Callable[[], None] | None = None, backup_first: bool = True
) -> None:
    """Check in this process, which is quick, and migrate in another one as the owner.

    `meanwhile` runs in parallel, since a first migration takes seconds. `backup_first` backs up a
    database that an earlier version filled. Raises `EmbeddedError`; nothing is migrated if the
    backup fails.
    """
    with contextlib.ExitStack() as stack:
        state = _compare()
        if backup_first and state == State.EARLIER:
            _back_up()
        migration = _begin_migrating() if state != State.CURRENT else None
        if migration:
            stack.callback(migration.kill)  # for a Ctrl-C; it may have ended already
        if meanwhile:
            meanwhile()
        if migration:
            _finish(migration)


def _finish(migration: "subprocess.Popen[str]") -> None:
    _, said = migration.communicate()
    if migration.returncode != 0:
        raise EmbeddedError(f"The migrations failed:\n{said.strip()}")


def _compare() -> State:
    import django
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    try:
        executor = MigrationExecutor(connection)
        if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return State.CURRENT
        return State.EARLIER if executor.loader.applied_migrations else State.EMPTY
    finally:
        connection.close()


def _back_up() -> None:
    """Write a backup beside the data folder, and delete the one of the upgrade before."""
    from django.conf import settings

    from memcenter import backup
    from memcenter.embedded.tools import where_it_is

    if not settings.UPGRADE_BACKUP:
        return
    folder = Path(settings.UPGRADE_BACKUP_DIR)
    target = folder / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.tar"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        backup.write(target, where=where_it_is())
    except (backup.BackupError, OSError) as error:
        raise EmbeddedError(
            f"The backup before the upgrade failed, so nothing was changed: {error} "
            "Make room, or set MEMCENTER_UPGRADE_BACKUP=false to go on without one."
        ) from error
    for earlier in folder.iterdir():
        if earlier.is_dir():  # what a killed backup left
            shutil.rmtree(earlier)
        elif earlier != target:
            earlier.unlink()


def _begin_migrating() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*_command_line(), "migrate", "--no-input", "--skip-checks", "--verbosity=0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEMCENTER_AS_OWNER": "1"},
    )


def _command_line() -> list[str | Path]:
    if places.is_checkout():
        return [sys.executable, places.BASE_DIR / "manage.py"]
    # Without -P the current folder would come before the installed code.
    return [sys.executable, "-P", "-m", "memcenter"]
