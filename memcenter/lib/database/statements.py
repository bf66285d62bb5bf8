"""Hand-written SQL for hot paths: prepared statements that return plain rows.

The ORM takes longer to build such a statement than PostgreSQL to run it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import (
    BigIntegerField,
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    TextField,
    UUIDField,
)

Row = TypeVar("Row", bound=Model)
_TIMES: Any = psycopg.adapters.get_loader(
    psycopg.adapters.types["timestamptz"].oid, psycopg.pq.Format.TEXT
)
_IDLE = psycopg.pq.TransactionStatus.IDLE
_ANSWERED = psycopg.pq.ExecStatus.TUPLES_OK
_own = threading.local()
Values = Sequence[Any] | Mapping[str, Any]  # for `%s`, or by name where one stands in many places


class _Cursor(psycopg.Cursor[Any]):
    """One cursor for each connection, since creating one takes longer than most statements."""

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        # Django's own loader of times is slow Python; every session here uses UTC.
        self.adapters.register_loader("timestamptz", _TIMES)

    def take(self) -> list[tuple[Any, ...]]:
        """Return the rows and drop the cursor's copy, so that they don't stay in memory."""
        # Not `description`, which creates an object for every column.
        found = self.fetchall() if self.pgresult and self.pgresult.nfields else []
        self._reset()
        self._tx.set_pgresult(None)
        return found


@dataclass(frozen=True)
class Sql:
    """A piece of SQL with the values of its `%s` in order."""

    text: str
    values: tuple[Any, ...] = ()

    def also(self, condition: str, *values: Any) -> Sql:
        return Sql(f"{self.text} AND {condition}", (*self.values, *values))


def rows(text: str, values: Values = (), *, anew: bool = False) -> list[tuple[Any, ...]]:
    """Run one statement with server-side binding; it is prepared if used often.

    Runs in the open transaction, counts in `connection.queries` and raises Django's database
    errors. `anew` plans it for these values each time, for people with so many rows that one plan
    can't fit all.
    """
    database = connections[DEFAULT_DB_ALIAS]  # looked up once: `connection` does so each time
    database.ensure_connection()
    prepare = False if anew else None
    if database.queries_logged or database.execute_wrappers:
        return _watched(text, values, prepare=prepare)
    database.validate_no_broken_transaction()
    with database.wrap_database_errors:
        cursor = _cursor_of(database.connection)
        cursor.execute(text, _given(values), prepare=prepare)
        return cursor.take()


def _given(values: Values) -> list[Any] | Mapping[str, Any]:
    return values if isinstance(values, Mapping) else list(values)


def _cursor_of(server: Any) -> _Cursor:
    cursor: _Cursor | None = getattr(_own, "cursor", None)
    if cursor is None or cursor.connection is not server:
        cursor = _own.cursor = _Cursor(server)
    return cursor


def _watched(text: str, values: Values, *, prepare: bool | None) -> list[tuple[Any, ...]]:
    """Run the statement through Django's own cursor, which logs and wraps."""
    raw: Any = _Cursor(connection.connection)
    raw.execute = partial(raw.execute, prepare=prepare)
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(raw) as cursor:
        cursor.execute(text, _given(values))
        found: list[tuple[Any, ...]] = raw.take()
    return found


def begin(text: str) -> None:
    """Begin the transaction of `atomic` and run `text` in one round trip.

    If a transaction is open already, or statements are logged, `text` runs normally.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    raw = database.connection
    if not database.queries_logged and raw.pgconn.transaction_status == _IDLE:
        if _begun(raw.pgconn, text):
            return
        with suppress(psycopg.Error):
            raw.rollback()  # the ordinary way says what is wrong
    rows(text)


def _begun(server: Any, text: str) -> bool:
    try:
        return bool(server.exec_(f"BEGIN; {text}".encode()).status == _ANSWERED)
    except psycopg.Error:
        return False


def insert(instances: Sequence[Row]) -> None:
    """Insert new rows of one model in one statement and set their ids.

    Like `bulk_create` in a fraction of its time, without conflicts and inheritance.
    """
    made = rows(_insertion(type(instances[0]), len(instances)), _values(instances))
    for one, (pk,) in zip(instances, made, strict=True):
        _is_stored(one, pk)


def insert_unless(instance: Model, *, conflict: str) -> bool:
    """Insert one row unless it exists; `conflict` is the target of ON CONFLICT.

    Returns False if the row exists.
    """
    text = _insertion(type(instance), 1, f" ON CONFLICT {conflict} DO NOTHING")
    made = rows(text, _values([instance]))
    if made:
        _is_stored(instance, made[0][0])
    return bool(made)


def insert_new(instances: Sequence[Model], *, conflict: str) -> None:
    """Insert the rows of one model that don't exist yet, and set their ids.

    `conflict` names the unique column, in brackets.
    """
    if not instances:
        return
    column = conflict.strip("()")
    text = _insertion(type(instances[0]), len(instances), f" ON CONFLICT {conflict} DO NOTHING")
    made = {told: pk for pk, told in rows(f'{text}, "{column}"', _values(instances))}
    for one in instances:
        told = getattr(one, column)
        if told in made:
            _is_stored(one, made[told])


def _values(instances: Sequence[Model]) -> list[Any]:
    return [_value(field, plain, one) for one in instances for field, plain in _fields(type(one))]


def _value(field: Any, plain: type[Any] | None, one: Model) -> Any:
    value = field.pre_save(one, True)
    return value if type(value) is plain else field.get_db_prep_save(value, connection)


# Types passed to the driver unchanged; Django's conversion takes longer than the driver's.
_PLAIN: dict[type[Field[Any, Any]], type[Any]] = {
    CharField: str,
    TextField: str,
    BooleanField: bool,
    DateTimeField: datetime,
    FloatField: float,
    UUIDField: UUID,
    ForeignKey: int,
    IntegerField: int,
    BigIntegerField: int,
}


@cache
def _fields(model: type[Model]) -> list[tuple[Field[Any, Any], type[Any] | None]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    return [(field, _PLAIN.get(type(field))) for field in fields]


def _is_stored(one: Model, pk: int) -> None:
    one.pk = pk
    one._state.adding, one._state.db = False, DEFAULT_DB_ALIAS


@cache
def _insertion(model: type[Model], count: int, conflict: str = "") -> str:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    names = ", ".join(f'"{field.column}"' for field in fields)
    one = f"({', '.join(['%s'] * len(fields))})"
    return (
        f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES {", ".join([one] * count)}'
        f'{conflict} RETURNING "{model._meta.pk.column}"'
    )


@cache
def columns(model: type[Model], alias: str) -> str:
    """Return all columns of a model, in the order of the values for `instance`."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


def width(model: type[Model]) -> int:
    return len(model._meta.concrete_fields)


def instance(model: type[Row], values: Sequence[object]) -> Row:
    """Make a model instance from a row; JSON is parsed as the ORM does."""
    given = list(values)
    for place in _json_places(model):
        told = given[place]
        given[place] = json.loads(told) if isinstance(told, str) else told
    return model.from_db(DEFAULT_DB_ALIAS, _names(model), given)


@cache
def _json_places(model: type[Model]) -> tuple[int, ...]:
    fields = enumerate(model._meta.concrete_fields)
    return tuple(place for place, field in fields if isinstance(field, JSONField))


@cache
def _names(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]
