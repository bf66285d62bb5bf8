"""Checked access to values of untrusted JSON."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from conversations.importing.formats.types import Why

EXTERNAL_ID_LENGTH = 64
CLIENT_ID_LENGTH = 190  # leaves room for a prefix or a number in a column of 200
TITLE_LENGTH = 200
NAME_LENGTH = 100
# These begin our own ids; the API refuses them from clients.
RESERVED = ("conv_", "msg_", "mem_", "op_")

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


class BadRow(ValueError):
    """A row can't be imported. The reader catches and reports this."""

    def __init__(self, why: Why) -> None:
        super().__init__(why.value)
        self.why = why


def parse(raw: str | bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw)
    except (ValueError, RecursionError) as error:
        raise BadRow(Why.NOT_JSON) from error


def mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRow(Why.NOT_AN_OBJECT)
    return value


def text(value: object) -> str:
    """Return the text without NUL and lone surrogates, which PostgreSQL refuses."""
    if not isinstance(value, str) or not value.strip():
        raise BadRow(Why.NO_TEXT)
    if not storable(value):
        raise BadRow(Why.BAD_CHARACTERS)
    return value


def storable(value: str) -> bool:
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)


def label(value: object, *, longest: int = NAME_LENGTH) -> str:
    """Return a name or title on one line; empty for any other type."""
    if not isinstance(value, str) or not storable(value):
        return ""
    return " ".join(value.split())[:longest]


def identifier(value: object, *, longest: int = CLIENT_ID_LENGTH) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 1 <= len(value) <= longest or not storable(value):
        raise BadRow(Why.BAD_ID)
    if any(unicodedata.category(char) == "Cc" for char in value):
        raise BadRow(Why.BAD_ID)
    return value


def client_id(value: object) -> str:
    found = identifier(value)
    return f"imported-{found}" if found.startswith(RESERVED) else found


def unique(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, or the first free one of `wanted-2`, `wanted-3`, …"""
    used = set(taken)
    found, number = wanted, 2
    while found in used:
        found, number = f"{wanted}-{number}", number + 1
    return found


def moment(value: object) -> datetime:
    """Parse ISO 8601 into an aware UTC datetime; a missing zone means UTC."""
    if not isinstance(value, str):
        raise BadRow(Why.BAD_TIME)
    try:
        read = datetime.fromisoformat(value)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadRow(Why.BAD_TIME) from error


def language_of(texts: Iterable[str]) -> str:
    """Return "zh" if Han characters outnumber Latin words, counting a character as half a word."""
    han = latin = 0
    for one in texts:
        han += len(_HAN.findall(one))
        latin += len(_LATIN_WORD.findall(one))
    return "zh" if han > 2 * latin else "en"
