"""Bringing the schema up to date before anybody works with it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from memcenter.embedded.folder import EmbeddedError

_MANAGE = Path(__file__).resolve().parents[2] / "manage.py"


def migrate_if_needed(*, meanwhile: Callable[[], None] | None = None) -> None:
    """Asks in this process, which is quick; migrates in another, which is the owner.

    `meanwhile` is done beside it: a first migration takes seconds of one processor.
    """
    with contextlib.ExitStack() as stack:
        migration = _begin_migrating() if _is_behind() else None
        if migration:
            stack.callback(migration.kill)  # for a Ctrl-C; nothing to do where it has ended
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
        [sys.executable, _MANAGE, "migrate", "--no-input", "--skip-checks", "--verbosity=0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEMCENTER_AS_OWNER": "1"},
    )
