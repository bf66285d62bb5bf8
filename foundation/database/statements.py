"""Plain SQL for frequent queries: prepared statements that return rows as tuples.

Building such a statement with the ORM takes longer than running it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from django.contrib.postgres.fields import ArrayField
from django.db import (
    DEFAULT_DB_ALIAS,
    InterfaceError,
    OperationalError,
    connection,
    connections,
)
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
    PositiveIntegerField,
    TextField,
    UUIDField,
)
from pgvector.django import HalfVectorField

Row = TypeVar("Row", bound=Model)
_TIMES: Any = psycopg.adapters.get_loader(
    psycopg.adapters.types["timestamptz"].oid, psycopg.pq.Format.TEXT
)
_IDLE = psycopg.pq.TransactionStatus.IDLE
_ANSWERED = psycopg.pq.ExecStatus.TUPLES_OK
_own = threading.local()
Values = Sequence[Any] | Mapping[str, Any]  # positional for `%s`, or by name


class _Cursor(psycopg.Cursor[Any]):
    def __init__(self, server: Any) -> None:
        super().__init__(server)
        # Django's own loader of timestamps is slow. It isn't needed, since every session uses UTC.
        self.adapters.register_loader("timestamptz", _TIMES)

    def take(self) -> list[tuple[Any, ...]]:
        # Not `description`, which creates an object for every column.
        return self.fetchall() if self.pgresult and self.pgresult.nfields else []


@dataclass(frozen=True)
class Sql:
    """A piece of SQL and the values for its `%s` placeholders, in order."""

    text: str
    values: tuple[Any, ...] = ()

    def also(self, condition: str, *values: Any) -> Sql:
        return Sql(f"{self.text} AND {condition}", (*self.values, *values))


def rows(text: str, values: Values = (), *, anew: bool = False) -> list[tuple[Any, ...]]:
    """Run one statement and return its rows.

    Values are sent separately from the text, and a statement that is used often is prepared. The
    statement runs in the open transaction, is logged in `connection.queries`, and raises Django's
    database errors. With `anew`, PostgreSQL plans the statement for these particular values. Use
    `anew` if users with few rows and users with very many rows need different plans.
    """
    # Looked up only once; `connection` would repeat the lookup for each attribute.
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    prepare = False if anew else None
    if _is_watched(database):
        return _watched(text, values, prepare=prepare)
    database.validate_no_broken_transaction()
    if _entering(database.connection):
        return Batch().add(text, values, anew=anew).rows()
    with database.wrap_database_errors:
        cursor = _Cursor(database.connection)
        cursor.execute(text, _given(values), prepare=prepare)
        return cursor.take()


def first_rows(text: str, values: Values = ()) -> list[tuple[Any, ...]]:
    """Run the first statement of a request, which must be read-only, and return its rows.

    If the server has closed the connection, the statement is repeated on a new connection. This
    retry replaces Django's health check of the connection, which costs another round trip.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    try:
        found = rows(text, values)
    except (OperationalError, InterfaceError):
        if database.in_atomic_block or database.is_usable():
            raise
        database.close()
        found = rows(text, values)
    database.health_check_done = True
    return found


class Batch:
    """Independent statements that are sent to the database together, in one round trip."""

    def __init__(self) -> None:
        self._waiting: list[PendingResult] = []

    def add(self, text: str, values: Values = (), *, anew: bool = False) -> PendingResult:
        """Add a statement to the batch; the arguments are those of `rows`.

        The batch runs when rows of one of its statements are first requested
        (`PendingResult.rows`).
        """
        later = PendingResult(self, text, values, anew)
        self._waiting.append(later)
        return later

    def run(self, *, ends: bool = False) -> None:
        """Run all added statements.

        With `ends`, also commit the transaction of `send_with_begin` if this batch begins it.
        """
        waiting, self._waiting = self._waiting, []
        database = connections[DEFAULT_DB_ALIAS]
        database.ensure_connection()
        if _is_watched(database):
            for later in waiting:
                later.found = _watched(
                    later.text, later.values, prepare=False if later.anew else None
                )
            return
        database.validate_no_broken_transaction()
        with database.wrap_database_errors:
            _run_together(database.connection, waiting, ends=ends)


@dataclass
class PendingResult:
    """The result of a statement in a batch, which may not have run yet."""

    batch: Batch
    text: str
    values: Values
    anew: bool
    found: list[tuple[Any, ...]] | None = field(default=None, repr=False)

    def rows(self) -> list[tuple[Any, ...]]:
        if self.found is None:
            self.batch.run()
        assert self.found is not None
        return self.found


