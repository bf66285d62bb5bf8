"""Extract all strings from a value: JSON, lists, encoded or compressed data."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

_ENCODED_AT_LEAST = 24


def strings_in(value: Any) -> Iterator[str]:
    """Yield every string in the value; text that is JSON is parsed."""
    if isinstance(value, str):
        yield from _of_text(value)
    elif isinstance(value, bytes | bytearray | memoryview):
        yield from _of_text(bytes(value).decode("utf-8", errors="ignore"))
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from strings_in(name)
            yield from strings_in(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from strings_in(one)


def _of_text(text: str) -> Iterator[str]:
    inside = _json(text)
    if inside is not None:
        yield from strings_in(inside)
        return
    yield text
    plain = _decoded(text)
    if plain is not None:
        yield from strings_in(plain)


def _json(text: str) -> Any:
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _decoded(text: str) -> str | None:
    """Decode base64 JSON, the body of a broker message."""
    if len(text) < _ENCODED_AT_LEAST or len(text) % 4 or " " in text:
        return None
    try:
        return base64.b64decode(text, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
