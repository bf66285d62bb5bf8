"""A page of a user's memories, by cursor; the cost doesn't grow with the number of memories."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime

from memories.models import Memory, Source
from memories.selectors import IN_USE, MemoryFilter, memories_of
from ops.models import User

Row = TypeVar("Row", bound=Model)
SIZE = 20
DEFAULT_SORT = "changed"
# Pinned memories come first. The column, and whether the order is descending; the primary key
# breaks ties.
SORTS = {
    "changed": ("updated_at", True),
    "new": ("created_at", True),
    "old": ("created_at", False),
    "used": ("access_count", True),
    "important": ("importance", True),
}


@dataclass(frozen=True)
class Listed:
    """A listed memory with the newest of its sources; `why` explains a search hit."""

    memory: Memory
    source: Source | None
    why: str = ""


@dataclass(frozen=True)
class Page:
    """A page; `cursor` leads to the next page and is empty at the end."""

    rows: Sequence[Listed]
    cursor: str = ""


@dataclass(frozen=True)
class _Place:
    """Where a page ends: in the pinned part of the list or below it."""

    key: Any
    pk: int
    pinned: bool = False


def page_of(
    user: User, filters: MemoryFilter, *, sort: str = DEFAULT_SORT, after: str = ""
) -> Page:
    """Return the next `SIZE` memories after a cursor; an invalid cursor starts over."""
    column, descending = SORTS.get(sort, SORTS[DEFAULT_SORT])
    place = _decode(after, column)
    places: list[_Place] = []
    if place is None or place.pinned:
        pinned = memories_of(user, replace(filters, archived=False)).filter(pinned=True)
        places = _places(pinned, column, descending=descending, place=place)
        place = None
    if len(places) <= SIZE and not filters.pinned:
        places += _unpinned(user, filters, column, descending=descending, place=place)
    cursor = _encode(places[SIZE - 1]) if len(places) > SIZE else ""
    return Page(listed(user, [one.pk for one in places[:SIZE]]), cursor)


def _unpinned(
    user: User, filters: MemoryFilter, column: str, *, descending: bool, place: _Place | None
) -> list[_Place]:
    """Return the next places below the pinned part.

    One query per status: the index then returns each in order, and nothing has to be sorted.
    """
    places: list[_Place] = []
    for status in [filters.status] if filters.status else IN_USE:
        rows = memories_of(user, replace(filters, status=status)).filter(pinned=False)
        places += _places(rows, column, descending=descending, place=place)
    return sorted(places, key=lambda one: (one.key, one.pk), reverse=descending)


def _places(
    rows: QuerySet[Memory], column: str, *, descending: bool, place: _Place | None
) -> list[_Place]:
    rows = rows.prefetch_related(None)
    if place is not None:
        rows = rows.filter(_beyond(place, column, descending=descending))
    order = (f"-{column}", "-pk") if descending else (column, "pk")
    keys = rows.order_by(*order).values_list(column, "pk", "pinned")[: SIZE + 1]
    return [_Place(*one) for one in keys]


def page_by(
    rows: QuerySet[Row, Any], column: str, *, descending: bool, after: str
) -> tuple[list[Row], str]:
    """Return the next `SIZE` rows in the order of a column, and the cursor of the next page."""
    place = _decode(after, column)
    if place is not None:
        rows = rows.filter(_beyond(place, column, descending=descending))
    order = (f"-{column}", "-pk") if descending else (column, "pk")
    found = list(rows.order_by(*order)[: SIZE + 1])
    if len(found) <= SIZE:
        return found, ""
    last = found[SIZE - 1]
    return found[:SIZE], _encode(_Place(getattr(last, column), last.pk))


def listed(user: User, pks: Sequence[int]) -> list[Listed]:
    """Return these memories in this order, using two queries."""
    rows = Memory.visible.filter(user=user).select_related("project").in_bulk(list(pks))
    sources = {one.memory_id: one for one in _newest_sources(user, pks)}
    return [Listed(rows[pk], sources.get(pk)) for pk in pks if pk in rows]


def _newest_sources(user: User, pks: Sequence[int]) -> QuerySet[Source]:
    return (
        Source.objects.filter(user=user, memory__in=pks)
        .select_related("turn__conversation", "turn__user_message", "message")
        .order_by("memory_id", "-pk")
        .distinct("memory_id")
    )


def count_of(user: User, filters: MemoryFilter, *, most: int) -> int:
    """Return the number of memories, counted up to one above `most`."""
    return memories_of(user, filters).prefetch_related(None).order_by()[: most + 1].count()


def _beyond(place: _Place, column: str, *, descending: bool) -> Q:
    """Select rows past this place. The first condition lets the index start there."""
    near, far = ("lte", "lt") if descending else ("gte", "gt")
    return Q(**{f"{column}__{near}": place.key}) & (
        Q(**{f"{column}__{far}": place.key}) | Q(**{column: place.key, f"pk__{far}": place.pk})
    )


def _encode(place: _Place) -> str:
    key = place.key.isoformat() if isinstance(place.key, datetime) else place.key
    words = json.dumps([key, place.pk, place.pinned])
    return base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")


def _decode(cursor: str, column: str) -> _Place | None:
    try:
        key, pk, *pinned = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        key = parse_datetime(key) if column.endswith("_at") else float(key)
        return _Place(key, int(pk), pinned == [True]) if key is not None else None
    except (ValueError, TypeError, OverflowError, binascii.Error):
        return None
