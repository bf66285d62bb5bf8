"""The format of rows in exports and imports.

A row names itself and others by public ids (`conv_…`), or by a number if it has no public id. Such
numbers are valid inside one file only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Field, ForeignKey, Model, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

CHUNK = 1_000
Row = TypeVar("Row", bound=Model)
IDS = ("public_id", "request_id")
OUR_ID = re.compile(r"\b(?:conv|msg|turn|sum|epi|mem|req|note)_[0-9a-hjkmnp-tv-z]{26}\b")
DANGLING = gettext_noop("it refers to something that isn't in the file")
BAD_VALUE = gettext_noop("a value is missing or can't be what it is said to be")
BAD_CHARACTERS = gettext_noop("it holds characters that can't be stored")


class Unfit(ValueError):
    """A row that can't be imported; `why` is one of a fixed set of sentences."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def rows_out(
    rows: QuerySet[Any],
    *,
    leave_out: Sequence[str] = (),
    also: Mapping[str, str] = MappingProxyType({}),
    chunk: int = CHUNK,
) -> Iterator[Mapping[str, Any]]:
    """Yield plain rows by key, fetched in chunks; `also` adds columns by paths.

    Each chunk is its own query, so no transaction needs to stay open between two of them.
    """
    columns = {**_columns_out(rows.model, leave_out), **also}
    names, paths = list(columns), list(columns.values())
    after = 0
    while True:
        found = list(rows.filter(pk__gt=after).order_by("pk").values_list("pk", *paths)[:chunk])
        for _, *values in found:
            yield dict(zip(names, values, strict=True))
        if len(found) < chunk:
            return
        after = found[-1][0]


def objects_out(rows: QuerySet[Row], *, chunk: int = 200) -> Iterator[Row]:
    """Yield whole objects in the same way."""
    after = 0
    while True:
        found = list(rows.filter(pk__gt=after).order_by("pk")[:chunk])
        yield from found
        if len(found) < chunk:
            return
        after = found[-1].pk


def _columns_out(model: type[Model], leave_out: Sequence[str]) -> dict[str, str]:
    """Return the name of each value in a plain row, with the path of its column."""
    columns = {"id": reference_of(model)}
    for field in model._meta.concrete_fields:
        if field.primary_key or field.name in ("user", *IDS, *leave_out):
            continue
        if isinstance(field, ForeignKey):
            columns[field.name] = f"{field.name}__{reference_of(field.related_model)}"
        else:
            columns[field.name] = field.name
    return columns


def reference_of(model: Any) -> str:
    """Return the column that names rows of a table in a file."""
    names = {column.name for column in model._meta.concrete_fields}
    return next((name for name in IDS if name in names), "pk")


def value_in(field: Field[Any, Any], row: Mapping[str, Any]) -> Any:
    """Return the checked value of a plain column, or its default. Raises `Unfit`."""
    if field.name not in row:
        return _absent(field)
    value = row[field.name]
    if value is None:
        return None if field.null else _absent(field)
    if not _is_storable(value):
        raise Unfit(BAD_CHARACTERS)
    if value in ("", [], {}):
        return _empty(field, value)
    try:
        cleaned = field.clean(value, None)
    except (ValidationError, TypeError, ValueError, OverflowError) as error:
        raise Unfit(BAD_VALUE) from error
    if isinstance(cleaned, datetime):
        return _moment(cleaned)
    return cleaned


def _empty(field: Field[Any, Any], value: Any) -> Any:
    """Return the column's empty value. Form fields reject empty values, but columns store them."""
    takes = {"CharField": "", "TextField": "", "ArrayField": []}
    kind = field.get_internal_type()
    if kind == "JSONField" or (kind in takes and value == takes[kind]):
        return value
    raise Unfit(BAD_VALUE)


def _absent(field: Field[Any, Any]) -> Any:
    if field.has_default():
        return field.get_default()
    if field.null:
        return None
    if field.get_internal_type() == "DateTimeField":
        return timezone.now()
    if field.blank and field.empty_strings_allowed:
        return ""
    raise Unfit(BAD_VALUE)


def _moment(value: datetime) -> datetime:
    aware = value if timezone.is_aware(value) else value.replace(tzinfo=UTC)
    # Times at the very ends of the calendar can't be read back from the database.
    if not 2 <= aware.year <= 9998:
        raise Unfit(BAD_VALUE)
    return aware


def _is_storable(value: Any) -> bool:
    """Tell whether PostgreSQL can store the text: it rejects NUL and halves of surrogate pairs."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\0" in item or any("\ud800" <= char <= "\udfff" for char in item):
                return False
        elif isinstance(item, Mapping):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
    return True