def _run_together(server: Any, waiting: Sequence[PendingResult], *, ends: bool) -> None:
    entering = _entering(server)
    cursors = [_Cursor(server) for _ in waiting]
    try:
        if entering:
            server.autocommit = True  # else the driver would send a BEGIN and wait for its answer
        with server.pipeline(), server.cursor() as around:
            if entering:
                around.execute("BEGIN", prepare=False)
                around.execute(entering, prepare=False)
            for cursor, later in zip(cursors, waiting, strict=True):
                prepare = False if later.anew else None
                cursor.execute(later.text, _given(later.values), prepare=prepare)
            if entering and ends:
                around.execute("COMMIT", prepare=False)
    finally:
        # `autocommit` can't be set inside a transaction; Django sets it when the transaction ends.
        if entering and server.pgconn.transaction_status == _IDLE:
            server.autocommit = False
    for cursor, later in zip(cursors, waiting, strict=True):
        later.found = cursor.take()


def _given(values: Values) -> list[Any] | Mapping[str, Any]:
    return values if isinstance(values, Mapping) else list(values)


def _is_watched(database: Any) -> bool:
    wrappers = database.execute_wrappers
    return database.queries_logged or any(wrapper is not _begin_before for wrapper in wrappers)


def _watched(text: str, values: Values, *, prepare: bool | None) -> list[tuple[Any, ...]]:
    """Run the statement through Django's cursor, which logs it and applies Django's wrappers."""
    raw: Any = _Cursor(connection.connection)
    raw.execute = partial(raw.execute, prepare=prepare)
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(raw) as cursor:
        cursor.execute(text, _given(values))
        found: list[tuple[Any, ...]] = raw.take()
    return found


@contextmanager
def send_with_begin(text: str) -> Iterator[None]:
    """Send `text` together with the BEGIN of the transaction, which saves a round trip.

    Use this function inside `atomic`. BEGIN and `text` are sent before the first statement in the
    block, even if the ORM sends that statement. If a transaction is already open, or if statements
    are logged, `text` runs immediately instead.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    raw: Any = database.connection
    if database.queries_logged or raw.pgconn.transaction_status != _IDLE:
        rows(text)
        yield
        return
    _own.entering = (raw, text)
    try:
        with database.execute_wrapper(_begin_before):
            yield
    finally:
        _own.entering = None


def _begin_before(execute: Any, text: str, values: Any, many: bool, context: Any) -> Any:
    """Run a statement of the ORM; first begin the transaction of `send_with_begin` if necessary."""
    server = context["connection"].connection
    entering = _entering(server)
    if entering and not _try_to_begin(server.pgconn, entering):
        raise OperationalError("The transaction could not begin.")
    return execute(text, values, many, context)


def _entering(server: Any) -> str:
    """Return the text to send with BEGIN on this connection, or "" if there is nothing to begin."""
    pending: tuple[Any, str] | None = getattr(_own, "entering", None)
    if pending is None or pending[0] is not server or server.pgconn.transaction_status != _IDLE:
        return ""
    return pending[1]


def begin(text: str) -> None:
    """Begin the transaction of `atomic` and run `text` in the same round trip.

    If a transaction is already open, or if statements are logged, `text` runs as a normal
    statement.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    raw = database.connection
    if not database.queries_logged and raw.pgconn.transaction_status == _IDLE:
        if _try_to_begin(raw.pgconn, text):
            return
        with suppress(psycopg.Error):
            raw.rollback()  # `rows` raises the proper error
    rows(text)


def _try_to_begin(server: Any, text: str) -> bool:
    try:
        return bool(server.exec_(f"BEGIN; {text}".encode()).status == _ANSWERED)
    except psycopg.Error:
        return False


def insert(instances: Sequence[Row]) -> None:
    """Insert new rows of the same model in a single statement, and set their ids.

    This function is much faster than `bulk_create`, but supports neither ON CONFLICT nor model
    inheritance.
    """
    made = rows(*insert_statement(instances))
    for row, (pk,) in zip(instances, made, strict=True):
        _mark_as_stored(row, pk)


def insert_statement(instances: Sequence[Model]) -> tuple[str, list[Any]]:
    """Return the INSERT statement for new rows of one model, and its values."""
    return _insertion(type(instances[0]), len(instances)), _values(instances)


def insert_if_new(instance: Model, *, conflict: str) -> bool:
    """Insert a row unless it would conflict with an existing row; return whether it was inserted.

    `conflict` is the target of ON CONFLICT.
    """
    text = _insertion(type(instance), 1, f" ON CONFLICT {conflict} DO NOTHING")
    made = rows(text, _values([instance]))
    if made:
        _mark_as_stored(instance, made[0][0])
    return bool(made)


