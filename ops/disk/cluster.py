"""Find the files of the database, and rewrite them so that no forgotten texts are left in them."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from django.utils import timezone
from psycopg import sql

from foundation.database import statements
from ops import audit_chain
from ops.models import Operation
from ops.residue import residue_columns

FOLDER = "pg"
TEMPORARY = "pgsql_tmp"  # folder for large sorts; emptied when the statement ends
# The tables of the planner's column statistics, which contain values of erased rows. They aren't
# tables of our models.
_STATISTICS = ("pg_statistic", "pg_statistic_ext_data")
_LOCK_SECONDS = 2
_TRIES = 30
_FILE = re.compile(r"pg/base/(\d+)/(\d+)")
# Maps an index to its table, and a TOAST table or its index to the table that it belongs to.
_TABLE_OF = """
WITH named AS (SELECT pg_filenode_relation(0, %s) AS oid),
     table_of AS (
        SELECT coalesce(i.indrelid, named.oid) AS oid
          FROM named LEFT JOIN pg_index i ON i.indexrelid = named.oid)
SELECT coalesce(owner.relname, c.relname), c.relname
  FROM table_of JOIN pg_class c ON c.oid = table_of.oid
  LEFT JOIN pg_class owner ON owner.reltoastrelid = c.oid
"""
UNTIL = "data_folder_until"
_LONGEST_WAIT = timedelta(hours=23)
_DURATION = timedelta(hours=1)


class NotRewritten(Exception):
    """A table wasn't rewritten: PostgreSQL skipped it, or others held a lock on it for too long."""


def is_cluster_local() -> bool:
    """Return whether the connected database stores its files in our data folder."""
    return _is_in(settings.DATA_DIR / FOLDER)


@cache
def _is_in(folder: Path) -> bool:
    """Return whether this folder contains the connected database.

    The comparison uses the system identifier that PostgreSQL gives to each cluster at creation.
    """
    try:
        with (folder / "global" / "pg_control").open("rb") as file:
            (stored_id,) = struct.unpack("<Q", file.read(8))
    except (OSError, struct.error):
        return False
    [(own_id,)] = statements.rows("SELECT system_identifier FROM pg_control_system()")
    return bool(own_id % (1 << 64) == stored_id)


@contextmanager
def outside_transactions() -> Iterator[psycopg.Connection[Any]]:
    """Open a second connection, for statements that can't run inside a transaction."""
    values = connection.get_connection_params()
    known = ("dbname", "user", "password", "host", "port", "sslmode", "sslrootcert")
    options = {name: values[name] for name in known if values.get(name)}
    with psycopg.connect(**options, autocommit=True) as own:
        yield own


def rewrite(table: str) -> None:
    """Rewrite a table and its indexes to new files that contain only the current rows.

    The table can't be read during the rewrite. Its lock is requested for short periods only, so
    that other transactions don't queue up behind this request. Raise `NotRewritten` if this fails.
    """
    notices: list[str] = []
    with outside_transactions() as own:
        own.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        own.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
        for attempt in range(_TRIES):
            try:
                own.execute(sql.SQL("VACUUM (FULL) {}").format(sql.Identifier(table)))
                break
            except psycopg.errors.LockNotAvailable:
                time.sleep(min(0.1 * 2**attempt, 5))
        else:
            raise NotRewritten(table)
    if any("skipping" in text for text in notices):
        raise NotRewritten(table)


def rewrite_all(tables: Iterable[str], *, then: Callable[[str], object]) -> None:
    """Rewrite these tables and the planner's statistics; call `then` after each table."""
    for table in (*sorted(tables), *_STATISTICS):
        rewrite(table)
        then(table)


def renew_log() -> None:
    """Flush all tables to disk, and let PostgreSQL remove old segments of its write-ahead log.

    With `wal_recycle=off`, the segments are deleted rather than renamed for later use.
    """
    with outside_transactions() as own:
        own.execute("CHECKPOINT")
        own.execute("SELECT pg_switch_wal()")
        own.execute("CHECKPOINT")


@cache
def database_number() -> int:
    [(oid,)] = statements.rows("SELECT oid FROM pg_database WHERE datname = current_database()")
    return int(oid)


def tables_of(files: Collection[str]) -> dict[str, str]:
    """Map each database file to the table that it belongs to; omit files without a table."""
    found: dict[str, str] = {}
    for name in files:
        match = _FILE.match(name)
        if match is None:
            continue
        for owner, _ in statements.rows(_TABLE_OF, [int(match[2])]):
            found[name] = owner
    return found


class NotVacuumed(Exception):
    """PostgreSQL skipped a table, since the role lacks MAINTAIN or the table is locked."""


def vacuum(operation: Operation) -> list[str]:
    """Vacuum the tables from which this operation erased rows; return their names.

    Uses a separate connection, since VACUUM can't run inside a transaction. Raise `NotVacuumed` if
    a table is skipped.
    """
    tables = sorted(
        residue_columns.tables_among(audit_chain.erased_counts(operation).get("database", ()))
    )
    notices: list[str] = []
    with outside_transactions() as own:
        own.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        for table in tables:
            statement = "VACUUM (INDEX_CLEANUP ON, TRUNCATE FALSE) {}"
            own.execute(sql.SQL(statement).format(sql.Identifier(table)))
    if any("skipping" in text for text in notices):
        raise NotVacuumed
    return tables


def describe_copies(
    operation: Operation, *, now: datetime, tables: Iterable[str]
) -> dict[str, Any]:
    """Return the vacuumed tables, and the times from which other copies no longer hold the rows.

    The copies are the write-ahead log, the backups and the files of the data folder. A time is None
    if it is unknown: no retention is configured for backups, or the files of the database aren't in
    the data folder.
    """
    wal = timedelta(hours=settings.WAL_RETENTION_HOURS)
    backups = timedelta(days=settings.BACKUP_RETENTION_DAYS)
    return {
        "vacuumed": list(tables),
        "wal_until": (now + wal).isoformat(),
        "backups_until": (now + backups).isoformat() if backups else None,
        UNTIL: (next_quiet_hour(now) + _DURATION).isoformat() if is_cluster_local() else None,
    }


def next_quiet_hour(now: datetime) -> datetime:
    """Return the beginning of the next quiet hour, but at most 23 hours after `now`.

    The quiet hour is the hour of the night in which forgotten rows are erased from the disk.
    """
    today = timezone.localtime(now).replace(
        hour=settings.DISK_ERASURE_HOUR, minute=0, second=0, microsecond=0
    )
    following = today if today > now else today + timedelta(days=1)
    return min(following, now + _LONGEST_WAIT)
