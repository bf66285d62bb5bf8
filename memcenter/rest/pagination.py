"""Cursor pagination of querysets in a stable order."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import orjson
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from foundation.errors import Invalid

Row = TypeVar("Row", bound=Model)
DEFAULT_LIMIT, MAX_LIMIT = 20, 100
_BIGGEST_ID = 2**63 - 1


@dataclass(frozen=True)
class Order:
    """The order of a list: by `field`, then by id.

    `field` must not contain null. For a nullable column, use an annotation that replaces null.
    """

    field: str
    descending: bool = True


NEWEST = Order("created_at")


@dataclass(frozen=True)
class _Cursor:
    """The row after which a page begins or, with `backwards`, before which the page ends."""

    backwards: bool
    order: str
    value: Any
    id: int


@dataclass(frozen=True)
class CursorPage:
    """The page that a request asks for with `?cursor=&limit=`."""

    request: Request
    limit: int
    cursor: _Cursor | None

    @classmethod
    def read(cls, request: Request) -> CursorPage:
        """Parse the query parameters. Raise `Invalid` if `cursor` or `limit` is malformed."""
        limit = _limit(request.query_params.get("limit"))
        return cls(request, limit, read_cursor(request.query_params.get("cursor")))

    def of(
        self, rows: QuerySet[Row], *, order: Order, show: Callable[[Row], Any]
    ) -> dict[str, Any]:
        """Return this page of the rows as a list response.

        Raise `Invalid` if the cursor belongs to a list in another order.
        """
        found, more = self._fetch(rows, order)
        backwards = self.cursor is not None and self.cursor.backwards
        has_next = bool(found) if backwards else more
        has_previous = more if backwards else self.cursor is not None and bool(found)
        return {
            "results": [show(row) for row in found],
            "next": self._link(order, found[-1], backwards=False) if has_next else None,
            "previous": self._link(order, found[0], backwards=True) if has_previous else None,
        }

    def _fetch(self, rows: QuerySet[Row], order: Order) -> tuple[list[Row], bool]:
        cursor = self.cursor
        descending = order.descending
        if cursor is not None:
            descending ^= cursor.backwards
            rows = rows.filter(_beyond(rows.model, order, cursor, descending=descending))
        sign = "-" if descending else ""
        found = list(rows.order_by(f"{sign}{order.field}", f"{sign}pk")[: self.limit + 1])
        more = len(found) > self.limit
        found = found[: self.limit]
        if cursor is not None and cursor.backwards:
            found.reverse()
        return found, more

    def _link(self, order: Order, row: Row, *, backwards: bool) -> str:
        address = self.request.build_absolute_uri()
        return replace_query_param(address, "cursor", cursor_at(order, row, backwards=backwards))


def cursor_at(order: Order, row: Model, *, backwards: bool) -> str:
    """Return the cursor of the page that starts right after this row.

    With `backwards`, the page ends right before the row.
    """
    value = getattr(row, order.field)
    value = value.isoformat() if isinstance(value, datetime) else value
    parts = [backwards, _name(order), value, row.pk]
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def single_page(results: list[Any]) -> dict[str, Any]:
    return {"results": results, "next": None, "previous": None}


def _beyond(model: type[Model], order: Order, cursor: _Cursor, *, descending: bool) -> Q:
    if cursor.order != _name(order):
        raise _bad_cursor()
    value = _python_value(model, order, cursor.value)
    side = "lt" if descending else "gt"
    if order.field in ("pk", "id"):
        return Q(**{f"pk__{side}": cursor.id})
    same_or_beyond = Q(**{f"{order.field}__{side}e": value})
    beyond = Q(**{f"{order.field}__{side}": value}) | Q(
        **{order.field: value, f"pk__{side}": cursor.id}
    )
    return same_or_beyond & beyond  # the first condition can use an index


def _python_value(model: type[Model], order: Order, value: Any) -> Any:
    names = {column.name: column for column in model._meta.concrete_fields}
    column = names.get(order.field)
    try:
        if column is not None:
            value = column.to_python(value)
        elif isinstance(value, str):  # an annotation that replaces a nullable time
            value = datetime.fromisoformat(value)
    except (ValidationError, ValueError, TypeError, OverflowError) as error:
        raise _bad_cursor() from error
    if value is None or (isinstance(value, datetime) and value.tzinfo is None):
        raise _bad_cursor()
    return value


def _limit(text: str | None) -> int:
    if not text:
        return DEFAULT_LIMIT
    is_number = text.isascii() and text.isdigit() and len(text) <= 4
    if not is_number or not 1 <= int(text) <= MAX_LIMIT:
        raise Invalid.field("limit", f"Must be a whole number from 1 to {MAX_LIMIT}.")
    return int(text)


def read_cursor(text: str | None) -> _Cursor | None:
    """Parse a cursor. Raise `Invalid`, naming `cursor`, if it is malformed."""
    if not text:
        return None
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        parts = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        backwards, order, value, number = parts
    except (UnicodeEncodeError, binascii.Error, ValueError, TypeError) as error:
        raise _bad_cursor() from error
    known = isinstance(backwards, bool) and isinstance(order, str) and type(number) is int
    if not known or not 0 < number <= _BIGGEST_ID or isinstance(value, list | dict):
        raise _bad_cursor()
    if isinstance(value, str) and "\x00" in value:
        raise _bad_cursor()
    return _Cursor(backwards, order, value, number)


def _name(order: Order) -> str:
    return ("-" if order.descending else "") + order.field


def _bad_cursor() -> Invalid:
    return Invalid.field("cursor", "Take the cursor from a page's next or previous.")
