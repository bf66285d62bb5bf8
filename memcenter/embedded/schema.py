"""Bringing the schema up to date before anybody works with it."""

import os
import subprocess
import sys
from pathlib import Path

from memcenter.embedded.folder import EmbeddedError

_MANAGE = Path(__file__).resolve().parents[2] / "manage.py"


def migrate_if_needed() -> None:
    """Asks in this process, which is quick; migrates in another, which is the owner."""
    if _is_behind():
        _migrate()


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


def _migrate() -> None:
    done = subprocess.run(
        [sys.executable, _MANAGE, "migrate", "--no-input", "--verbosity=0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEMCENTER_AS_OWNER": "1"},
    )
    if done.returncode != 0:
        raise EmbeddedError(f"The migrations failed:\n{done.stderr.strip()}")
