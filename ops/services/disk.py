"""What erasing means on the disk: vacuumed tables, and until when other copies may be there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from ops.models import Operation
from ops.services import places, receipts


class NotVacuumed(Exception):
    """The database passed over a table: the role lacks MAINTAIN, or the table is locked."""


def vacuum(operation: Operation) -> list[str]:
    """Vacuum the tables that this forget erased from; gives their names.

    On a connection of its own, for it can't be done inside a transaction. Raises `NotVacuumed`.
    """
    tables = _touched(operation)
    said: list[str] = []
    with psycopg.connect(**_parameters(), autocommit=True) as own:
        own.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        for table in tables:
            statement = "VACUUM (INDEX_CLEANUP ON, TRUNCATE FALSE) {}"
            own.execute(sql.SQL(statement).format(sql.Identifier(table)))
    if any("skipping" in one for one in said):
        raise NotVacuumed
    return tables


def statement(operation: Operation, *, now: datetime, tables: Iterable[str]) -> dict[str, Any]:
    """For the receipt: by when the write-ahead log and backups no longer hold the rows."""
    wal = timedelta(hours=settings.WAL_RETENTION_HOURS)
    backups = timedelta(days=settings.BACKUP_RETENTION_DAYS)
    return {
        "vacuumed": list(tables),
        "wal_until": (now + wal).isoformat(),
        "backups_until": (now + backups).isoformat() if backups else None,
    }


def _touched(operation: Operation) -> list[str]:
    """Only those that there are: counts are kept under the names of tables."""
    counted = receipts.erased_by(operation).get("database", {})
    known = {place.table for place in places.places()}
    return sorted(known.intersection(counted))


def _parameters() -> dict[str, Any]:
    values = connection.get_connection_params()
    known = ("dbname", "user", "password", "host", "port", "sslmode", "sslrootcert")
    return {name: values[name] for name in known if values.get(name)}
