"""Parse the model's answer while it is passed on. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import orjson


class AnswerReader(Protocol):
    """`finished` means that the answer ended normally, with text that closes the turn."""

    @property
    def text(self) -> str: ...

    @property
    def finished(self) -> bool: ...

    def feed(self, chunk: bytes) -> None: ...


class Whole:
    """An answer as one JSON object."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> None:
        self._bytes += chunk

    @property
    def raw(self) -> bytes:
        return bytes(self._bytes)

    @property
    def text(self) -> str:
        content = _message(self._choice()).get("content")
        return content if isinstance(content, str) else ""

    @property
    def finished(self) -> bool:
        choice = self._choice()
        return bool(choice.get("finish_reason")) and not _message(choice).get("tool_calls")

    def _choice(self) -> Mapping[str, Any]:
        return _first_choice(self.raw)


class Streamed:
    """An answer as server-sent events, which may be split at any byte."""

    def __init__(self) -> None:
        self._rest = b""
        self._pieces: list[str] = []
        self._calls = self._ended = False

    def feed(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._take(_first_choice(line[5:].strip()))

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def finished(self) -> bool:
        return self._ended and not self._calls

    def _take(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            if isinstance(piece := delta.get("content"), str):
                self._pieces.append(piece)
            self._calls = self._calls or bool(delta.get("tool_calls"))
        self._ended = self._ended or bool(choice.get("finish_reason"))


def _first_choice(raw: bytes) -> Mapping[str, Any]:
    """Return the first of several answers; only that one is recorded."""
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    choices = answer.get("choices") if isinstance(answer, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return {}


def _message(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}
