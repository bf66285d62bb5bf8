"""Rows of anybody that name an erased id, found by indexes and not by reading everything."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

from memcenter.lib import mentions
from ops.services import leaves
from ops.services.places import Place

_OUR_ID = re.compile(mentions.PATTERN.replace("(", "(?:"))
_AT_ONCE = 5_000


@dataclass(frozen=True)
class Naming:
    column: str
    row: str


def names_one(text: str, gone: Collection[str]) -> bool:
    """Whether one of these ids stands in the text."""
    return text in gone or any(one in gone for one in _OUR_ID.findall(text))


def rows_naming(place: Place, gone: Collection[str]) -> Iterator[Naming]:
    """Every row of a table, whoever's it is, that names one of these ids; once for each column.

    An id in a column of its own or in a list is looked up there, one inside a text in the index
    of mentions (`memcenter.lib.mentions`).
    """
    if not gone or place.keeps_ids:
        return
    for statement, column in _looking_up(place):
        for some in _batches(sorted(gone)):
            for (pk,) in _rows(statement, [some]):
                yield Naming(column, str(pk))
    if place.mentioned:
        yield from _mentions(place, gone)


def statements(place: Place) -> Iterator[str]:
    """What the database is asked about a table, with a list of ids for each `%s`."""
    yield from (statement for statement, _ in _looking_up(place))
    if place.mentioned:
        yield _mentioning(place)


def _looking_up(place: Place) -> Iterator[tuple[str, str]]:
    for name in place.named:
        yield f'SELECT {_key(place)} FROM {_quoted(place)} WHERE "{name}" = ANY(%s)', name
    for name in place.listed:
        yield f'SELECT {_key(place)} FROM {_quoted(place)} WHERE "{name}" && %s', name


def _mentioning(place: Place) -> str:
    columns = ", ".join(f'"{name}"' for name in place.mentioned)
    condition = mentions.condition(place.mentioned)
    return f"SELECT {_key(place)}, {columns} FROM {_quoted(place)} WHERE {condition}"


def _mentions(place: Place, gone: Collection[str]) -> Iterator[Naming]:
    for some in _batches(sorted(gone)):
        for pk, *values in _rows(_mentioning(place), [some]):
            for name, value in zip(place.mentioned, values, strict=True):
                if any(names_one(text, some) for text in leaves.of(value)):
                    yield Naming(name, str(pk))


def _rows(statement: str, values: list[Any]) -> Iterator[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        while some := cursor.fetchmany(_AT_ONCE):
            yield from some


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def _quoted(place: Place) -> str:
    return f'"{place.table}"'


def _key(place: Place) -> str:
    key = place.model._meta.pk
    assert key is not None
    return f'"{key.column}"'
