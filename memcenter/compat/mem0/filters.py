"""Parse the values and filters that mem0's client sends, and turn a filter into a Django query.

The `read_` functions raise `Invalid`, naming the field, if a value is invalid.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import and_, or_
from typing import Any

from django.db.models import Q

from foundation.errors import Invalid

MAX_NAME = 200
_LONGEST = 20_000
_DATE_CHARS = len("2026-01-31")


def read_name(value: Any, *, field: str) -> str:
    """Validate and return the name of a user, agent, app or run."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not 1 <= len(text) <= MAX_NAME or not text.strip() or not text.isprintable():
        raise Invalid.field(field, f"Give a name of 1 to {MAX_NAME} printable characters.")
    return text


def read_object(text: str, *, field: str) -> dict[str, Any]:
    """Parse an object given in a query string, as JSON or as Python's repr of a dict.

    The repr must be supported, since mem0's client sends `str({...})`.
    """
    if len(text) > _LONGEST:
        raise Invalid.field(field, "This is too long.")
    try:
        try:
            value = json.loads(text)
        except ValueError:
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise Invalid.field(field, "This can't be read as an object.") from error
    if not isinstance(value, dict):
        raise Invalid.field(field, "Must be an object.")
    return value


def read_time(value: Any, *, field: str) -> datetime:
    """Parse Unix seconds or an ISO 8601 date; a date without a time zone is interpreted as UTC."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, tz=UTC)
        found = datetime.fromisoformat(value)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise Invalid.field(field, "Give Unix seconds or a date such as 2026-01-31.") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_day(value: Any) -> tuple[datetime, datetime] | None:
    """Return the start and end (exclusive, in UTC) of an ISO date, or None for any other value."""
    if not isinstance(value, str) or len(value) != _DATE_CHARS:
        return None
    try:
        begin = datetime.combine(date.fromisoformat(value), time.min, tzinfo=UTC)
        return begin, begin + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def read_expiry(value: Any) -> datetime | None:
    """Parse an expiry date; a date without a time means the end of that day in UTC.

    `render_expiry` does the reverse conversion.
    """
    if value is None:
        return None
    whole = read_day(value)
    if whole is not None:
        return whole[1] - timedelta(microseconds=1)
    return read_time(value, field="expiration_date")


def render_expiry(value: datetime | None) -> str | None:
    if value is None:
        return None
    value = value.astimezone(UTC)
    return value.date().isoformat() if value.time() == time.max else value.isoformat()


def read_number(value: Any, *, field: str, default: int, most: int) -> int:
    if value is None:
        return default
    text = str(value)
    good = not isinstance(value, bool) and text.isascii() and text.isdigit() and len(text) < 10
    if not good or not 1 <= int(text) <= most:
        raise Invalid.field(field, f"Must be a whole number from 1 to {most:,}.")
    return int(text)


def read_metadata(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid.field("metadata", "Must be an object.")
    return value


ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
OPERATORS = ("eq", "ne", "in", "gt", "gte", "lt", "lte", "contains", "icontains")
_ORDER = ("gt", "gte", "lt", "lte")
_TIMES = {
    "created_at": "created_at",
    "updated_at": "updated_at",
    "timestamp": "occurred_at",
    "expiration_date": "valid_until",
}
_TEXTS = {
    "agent_id": "agent_id",
    "app_id": "app_id",
    "run_id": "run_id",
    "text": "content",
    "keywords": "content",
}
KEYS = {*ENTITIES, *_TIMES, *_TEXTS, "categories", "metadata", "memory_ids"}
_JOINS = ("AND", "OR", "NOT")
_DEEPEST, _MOST = 10, 200
ANY = "*"
_ALL, _NONE = Q(), Q(pk__in=())


@dataclass(frozen=True)
class Condition:
    key: str
    operator: str
    value: Any


@dataclass(frozen=True)
class Combination:
    """Conditions combined with AND, OR or NOT, where NOT requires that no condition is true.

    A combination without any conditions matches everything.
    """

    how: str
    parts: tuple[Node, ...]


Node = Condition | Combination


def parse(given: Any, *, depth: int = 0) -> Combination:
    """Parse a filter into a tree of conditions. Raise `Invalid` if the filter is malformed."""
    if given is None:
        return Combination("AND", ())
    if not isinstance(given, dict) or depth > _DEEPEST:
        raise Invalid.field("filters", f"Must be an object, at most {_DEEPEST} deep.")
    parts: list[Node] = []
    for key, value in given.items():
        if key in _JOINS:
            listed = value if isinstance(value, list) else [value]
            if len(listed) > _MOST:
                raise Invalid.field("filters", f"At most {_MOST} in one {key}.")
            parts.append(Combination(key, tuple(parse(part, depth=depth + 1) for part in listed)))
        elif key in KEYS:
            parts += _conditions(key, value)
        else:
            raise Invalid.field("filters", f"{str(key)[:50]!r} is no key to filter by.")
    return Combination("AND", tuple(parts))


def _conditions(key: str, value: Any) -> Iterator[Condition]:
    if isinstance(value, dict) and (key != "metadata" or (value and set(value) <= set(OPERATORS))):
        if not value:
            raise Invalid.field(key, "An empty object says nothing.")
        for operator, inner in value.items():
            if operator not in OPERATORS:
                known = ", ".join(OPERATORS)
                raise Invalid.field(key, f"{str(operator)[:50]!r} is none of {known}.")
            yield _condition(key, operator, inner)
    else:
        yield _condition(key, "in" if isinstance(value, list) else "eq", value)


def _condition(key: str, operator: str, value: Any) -> Condition:
    made = Condition(key, operator, value)
    _query_of(made, "")  # raises `Invalid` for an invalid operator or value
    return made


def conditions(node: Node) -> Iterator[Condition]:
    """Yield all conditions in the tree except those under a NOT."""
    if isinstance(node, Condition):
        yield node
    elif node.how != "NOT":
        for part in node.parts:
            yield from conditions(part)


def values_required(node: Node, key: str) -> list[str]:
    """Return the distinct values that the filter gives for `key`, except under a NOT.

    The value `ANY` means that the filter accepts every value. The list is empty if no condition
    requires a value.
    """
    found: list[str] = []
    for condition in conditions(node):
        if condition.key == key and condition.operator in ("eq", "in"):
            listed = condition.value if isinstance(condition.value, list) else [condition.value]
            found += [str(value) for value in listed if value is not None]
    return list(dict.fromkeys(found))


def has_entity(node: Node) -> bool:
    """Return whether the filter names a user, agent, app or run outside a NOT.

    Callers reject a filter without such a name, since it could match all memories of a user.
    """
    return any(values_required(node, key) for key in ENTITIES)


def plain_entities(node: Node) -> Mapping[str, str] | None:
    """Return the names of the user, agent, app and run in a filter, by key (`user_id` and so on).

    Return None if the filter contains anything else: another condition or operator, an OR, a NOT
    or the name `ANY`.
    """
    if isinstance(node, Condition):
        plain = node.key in ENTITIES and node.operator == "eq" and node.value != ANY
        return {node.key: str(node.value)} if plain else None
    found: dict[str, str] = {}
    for part in node.parts:
        inner = plain_entities(part) if node.how == "AND" else None
        if inner is None:
            return None
        found |= inner
    return found


def query(node: Node, *, user_name: str) -> Q:
    """Convert the filter to a Django query for the memories of one user.

    `user_name` is the name by which clients know this user.
    """
    if isinstance(node, Condition):
        return _query_of(node, user_name)
    parts = [query(part, user_name=user_name) for part in node.parts]
    if not parts:
        return _ALL
    if node.how == "AND":
        return reduce(and_, parts)
    either = _ALL if any(part == _ALL for part in parts) else reduce(or_, parts)
    if node.how == "OR":
        return either
    return _NONE if either == _ALL else ~either


def _query_of(condition: Condition, user_name: str) -> Q:
    if condition.operator == "in" and not isinstance(condition.value, list):
        raise Invalid.field(condition.key, "“in” takes a list.")
    if condition.operator == "ne":
        same = _query_of(Condition(condition.key, "eq", condition.value), user_name)
        return _NONE if same == _ALL else ~same
    if condition.key in _TIMES:
        return _of_time(condition, _TIMES[condition.key])
    made: Callable[[Condition, str], Q] = {
        "user_id": _of_user,
        "categories": _of_categories,
        "metadata": _of_metadata,
        "memory_ids": _of_ids,
    }.get(condition.key, _of_text)
    return made(condition, user_name)


def _of_user(condition: Condition, user_name: str) -> Q:
    if condition.operator not in ("eq", "in"):
        raise Invalid.field("user_id", "Ask for users by eq, ne, in or “*”.")
    listed = condition.value if isinstance(condition.value, list) else [condition.value]
    names = [read_name(value, field="user_id") for value in listed]
    return _ALL if ANY in names or user_name in names else _NONE


def _of_text(condition: Condition, _: str) -> Q:
    column = _TEXTS[condition.key]
    if condition.operator == "eq":
        if condition.value == ANY:
            return ~Q(**{column: ""})
        if condition.key == "keywords":
            return Q(content__icontains=_text(condition.key, condition.value))
        return Q(
            **{column: "" if condition.value is None else _text(condition.key, condition.value)}
        )
    if condition.operator == "in":
        texts = [_text(condition.key, value) for value in condition.value]
        if condition.key == "keywords":
            return reduce(or_, (Q(content__icontains=text) for text in texts), _NONE)
        return Q(**{f"{column}__in": texts})
    return Q(**{f"{column}__{condition.operator}": _text(condition.key, condition.value)})


def _of_time(condition: Condition, column: str) -> Q:
    if condition.operator in ("contains", "icontains"):
        raise Invalid.field(condition.key, "A time is compared by eq, ne, in, gt, gte, lt or lte.")
    if condition.operator == "in":
        return reduce(
            or_,
            (_of_time(Condition(condition.key, "eq", value), column) for value in condition.value),
            _NONE,
        )
    if condition.operator == "eq" and (condition.value == ANY or condition.value is None):
        return Q(**{f"{column}__isnull": condition.value is None})
    if (day := read_day(condition.value)) is None:
        begin = end = read_time(condition.value, field=condition.key)
    else:
        begin, end = day
    limits: dict[str, dict[str, datetime]] = {
        "eq": {"gte": begin, "lt": end} if end > begin else {"exact": begin},
        "gt": {"gte": end} if end > begin else {"gt": begin},
        "gte": {"gte": begin},
        "lt": {"lt": begin},
        "lte": {"lt": end} if end > begin else {"lte": begin},
    }
    return Q(**{f"{column}__{how}": value for how, value in limits[condition.operator].items()})


def _of_categories(condition: Condition, _: str) -> Q:
    if condition.operator in _ORDER:
        raise Invalid.field("categories", "Categories have no order.")
    if condition.value == ANY:
        return ~Q(tags=[])
    listed = condition.value if isinstance(condition.value, list) else [condition.value]
    texts = [_text("categories", value) for value in listed]
    if condition.operator == "in":
        return Q(tags__overlap=texts)
    if condition.operator == "icontains":
        return reduce(and_, (Q(tags__icontains=text) for text in texts), _ALL)
    return Q(tags__contains=texts)


def _of_metadata(condition: Condition, _: str) -> Q:
    if condition.value == ANY:
        return ~Q(metadata={})
    if condition.operator not in ("eq", "in", "contains"):
        raise Invalid.field("metadata", "Metadata is compared by eq, ne, in or contains.")
    listed = condition.value if condition.operator == "in" else [condition.value]
    if not all(isinstance(value, dict) for value in listed):
        raise Invalid.field("metadata", "Must be an object.")
    return reduce(or_, (Q(metadata__contains=value) for value in listed), _NONE)


def _of_ids(condition: Condition, _: str) -> Q:
    if condition.operator not in ("eq", "in"):
        raise Invalid.field("memory_ids", "Ask for ids by eq, ne or in.")
    listed = condition.value if isinstance(condition.value, list) else [condition.value]
    return Q(public_id__in=[_text("memory_ids", value) for value in listed])


def _text(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid.field(key, "Must be text.")
    text = str(value)
    if "\x00" in text:
        raise Invalid.field(key, "The text must not contain NUL characters.")
    return text
