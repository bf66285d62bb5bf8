"""Find rows of any person that contain an erased id, by indexes instead of full scans."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection

from memcenter.lib.database import mentions, statements
from ops.residue import string_values
from ops.residue.places import Place

_OUR_ID = re.compile(mentions.PATTERN.replace("(", "(?:"))
_AT_ONCE = 5_000
_IDS = "%(ids)s"


@dataclass(frozen=True)
class Naming:
    table: str
    column: str
    row: str


@dataclass(frozen=True)
class _Asked:
    """A table or column to search; an empty `column` means any column that may mention an id."""

    place: Place
    column: str
    condition: str


def names_one(text: str, gone: Collection[str]) -> bool:
    """Tell whether the text contains one of these ids."""
    return text in gone or any(one in gone for one in _OUR_ID.findall(text))


def rows_naming(tables: tuple[Place, ...], gone: Collection[str]) -> Iterator[Naming]:
    """Yield every row of these tables that contains one of these ids, once for each column.

    Ids in id columns and lists are looked up directly, ids inside texts by the index of mentions
    (`memcenter.lib.database.mentions`), all in one statement.
    """
    text, asked = _of_all(tables)
    for some in _batches(sorted(gone)):
        for number, row in statements.rows(text, {"ids": some}):
            one = asked[number]
            if one.column:
                yield Naming(one.place.table, one.column, row)
            else:
                yield from _mentions(one.place, row, some)


@cache
def _of_all(tables: tuple[Place, ...]) -> tuple[str, Sequence[_Asked]]:
    asked = [one for place in tables if not place.keeps_ids for one in _looking_up(place)]
    each = (
        f"SELECT {number}, {_key(one.place)}::text FROM {_quoted(one.place)} WHERE {one.condition}"
        for number, one in enumerate(asked)
    )
    return " UNION ALL ".join(each), asked


def _looking_up(place: Place) -> Iterator[_Asked]:
    for name in place.named:
        yield _Asked(place, name, f'"{name}" = ANY({_IDS}::text[])')
    for name in place.listed:
        kind = place.model._meta.get_field(name).db_type(connection)
        yield _Asked(place, name, f'"{name}" && {_IDS}::{kind}')
    if place.mentioned:
        yield _Asked(
            place, "", mentions.condition(place.mentioned).replace("%s", f"{_IDS}::text[]")
        )


def _mentions(place: Place, row: str, gone: Collection[str]) -> Iterator[Naming]:
    """Return the columns of the row that contain the id; none if the row was deleted meanwhile."""
    own = place.model._base_manager.filter(pk=row)
    for values in own.values_list(*place.mentioned):
        for name, value in zip(place.mentioned, values, strict=True):
            if any(names_one(text, gone) for text in string_values.strings_in(value)):
                yield Naming(place.table, name, row)


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def _quoted(place: Place) -> str:
    return f'"{place.table}"'


def _key(place: Place) -> str:
    key: Any = place.model._meta.pk
    return f'"{key.column}"'
