"""Migrate the schema before any program uses it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from memcenter.embedded.folder import EmbeddedError
from memcenter.lib import places


def migrate_if_needed(*, meanwhile: Callable[[], None] | None = None) -> None:
    """Check in this process, which is quick, and migrate in another one as the owner.

    `meanwhile` runs in parallel, since a first migration takes seconds.
    """
    with contextlib.ExitStack() as stack:
        migration = _begin_migrating() if _is_behind() else None
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


def _is_behind() -> bool:
    import django
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    finally:
        connection.close()


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
