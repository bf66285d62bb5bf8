"""Load words and patterns from `data/<name>.toml`, one file for each module."""

import re
import tomllib
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"
_REFERENCE = re.compile(r"\{([a-z][a-z_.]*)\}")


def table(name: str) -> dict[str, Any]:
    """Return the tables of a file. Lines of a text are alternatives; items of a list follow each
    other.
    """
    found = tomllib.loads((_DATA / f"{name}.toml").read_text("utf-8"))
    return {key: _joined(value) for key, value in found.items()}


def patterns(name: str, **more: str) -> dict[str, str]:
    """Return the patterns of a file.

    `{word}` or `{table.word}` in a pattern stands for words of the file, for an earlier pattern, or
    for one of `more`.
    """
    found = table(name)
    known = {**found, **more}
    for key, value in found["patterns"].items():
        known[key] = _REFERENCE.sub(lambda one: _named(known, one[1]), value)
    return {key: known[key] for key in found["patterns"]}


def compiled(name: str, **more: str) -> dict[str, re.Pattern[str]]:
    """Return the compiled patterns of a file."""
    return {key: re.compile(one) for key, one in patterns(name, **more).items()}


def _joined(value: Any) -> Any:
    if isinstance(value, str):
        return "|".join(value.strip("\n").split("\n"))
    if isinstance(value, list):
        return "".join(value)
    return {key: _joined(one) for key, one in value.items()} if isinstance(value, dict) else value


def _named(known: dict[str, Any], name: str) -> str:
    first, _, second = name.partition(".")
    return str(known[first][second] if second else known[first])
