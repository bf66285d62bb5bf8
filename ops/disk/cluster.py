"""The database's own files: whether they lie in the data folder, and having them written anew."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from memcenter.lib.database import statements

FOLDER = "pg"
TEMPORARY = "pgsql_tmp"  # where sorts spill; emptied when the statement ends
# The planner's notes of columns outlive rows, and stand in tables that no model describes.
_NOTES = ("pg_statistic", "pg_statistic_ext_data")
_LOCK_SECONDS = 2
_TRIES = 30
_FILE = re.compile(r"pg/base/(\d+)/(\d+)")
# Of an index the table that it is of, of a TOAST table or its index the table that it belongs to.
_TABLE_OF = """
WITH named AS (SELECT pg_filenode_relation(0, %s) AS oid),
     table_of AS (
        SELECT coalesce(i.indrelid, named.oid) AS oid
          FROM named LEFT JOIN pg_index i ON i.indexrelid = named.oid)
SELECT coalesce(owner.relname, c.relname), c.relname
  FROM table_of JOIN pg_class c ON c.oid = table_of.oid
  LEFT JOIN pg_class owner ON owner.reltoastrelid = c.oid
"""


class NotRewritten(Exception):
    """The database passed over a table, or others held it for too long."""


def is_here() -> bool:
    """Whether the database that we speak to keeps its files in our data folder."""
    return _is_in(settings.DATA_DIR / FOLDER)


@cache
def _is_in(folder: Path) -> bool:
    """By the random number that each cluster is given when it is made."""
    try:
        with (folder / "global" / "pg_control").open("rb") as file:
            (there,) = struct.unpack("<Q", file.read(8))
    except (OSError, struct.error):
        return False
    [(ours,)] = statements.rows("SELECT system_identifier FROM pg_control_system()")
    return bool(ours % (1 << 64) == there)


@contextmanager
def outside_transactions() -> Iterator[psycopg.Connection[Any]]:
    """A connection of its own, for what can't be done inside a transaction."""
    values = connection.get_connection_params()
    known = ("dbname", "user", "password", "host", "port", "sslmode", "sslrootcert")
    given = {name: values[name] for name in known if values.get(name)}
    with psycopg.connect(**given, autocommit=True) as own:
        yield own


def rewrite(table: str) -> None:
    """Write a table and all its indexes into new files that hold nothing but its rows.

    Nobody reads it meanwhile. Whoever uses it at the moment is waited for, a little at a time, so
    that others don't queue up behind us. Raises `NotRewritten`.
    """
    said: list[str] = []
    with outside_transactions() as own:
        own.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        own.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
        for attempt in range(_TRIES):
            try:
                own.execute(sql.SQL("VACUUM (FULL) {}").format(sql.Identifier(table)))
                break
            except psycopg.errors.LockNotAvailable:
                time.sleep(min(0.1 * 2**attempt, 5))
        else:
            raise NotRewritten(table)
    if any("skipping" in one for one in said):
        raise NotRewritten(table)


def rewrite_all(tables: Iterable[str], *, then: Callable[[str], object]) -> None:
    """Rewrite these and the planner's notes, one after the other; `then` is told of each."""
    for table in (*sorted(tables), *_NOTES):
        rewrite(table)
        then(table)


def renew_log() -> None:
    """Write all to the tables, begin a new segment of the log, and let the old ones go.

    `wal_recycle=off` has them removed and not kept under new names.
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
    """For each of these files of ours the table that it belongs to, where there is one."""
    found: dict[str, str] = {}
    for name in files:
        match = _FILE.match(name)
        if match is None:
            continue
        for owner, _ in statements.rows(_TABLE_OF, [int(match[2])]):
            found[name] = owner
    return found
