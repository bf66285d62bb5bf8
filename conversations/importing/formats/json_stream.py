"""Read JSON files incrementally, and report the line of an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import ijson

from memcenter.lib.errors import Invalid

MAX_DEPTH = 64
_PIECE = 1 << 16
_DEEPER = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}


class _Lines:
    """Pass a file on line by line, so that the current line is known."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ends = True
        self.line = 0

    def read(self, size: int = -1) -> bytes:
        if size == 0:  # an empty read tells the reader that the file contains bytes
            return b""
        piece = self._file.readline(_PIECE)
        self.line += self._ends and bool(piece)
        self._ends = piece.endswith(b"\n")
        return piece


def check(path: Path) -> None:
    """Raise `Invalid` with the line of invalid or too deeply nested JSON.

    Call it before other readers: they keep the whole path of each place, which a hundred thousand
    brackets would let grow without limit.
    """
    depth = 0
    for event, _ in _reading(path, lambda file: ijson.basic_parse(file, buf_size=_PIECE)):
        depth += _DEEPER.get(event, 0)
        if depth > MAX_DEPTH:
            raise Invalid.field("file", "The file is nested too deep to be read.")


def events(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield (prefix, event, value) of every token. Raises `Invalid` with the line."""
    yield from _reading(path, lambda file: ijson.parse(file, use_float=True, buf_size=_PIECE))


def items(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the values at a prefix such as `item` or `data.message.item`. Raises `Invalid`."""
    yield from _reading(
        path, lambda file: ijson.items(file, prefix, use_float=True, buf_size=_PIECE)
    )


def _reading(path: Path, read: Any) -> Iterator[Any]:
    with path.open("rb") as file:
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)
        lines = _Lines(file)
        try:
            yield from read(lines)
        except (ijson.JSONError, UnicodeDecodeError, ValueError, RecursionError) as error:
            message = f"The file is not valid JSON: line {max(1, lines.line)} can't be read."
            raise Invalid.field("file", message) from error
