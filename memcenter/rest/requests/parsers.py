"""Parse JSON objects of limited size and depth, without NUL characters or duplicate names."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

import orjson
from django.conf import settings
from rest_framework.parsers import BaseParser

from memcenter.lib.errors import ApplicationError, Invalid

MAX_DEPTH = 64


class OrjsonParser(BaseParser):
    """Accepts any content type, since clients may forget to declare JSON.

    Raises `Invalid` naming the place for anything but a JSON object, and `too_large`.
    """

    media_type = "*/*"

    @property
    def max_bytes(self) -> int:
        return settings.MAX_BODY_BYTES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        raw = stream.read(self.max_bytes + 1)
        if len(raw) > self.max_bytes:
            raise too_large(self.max_bytes)
        return parse_object(raw)


def too_large(most: int | None = None) -> ApplicationError:
    limit = f"{most or settings.MAX_BODY_BYTES:,}"
    return ApplicationError(f"The body is larger than {limit} bytes.", code="too_large")


def parse_object(raw: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Invalid(f"The body is not valid JSON: {error.msg} ({place}).") from error
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    if b"\\u0000" in raw or raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        _check(data)
    # A colon for each name and no other: then none stands twice, and one parser is enough.
    if raw.count(b"{") != 1 or raw.count(b":") != len(data):
        check_names(raw)
    return data


def check_names(raw: bytes) -> None:
    """Raise `Invalid` if an object has a duplicate name.

    Parsers differ in the value that they use, so a proxy that checks the person and this server
    could use two different people. Invalid JSON passes here, since its parser refuses it.
    """
    try:
        # Keep numbers as text, since Python refuses numbers of many thousand digits.
        json.loads(raw, object_pairs_hook=_refuse_repeated, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) == len(pairs):
        return
    seen: set[str] = set()
    for name, _value in pairs:
        if name in seen:
            raise Invalid.field(
                name.replace("\x00", ""), "This name stands twice in one object of the body."
            )
        seen.add(name)


def _check(data: Mapping[str, Any]) -> None:
    for name, value in data.items():
        for text in _texts({name: value}, field=name):
            if "\x00" in text:
                raise Invalid.field(
                    name.replace("\x00", ""), "The text must not contain NUL characters."
                )


def _texts(value: Any, *, field: str) -> Iterator[str]:
    """Yield every string, including keys. Iterative, so that depth can't exhaust the stack."""
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise Invalid.field(field, f"It is nested more than {MAX_DEPTH} levels deep.")
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            waiting.extend((inner, depth + 1) for inner in item.values())
        elif isinstance(item, list):
            waiting.extend((inner, depth + 1) for inner in item)
