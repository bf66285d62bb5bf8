"""Pytest plugin (`-p tests.databases`): real PostgreSQL and Redis for the session.

Loaded before Django's settings, so that they find the addresses; the servers start when the
first test asks for a database.
"""

import os
import shutil
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres, choose_placement, run_roles_sql

# Tables that the app's roles could empty at once, before the tests' own right to.
can_be_emptied: set[str] = set()
APPEND_ONLY = ("ops_auditevent", "ops_auditseal", "ops_receipt")
# A crash may lose data, which no test outlives.
_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "io_method": "sync",
    "shared_buffers": "64MB",
}


def fast_postgres(folder: DataFolder) -> EmbeddedPostgres:
    """A server that writes nothing through to the disk."""
    return EmbeddedPostgres(folder, settings=_FAST, initdb_options=["--no-sync"])


folder = DataFolder(Path(tempfile.mkdtemp(prefix="memcenter-test-")) / "data")
postgres = fast_postgres(folder)
redis_server = EmbeddedRedis(folder)

os.environ |= {
    "DATABASE_URL": postgres.url("app"),
    "MEMCENTER_OWNER_DATABASE_URL": postgres.url("owner"),
    "REDIS_URL": redis_server.url(),
    "MEMCENTER_SECRET_KEY": folder.secrets.secret_key,
    "MEMCENTER_DATA_DIR": str(folder.path),
}


def start() -> None:
    """Start the servers and migrate as the owner; tests then run as the app's role."""
    postgres.start()
    redis_server.start()
    (folder.path / "static").mkdir(exist_ok=True)  # where static files are served from
    _migrate_as_owner()


def add(name: str, *, to: EmbeddedPostgres) -> None:
    """A further database with the same owner, grants and extensions."""
    url = to.url("superuser", database="postgres")
    run_roles_sql(to.folder, choose_placement(to.folder), url=url, database=name)


def drop(name: str, *, of: EmbeddedPostgres) -> None:
    url = of.url("superuser", database="postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        statement = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
        connection.execute(statement)


def _migrate_as_owner() -> None:
    from django.core.management import call_command
    from django.db import connection

    from foundation import env

    app = dict(connection.settings_dict)
    owner = env.database("MEMCENTER_OWNER_DATABASE_URL")
    connection.close()
    connection.settings_dict.update(USER=owner["USER"], PASSWORD=owner["PASSWORD"])
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND (has_table_privilege("
            "'memcenter_app', oid, 'TRUNCATE') OR has_table_privilege("
            "'memcenter_system', oid, 'TRUNCATE'))"
        )
        can_be_emptied.update(row[0] for row in cursor.fetchall())
        # Transactional tests empty the tables between them; the app itself never may.
        cursor.execute("GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO memcenter_app")
        for table in APPEND_ONLY:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER never_truncated")
    connection.close()
    connection.settings_dict.update(USER=app["USER"], PASSWORD=app["PASSWORD"])


def pytest_unconfigure() -> None:
    redis_server.stop()
    postgres.stop()
    folder.remove()
    shutil.rmtree(folder.path.parent, ignore_errors=True)
