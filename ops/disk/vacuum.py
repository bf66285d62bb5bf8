"""Vacuum the tables that a forget erased from, and describe copies on disk in its receipt."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from psycopg import sql

from ops.audit import receipts
from ops.disk import cluster
from ops.models import Operation
from ops.residue import places

UNTIL = "data_folder_until"
_LONGEST_WAIT = timedelta(hours=23)
_TAKES = timedelta(hours=1)


class NotVacuumed(Exception):
    """PostgreSQL skipped a table: the role lacks MAINTAIN, or the table is locked."""


def vacuum(operation: Operation) -> list[str]:
    """Vacuum the tables that this forget erased from; return their names.

    Uses a separate connection, since VACUUM can't run inside a transaction. Raises `NotVacuumed`.
    """
    tables = _touched(operation)
    said: list[str] = []
    with cluster.outside_transactions() as own:
        own.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        for table in tables:
            statement = "VACUUM (INDEX_CLEANUP ON, TRUNCATE FALSE) {}"
            own.execute(sql.SQL(statement).format(sql.Identifier(table)))
    if any("skipping" in one for one in said):
        raise NotVacuumed
    return tables


def statement(operation: Operation, *, now: datetime, tables: Iterable[str]) -> dict[str, Any]:
    """Return by when the log, backups and the data folder no longer contain the rows.

    A time is None if it can't be known: backups aren't configured, or the database's files are on
    another machine.
    """
    wal = timedelta(hours=settings.WAL_RETENTION_HOURS)
    backups = timedelta(days=settings.BACKUP_RETENTION_DAYS)
    return {
        "vacuumed": list(tables),
        "wal_until": (now + wal).isoformat(),
        "backups_until": (now + backups).isoformat() if backups else None,
        UNTIL: (due(now) + _TAKES).isoformat() if cluster.is_here() else None,
    }


def due(now: datetime) -> datetime:
    """Return the next quiet hour, at most 23 hours from now."""
    today = timezone.localtime(now).replace(
        hour=settings.DISK_ERASURE_HOUR, minute=0, second=0, microsecond=0
    )
    following = today if today > now else today + timedelta(days=1)
    return min(following, now + _LONGEST_WAIT)


def _touched(operation: Operation) -> list[str]:
    """Return the tables among the names of the receipt's counts."""
    counted = receipts.erased_by(operation).get("database", {})
    known = {place.table for place in places.places()}
    return sorted(known.intersection(counted))
