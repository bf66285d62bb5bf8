"""All tables and columns that could contain residue, and how the residue scan reads their rows.

Residue is data that a forget operation should have erased. Tables and columns come from Django's
model metadata. Most tables contain few rows of a person, so one prepared statement reads all
tables. Rows of any person that contain an erased id are found by indexes rather than by reading
whole tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import (
    BinaryField,
    CharField,
    Field,
    FileField,
    ForeignKey,
    Index,
    JSONField,
    Model,
    Q,
    QuerySet,
    TextField,
    UniqueConstraint,
)

from foundation.database import schema, statements
from foundation.database.schema import JSON, LIST, SHORTEST_ID, TEXT
from ops.models import User
from ops.residue import fingerprints

_TEXTUAL = (CharField, TextField, JSONField, ArrayField, BinaryField, FileField)
_FEW = 1_000  # a table with more rows of the person is read separately, in chunks
_USER, _SUBJECT = -1, UUID(int=1)  # placeholders for the person in a prepared statement
_SETTING = "SELECT set_config('enable_seqscan', %s, true)"
_NAMES = {_USER: "%(user)s", _SUBJECT: "%(subject)s"}
_STATEMENTS: dict[object, tuple[str, dict[str, Any]]] = {}
_OUR_ID = re.compile(schema.ID_PATTERN.replace("(", "(?:"))
_AT_ONCE = 5_000
_IDS = "%(ids)s"


@dataclass(frozen=True, eq=False)
class ScannedTable:
    """A table and the kinds of content that its columns can hold.

    `vouching` are columns with original texts, such as messages. Only a scan that an operator
    starts with given texts reads them. `columns` are all other columns with text. `words` are the
    columns with people's texts. The other attributes group the columns by how they can contain one
    of our ids. `named` and `listed` are indexed columns that contain a single id or a list of ids.
    `mentioned` are columns that may contain ids anywhere in a text, with their types. `rest` are
    columns too short for an id.
    """

    model: type[Model]
    columns: tuple[str, ...]
    vouching: tuple[str, ...]
    words: frozenset[str]
    named: tuple[str, ...]
    listed: tuple[str, ...]
    mentioned: Mapping[str, str]
    rest: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def keeps_ids(self) -> bool:
        """Return whether the table stores ids on purpose, as operations and the audit log do."""
        return bool(getattr(self.model, "keeps_ids", False)) or self.model is Session

    def of(self, *, user_id: int | None, subject: Any) -> QuerySet[Any]:
        """Return the person's rows and the rows without an owner.

        Return all rows if the table has no owners.
        """
        rows = self.model._base_manager.all()
        owner = owner_of(self.model)
        if owner is None:
            return rows
        if owner == "pk":
            return rows.filter(pk=user_id)
        path, value = owner, subject if owner.endswith("subject") else user_id
        return rows.filter(Q(**{path: value}) | Q(**{f"{path}__isnull": True}))


@cache
def scanned_tables() -> tuple[ScannedTable, ...]:
    models = apps.get_models(include_auto_created=True)
    return tuple(_scanned_table_of(model) for model in models if _is_table(model))


def tables_among(names: Iterable[str]) -> set[str]:
    """Return the subset of these names that are tables of our models."""
    return {scanned.table for scanned in scanned_tables()}.intersection(names)


def owner_of(model: type[Model]) -> str | None:
    """Return the lookup path from a row to its owner, or None if the table has no owners.

    The path is "user_id", "subject" or the `subject` of a parent row; for people, it is "pk".
    """
    if model is User:
        return "pk"
    fields = {column.name: column for column in model._meta.concrete_fields}
    if isinstance(fields.get("user"), ForeignKey):
        return "user_id"
    if "subject" in fields:
        return "subject"
    for name, column in fields.items():
        if isinstance(column, ForeignKey) and "subject" in _names(column.related_model):
            return f"{name}__subject"
    return None


def text_columns(model: type[Model]) -> list[Field[Any, Any]]:
    return [column for column in model._meta.concrete_fields if _holds_text(column)]


def _holds_text(column: Field[Any, Any]) -> bool:
    inside = column.base_field if isinstance(column, ArrayField) else column
    return isinstance(inside, _TEXTUAL)


def _scanned_table_of(model: type[Model]) -> ScannedTable:
    vouching = getattr(model, "vouches", ())
    columns = [column for column in text_columns(model) if not isinstance(column, BinaryField)]
    roomy = [column for column in columns if _has_room(column)]
    leading = _leading(model)
    indexes = [index for index in model._meta.indexes if isinstance(index, GinIndex)]
    in_gin = {name for index in indexes for name in index.fields}
    named = [
        column.attname
        for column in roomy
        if column.name in leading and _text_storage(column) == TEXT
    ]
    listed = [
        column.attname
        for column in roomy
        if column.name in in_gin and _text_storage(column) == LIST
    ]
    alone = {*named, *listed}
    names = [column.attname for column in columns]
    return ScannedTable(
        model=model,
        columns=tuple(name for name in names if name not in vouching),
        vouching=tuple(vouching),
        words=frozenset(
            column.attname
            for column in columns
            if column.name in getattr(model, "words", ()) and not isinstance(column, JSONField)
        ),
        named=tuple(named),
        listed=tuple(listed),
        mentioned={
            column.attname: _text_storage(column) for column in roomy if column.attname not in alone
        },
        rest=tuple(column.attname for column in columns if column not in roomy),
    )


def _text_storage(column: Field[Any, Any]) -> str:
    if isinstance(column, ArrayField):
        return LIST
    return JSON if isinstance(column, JSONField) else TEXT


def _has_room(column: Field[Any, Any]) -> bool:
    inside = column.base_field if isinstance(column, ArrayField) else column
    return (getattr(inside, "max_length", None) or SHORTEST_ID) >= SHORTEST_ID


def _leading(model: type[Model]) -> set[str]:
    options = model._meta
    first = {
        item.fields[0] for item in options.indexes if type(item) is Index and not item.condition
    }
    for rule in options.constraints:
        if isinstance(rule, UniqueConstraint) and rule.fields and rule.condition is None:
            first.add(rule.fields[0])
    own = {item.name for item in options.concrete_fields if item.unique or item.db_index}  # type: ignore[attr-defined]
    return first | own | {item[0] for item in options.unique_together}


def _is_table(model: type[Model]) -> bool:
    return model._meta.managed and not model._meta.proxy and model._meta.swapped is None


def _names(model: Any) -> set[str]:
    return {column.name for column in model._meta.concrete_fields} if model is not User else set()


def columns_in(scanned: ScannedTable) -> tuple[str, ...]:
    return (*scanned.named, *scanned.listed, *scanned.mentioned, *scanned.rest)


@contextmanager
def prefer_indexes() -> Iterator[None]:
    """Make the planner read rows by an index inside the block, rather than whole tables.

    Otherwise the planner may read a whole table if it expects many rows, and the residue scan would
    slow down as other people's data grows.
    """
    statements.rows(_SETTING, ["off"])
    yield
    statements.rows(_SETTING, ["on"])


@dataclass(frozen=True)
class ColumnQuery:
    """Columns of a table to be read; `rows` returns the rows to read for a person."""

    scanned: ScannedTable
    columns: tuple[str, ...]
    rows: Callable[[int | None, UUID | None], QuerySet[Any]]


def erased_rows(
    tables: tuple[ScannedTable, ...], gone: Mapping[str, Collection[int]]
) -> Iterator[tuple[Any, ...]]:
    """Yield the place and key of each row that should be erased or refers to an erased row.

    The place is the table, or the column that contains the reference ("table.column"). `gone`
    contains, for each table, the primary keys of its erased rows.
    """
    lookups = [
        lookup
        for table, pks in gone.items()
        if pks
        for lookup in _residue_conditions(tables).get(table, ())
    ]
    if not lookups:
        return
    text = " UNION ALL ".join(statement for statement, _, _ in lookups)
    values = {table: list(gone[table]) for _, _, table in lookups}
    yield from statements.rows(text, values)


def rows_of_person(
    readings: Sequence[ColumnQuery], key: object, *, user_id: int | None, subject: UUID | None
) -> Iterator[tuple[ColumnQuery, str, Mapping[str, Any]]]:
    """Yield the query, the primary key and the values (by column) of each row of one person.

    The query is an item of `readings`. The SQL statement is built only once for each `key`, so
    callers must always pass the same `key` with the same `readings`.
    """
    text, values = _STATEMENTS.get(key) or _STATEMENTS.setdefault(key, _one_statement(readings))
    owner = {"user": user_id, "subject": subject}
    found: list[list[tuple[str, Mapping[str, Any]]]] = [[] for _ in readings]
    for number, row in statements.rows(text, owner | values):
        record = orjson.loads(row)
        found[number].append((str(record.pop("pk")), record))
    for reading, rows in zip(readings, found, strict=True):
        few = len(rows) <= _FEW
        for pk, record in rows if few else _read_by_chunks(reading, user_id, subject):
            yield reading, pk, record


def _read_by_chunks(
    reading: ColumnQuery, user_id: int | None, subject: UUID | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = reading.rows(user_id, subject).order_by().values("pk", *reading.columns)
    for values in rows.iterator(chunk_size=_FEW):
        yield str(values.pop("pk")), values


def _one_statement(readings: Sequence[ColumnQuery]) -> tuple[str, dict[str, Any]]:
    parts: list[str] = []
    values: dict[str, Any] = {}
    for number, reading in enumerate(readings):
        rows = reading.rows(_USER, _SUBJECT).order_by().values("pk", *reading.columns)
        text, parameters = rows[: _FEW + 1].query.sql_with_params()
        names = [_parameter(value, values) for value in parameters]
        parts.append(f"SELECT {number}, to_json(r)::text FROM ({text % tuple(names)}) r")
    return " UNION ALL ".join(parts), values


def _parameter(value: Any, values: dict[str, Any]) -> str:
    if isinstance(value, int | UUID) and value in _NAMES:
        return _NAMES[value]
    name = f"v{len(values)}"
    values[name] = value
    return f"%({name})s"


@cache
def _residue_conditions(
    tables: tuple[ScannedTable, ...],
) -> Mapping[str, Sequence[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for scanned in tables:
        key: Any = scanned.model._meta.pk
        table = f'SELECT \'{{}}\', "{key.column}"::text FROM "{scanned.table}" WHERE '
        own = f'{table.format(scanned.table)}"{key.column}" = ANY(%({scanned.table})s::bigint[])'
        found.setdefault(scanned.table, []).append((own, scanned.table, scanned.table))
        kind, number, targets = getattr(scanned.model, "refers_to", (None, None, {}))
        for value, target in targets.items():
            at = f"{scanned.table}.{number}"
            where = f'"{kind}" = \'{value}\' AND "{number}" = ANY(%({target})s::bigint[])'
            found.setdefault(target, []).append((table.format(at) + where, at, target))
    return found


@dataclass(frozen=True)
class IdMention:
    table: str
    column: str
    row: str


@dataclass(frozen=True)
class _IdLookup:
    scanned: ScannedTable
    column: str
    condition: str


def contains_id(text: str, gone: Collection[str]) -> bool:
    """Return whether the text is, or contains, one of these ids."""
    return text in gone or any(found_id in gone for found_id in _OUR_ID.findall(text))


def rows_mentioning(tables: tuple[ScannedTable, ...], gone: Collection[str]) -> Iterator[IdMention]:
    """Yield each row in these tables that contains one of these ids, once for each column.

    Columns that hold one id or a list of ids have their own indexes. Ids inside texts are looked up
    by the index of mentions (`foundation.database.schema`). One statement does all lookups.
    """
    text, lookups = _all_lookups(tables)
    wanted = sorted(gone)
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        for number, row in statements.rows(text, {"ids": some}):
            lookup = lookups[number]
            if lookup.column:
                yield IdMention(lookup.scanned.table, lookup.column, row)
            else:
                yield from _mentions(lookup.scanned, row, some)


@cache
def _all_lookups(tables: tuple[ScannedTable, ...]) -> tuple[str, Sequence[_IdLookup]]:
    lookups = [
        lookup for scanned in tables if not scanned.keeps_ids for lookup in _lookups(scanned)
    ]
    each = (
        f'SELECT {number}, {_key_of(lookup.scanned)}::text FROM "{lookup.scanned.table}"'
        f" WHERE {lookup.condition}"
        for number, lookup in enumerate(lookups)
    )
    return " UNION ALL ".join(each), lookups


def _lookups(scanned: ScannedTable) -> Iterator[_IdLookup]:
    for name in scanned.named:
        yield _IdLookup(scanned, name, f'"{name}" = ANY({_IDS}::text[])')
    for name in scanned.listed:
        kind = scanned.model._meta.get_field(name).db_type(connection)
        yield _IdLookup(scanned, name, f'"{name}" && {_IDS}::{kind}')
    if scanned.mentioned:
        yield _IdLookup(
            scanned,
            "",
            schema.mention_condition(scanned.mentioned).replace("%s", f"{_IDS}::text[]"),
        )


def _mentions(scanned: ScannedTable, row: str, gone: Collection[str]) -> Iterator[IdMention]:
    """Yield the columns of a row that contain one of these ids.

    Yield nothing if the row has been deleted meanwhile.
    """
    own = scanned.model._base_manager.filter(pk=row)
    for values in own.values_list(*scanned.mentioned):
        for name, value in zip(scanned.mentioned, values, strict=True):
            if any(contains_id(text, gone) for text in fingerprints.strings_in(value)):
                yield IdMention(scanned.table, name, row)


def _key_of(scanned: ScannedTable) -> str:
    key: Any = scanned.model._meta.pk
    return f'"{key.column}"'
