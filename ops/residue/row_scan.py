"""Read the rows for a residue scan from all tables in one prepared statement.

Most tables have few rows of a person, so one statement for each table would cost more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet

from memcenter.lib.database import statements
from ops.residue.places import Place

_FEW = 1_000  # rows of one table; of more it is read apart, piece by piece
_USER, _SUBJECT = -1, UUID(int=1)  # in whose place the person stands in a statement
_SETTING = "SELECT set_config('enable_seqscan', %s, true)"
_NAMES = {_USER: "%(user)s", _SUBJECT: "%(subject)s"}


@contextmanager
def by_indexes() -> Iterator[None]:
    """Make the planner use an index instead of a sequential scan for one person's rows.

    Otherwise the planner may choose a sequential scan if it expects many rows, and the residue scan
    would slow down with other people's data.
    """
    statements.rows(_SETTING, ["off"])
    yield
    statements.rows(_SETTING, ["on"])


@dataclass(frozen=True)
class Reading:
    """The columns and rows of a table to read; `rows` takes the person."""

    place: Place
    columns: tuple[str, ...]
    rows: Callable[[int | None, UUID | None], QuerySet[Any]]


def erased_rows(
    tables: tuple[Place, ...], gone: Mapping[str, Collection[int]]
) -> Iterator[tuple[Any, ...]]:
    """Return place and key of rows that should be erased, and of rows that refer to them."""
    asked = [one for table, pks in gone.items() if pks for one in _asked_of(tables).get(table, ())]
    if not asked:
        return
    text = " UNION ALL ".join(statement for statement, _, _ in asked)
    values = {table: list(gone[table]) for _, _, table in asked}
    yield from statements.rows(text, values)


def of_person(
    readings: Sequence[Reading], key: object, *, user_id: int | None, subject: UUID | None
) -> Iterator[tuple[Reading, str, Mapping[str, Any]]]:
    """Yield one person's rows of all readings: reading, row key, values by column.

    `key` identifies the readings, whose statement is built once.
    """
    text, values = _STATEMENTS.get(key) or _STATEMENTS.setdefault(key, _of_all(readings))
    given = {"user": user_id, "subject": subject}
    found: list[list[tuple[str, Mapping[str, Any]]]] = [[] for _ in readings]
    for number, row in statements.rows(text, given | values):
        told = orjson.loads(row)
        found[number].append((str(told.pop("pk")), told))
    for reading, rows in zip(readings, found, strict=True):
        few = len(rows) <= _FEW
        for pk, told in rows if few else _apart(reading, user_id, subject):
            yield reading, pk, told


_STATEMENTS: dict[object, tuple[str, dict[str, Any]]] = {}


def _apart(
    reading: Reading, user_id: int | None, subject: UUID | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = reading.rows(user_id, subject).order_by().values("pk", *reading.columns)
    for told in rows.iterator(chunk_size=_FEW):
        yield str(told.pop("pk")), told


def _of_all(readings: Sequence[Reading]) -> tuple[str, dict[str, Any]]:
    """Combine the ORM's queries of all tables into one, each row as JSON."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for number, reading in enumerate(readings):
        rows = reading.rows(_USER, _SUBJECT).order_by().values("pk", *reading.columns)
        text, given = rows[: _FEW + 1].query.sql_with_params()
        names = [_named(one, values) for one in given]
        parts.append(f"SELECT {number}, to_json(r)::text FROM ({text % tuple(names)}) r")
    return " UNION ALL ".join(parts), values


def _named(value: Any, values: dict[str, Any]) -> str:
    if isinstance(value, int | UUID) and value in _NAMES:
        return _NAMES[value]
    name = f"v{len(values)}"
    values[name] = value
    return f"%({name})s"


@cache
def _asked_of(tables: tuple[Place, ...]) -> Mapping[str, Sequence[tuple[str, str, str]]]:
    """Return the statements for each table that lost rows, with the places that they read."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for place in tables:
        key: Any = place.model._meta.pk
        table = f'SELECT \'{{}}\', "{key.column}"::text FROM "{place.table}" WHERE '
        own = f'{table.format(place.table)}"{key.column}" = ANY(%({place.table})s::bigint[])'
        found.setdefault(place.table, []).append((own, place.table, place.table))
        kind, number, targets = getattr(place.model, "refers_to", (None, None, {}))
        for value, target in targets.items():
            at = f"{place.table}.{number}"
            where = f'"{kind}" = \'{value}\' AND "{number}" = ANY(%({target})s::bigint[])'
            found.setdefault(target, []).append((table.format(at) + where, at, target))
    return found
