"""Typed readers of environment variables. A bad value stops the start with a clear message."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

T = TypeVar("T")


class BadSetting(SystemExit):
    """A setting with an invalid value.

    If it isn't caught, Python prints its single line and exits with status 1.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The setting {name} {problem}.")


def text(name: str, default: str = "") -> str:
    """Return the value of the variable `name`, or the content of the file named in `name`_FILE."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadSetting(f"{name}_FILE", f"can't be read ({error.strerror})") from error
    return os.environ.get(name, default)


def integer(name: str, default: int, *, least: int = 0) -> int:
    value = _parsed(name, default, int, "a whole number")
    if value < least:
        raise BadSetting(name, f"must be at least {least}, not {value}")
    return value


def number(name: str, default: float, *, low: float = 0.0, high: float = 1.0) -> float:
    value = _parsed(name, default, float, "a number")
    if not low <= value <= high:
        raise BadSetting(name, f"must lie between {low} and {high}, not {value}")
    return value


def _parsed(name: str, default: T, parse: Callable[[str], T], noun: str) -> T:
    raw = text(name)
    try:
        return parse(raw) if raw else default
    except ValueError as error:
        raise BadSetting(name, f"must be {noun}, not {raw!r}") from error


def flag(name: str, default: bool) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    raise BadSetting(name, f"must be true or false, not {raw!r}")


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    value = text(name, default)
    if value not in among:
        raise BadSetting(name, f"must be one of {', '.join(among)}, not {value!r}")
    return value


def options(name: str, default: dict[str, Any]) -> dict[str, Any]:
    """Parse the JSON object in a variable. Raise `BadSetting` for any other value."""
    raw = text(name)
    if not raw:
        return default
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise BadSetting(name, "must be a JSON object") from error
    if not isinstance(value, dict):
        raise BadSetting(name, "must be a JSON object")
    return value


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def pairs(name: str) -> dict[str, str]:
    """Parse the comma-separated list of `name=value` in a variable."""
    found = {}
    for word in words(name):
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise BadSetting(name, "must be name=value, separated by commas")
        found[key.strip()] = value.strip()
    return found


def database(name: str) -> dict[str, Any]:
    """Return Django's database settings for the `postgresql://` URL in a variable.

    `?host=/folder` in the URL connects by a Unix socket in that folder.
    """
    raw = text(name)
    if not raw:
        raise BadSetting(name, "is missing; run it through manage.py or memcenter, or set it")
    parts = urlsplit(raw)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise BadSetting(name, "must begin with postgresql://")
    options = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    host = unquote(options.pop("host", "")) or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or options.pop("port", "")),
        "OPTIONS": {key: unquote(value) for key, value in options.items()},
    }