def insert_new(instances: Sequence[Model], *, conflict: str) -> None:
    """Insert those rows (of one model) that don't exist yet, and set the ids of the inserted rows.

    `conflict` is the unique column, in parentheses, that identifies an existing row.
    """
    if not instances:
        return
    column = conflict.strip("()")
    text = _insertion(type(instances[0]), len(instances), f" ON CONFLICT {conflict} DO NOTHING")
    made = {value: pk for pk, value in rows(f'{text}, "{column}"', _values(instances))}
    for row in instances:
        value = getattr(row, column)
        if value in made:
            _mark_as_stored(row, made[value])


@dataclass(frozen=True)
class IdOf:
    """A placeholder for the id of another row in the same call of `insert_together`."""

    row: Model


def insert_together(instances: Sequence[Model]) -> None:
    """Insert new rows of several models in a single statement, and set their ids.

    A row may refer to earlier rows of the list, by a foreign key or by an `IdOf` as the value of a
    field. While a row is inserted, row security policies and triggers can't see the other new rows.
    """
    places = {id(row): place for place, row in enumerate(instances)}
    shape: list[_Shape] = []
    values: list[Any] = []
    for row in instances:
        links: list[int | None] = []
        for column, plain in _fields(type(row)):
            other = _unsaved(column, row)
            links.append(None if other is None else places[id(other)])
            if other is None:
                values.append(_value(column, plain, row))
        shape.append((type(row), tuple(links)))
    [made] = rows(_joint_insertion(tuple(shape)), values)
    for row, pk, (model, row_links) in zip(instances, made, shape, strict=True):
        _mark_as_stored(row, pk)
        for (column, _), place in zip(_fields(model), row_links, strict=True):
            if place is not None:
                setattr(row, column.attname, made[place])


# The model of a row and, for each column, the index of the new row that it refers to, if any.
_Shape = tuple[type[Model], tuple[int | None, ...]]


def _unsaved(column: Field[Any, Any], row: Model) -> Model | None:
    """Return the unsaved row to which this column of `row` refers, or None."""
    value = getattr(row, column.attname)
    if isinstance(value, IdOf):
        return value.row
    if value is None and isinstance(column, ForeignKey):
        other: Model | None = column.get_cached_value(row, default=None)
        return other if other is not None and other.pk is None else None
    return None


@cache
def _joint_insertion(shape: tuple[_Shape, ...]) -> str:
    parts = []
    for place, (model, referred) in enumerate(shape):
        names = ", ".join(f'"{column.column}"' for column, _ in _fields(model))
        inserted = ", ".join("%s" if n is None else f"(SELECT id FROM row{n})" for n in referred)
        parts.append(
            f'row{place} AS (INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({inserted})'
            f' RETURNING "{model._meta.pk.column}" AS id)'
        )
    ids = ", ".join(f"(SELECT id FROM row{place})" for place in range(len(shape)))
    return f"WITH {', '.join(parts)} SELECT {ids}"


def _values(instances: Sequence[Model]) -> list[Any]:
    return [_value(field, plain, row) for row in instances for field, plain in _fields(type(row))]


def _value(field: Any, plain: type[Any] | None, row: Model) -> Any:
    value = field.pre_save(row, True)
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
    PositiveIntegerField: int,
    BigIntegerField: int,
    ArrayField: list,
    HalfVectorField: str,  # already in PostgreSQL's text format
}


@cache
def _fields(model: type[Model]) -> list[tuple[Field[Any, Any], type[Any] | None]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    return [(field, _PLAIN.get(type(field))) for field in fields]


def _mark_as_stored(row: Model, pk: int) -> None:
    row.pk = pk
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@cache
def _insertion(model: type[Model], count: int, conflict: str = "") -> str:
    fields = [field for field, _ in _fields(model)]
    names = ", ".join(f'"{field.column}"' for field in fields)
    placeholders = f"({', '.join(['%s'] * len(fields))})"
    return (
        f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES {", ".join([placeholders] * count)}'
        f'{conflict} RETURNING "{model._meta.pk.column}"'
    )


@cache
def columns(model: type[Model], alias: str) -> str:
    """Return all columns of a model as SQL, in the order that `instance` expects."""
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


def width(model: type[Model]) -> int:
    return len(model._meta.concrete_fields)


def instance(model: type[Row], values: Sequence[object]) -> Row:
    """Build a model instance from a row of the database, parsing JSON as the ORM does."""
    given = list(values)
    names, json_places = _shape_of(model)
    for place in json_places:
        value = given[place]
        given[place] = json.loads(value) if isinstance(value, str) else value
    return model.from_db(DEFAULT_DB_ALIAS, names, given)


@cache
def _shape_of(model: type[Model]) -> tuple[list[str], list[int]]:
    """Return the names of all columns, and the indexes of the columns that contain JSON."""
    fields = model._meta.concrete_fields
    places = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]
    return [field.attname for field in fields], places
