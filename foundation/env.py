"""Typed readers of environment variables. An invalid value aborts startup with a clear message."""

import json
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from environs import EnvValidationError, FileAwareEnv
from marshmallow.validate import OneOf, Range

T = TypeVar("T")


class BadSetting(SystemExit):
    """A setting with an invalid value.

    If this exception isn't caught, Python prints its one-line message and exits with status 1.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"The setting {name} {problem}.")


_environment = FileAwareEnv(strip_whitespace=True)


def text(name: str, default: str = "") -> str:
    """Return the content of the file that `{name}_FILE` names, else the variable `name`.

    If neither is set, return `default`. Raise `BadSetting` if the file can't be read.
    """
    try:
        return str(_environment.str(name, default))
    except ValueError as error:
        raise BadSetting(f"{name}_FILE", "must name a text file that can be read") from error


def integer(name: str, default: int, *, least: int = 0) -> int:
    bounds = Range(min=least, error="must be at least {min}, not {input}")
    return _parsed(_environment.int, name, default, noun="a whole number", validate=bounds)


def number(name: str, default: float, *, low: float = 0.0, high: float = 1.0) -> float:
    bounds = Range(low, high, error="must lie between {min} and {max}, not {input}")
    return _parsed(_environment.float, name, default, noun="a number", validate=bounds)


def flag(name: str, default: bool) -> bool:
    return _parsed(_environment.bool, name, default, noun="true or false")


def choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    known = OneOf(among, error="must be one of {choices}, not {input!r}")
    return _parsed(_environment.str, name, default, noun="a text", validate=known)


def _parsed(
    parse: Callable[..., Any], name: str, default: T, *, noun: str, validate: Any = None
) -> T:
    wrong = f"must be {noun}, not {{input!r}}"
    messages = {"invalid": wrong, "too_large": wrong, "special": f"must be {noun}"}
    if not text(name):
        return default
    try:
        value: T = parse(name, validate=validate, error_messages=messages)
    except EnvValidationError as error:
        [problem] = error.error_messages
        raise BadSetting(name, problem) from error
    return value


def options(name: str, default: dict[str, Any]) -> dict[str, Any]:
    """Parse the JSON object in a variable; return `default` if the variable is empty or not set.

    Raise `BadSetting` for any other value.
    """
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
    """Parse the comma-separated `name=value` pairs in a variable.

    Raise `BadSetting` if a name, a value or the `=` is missing.
    """
    found = {}
    for word in words(name):
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise BadSetting(name, "must be name=value, separated by commas")
        found[key.strip()] = value.strip()
    return found


def database(name: str) -> dict[str, Any]:
    """Return Django's database settings for the `postgresql://` URL in a variable.

    With `?host=/folder` in the URL, the connection uses the Unix socket in that folder. Raise
    `BadSetting` if the variable is missing or contains another kind of URL.
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
