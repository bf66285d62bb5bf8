"""Parse single values as mem0's client sends them. All raise `Invalid` naming the field."""

from __future__ import annotations

import ast
import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from memcenter.lib.errors import Invalid

MAX_NAME = 200
_LONGEST = 20_000
_DATE_CHARS = len("2026-01-31")


def name(value: Any, *, field: str) -> str:
    """Return the name of a user, agent, app or run."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not 1 <= len(text) <= MAX_NAME or not text.strip() or not text.isprintable():
        raise Invalid.field(field, f"Give a name of 1 to {MAX_NAME} printable characters.")
    return text


def literal(text: str, *, field: str) -> dict[str, Any]:
    """Return an object from a query string: JSON, or Python's repr, since the client sends
    `str({...})`.
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


def moment(value: Any, *, field: str) -> datetime:
    """Return the time of Unix seconds or ISO 8601; UTC unless it has a time zone."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, tz=UTC)
        found = datetime.fromisoformat(value)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise Invalid.field(field, "Give Unix seconds or a date such as 2026-01-31.") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def day(value: Any) -> tuple[datetime, datetime] | None:
    """Return the beginnings of a given date and of the next day, in UTC."""
    if not isinstance(value, str) or len(value) != _DATE_CHARS:
        return None
    try:
        begin = datetime.combine(date.fromisoformat(value), time.min, tzinfo=UTC)
        return begin, begin + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def expiry(value: Any) -> datetime | None:
    """Return the end of the given date in UTC; it is shown as that date again."""
    if value is None:
        return None
    whole = day(value)
    if whole is not None:
        return whole[1] - timedelta(microseconds=1)
    return moment(value, field="expiration_date")


def shown_expiry(value: datetime | None) -> str | None:
    if value is None:
        return None
    value = value.astimezone(UTC)
    return value.date().isoformat() if value.time() == time.max else value.isoformat()


def number(value: Any, *, field: str, default: int, most: int) -> int:
    if value is None:
        return default
    text = str(value)
    good = not isinstance(value, bool) and text.isascii() and text.isdigit() and len(text) < 10
    if not good or not 1 <= int(text) <= most:
        raise Invalid.field(field, f"Must be a whole number from 1 to {most:,}.")
    return int(text)


def metadata(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid.field("metadata", "Must be an object.")
    return value
