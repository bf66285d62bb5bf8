"""The lines of a day's note, `- 14:03 [source] text`: encoding and parsing.

A text is encoded like a memory's content (`grammar.written`). A `]` within a source, and a `[` at
the beginning of a text without a source, are escaped by a backslash; backslashes directly before
these, and at the end of a source, are doubled. Every note is therefore read back unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.files.text import grammar

_LINE = re.compile(r"- (?P<time>[0-2]\d:[0-5]\d) (?P<said>.*)", re.DOTALL)
_END = re.compile(r"(?<!\\)(?:\\\\)*+\] ")
_CLOSING = re.compile(r"(?<!\\)(\\*+)(\]|\Z)")
_CLOSED = re.compile(r"(?<!\\)(\\++)(\]|\Z)")


@dataclass(frozen=True)
class Noted:
    """The content of a line; `time` is `HH:MM` in the user's time zone."""

    time: str
    text: str
    source: str = ""


def written(noted: Noted) -> str:
    """Return the line without its line ending. `read` restores the note, whatever it contains."""
    text = grammar.written(noted.text)
    if noted.source:
        return f"- {noted.time} [{_closable(grammar.written(noted.source))}] {text}"
    slashes = len(text) - len(text.lstrip("\\"))
    if text[slashes : slashes + 1] == "[":
        text = "\\" * (2 * slashes + 1) + text[slashes:]
    return f"- {noted.time} {text}"


def read(line: str) -> Noted | None:
    """Parse a line of a day's note; None if it isn't one."""
    found = _LINE.fullmatch(line)
    if found is None or not found["said"].strip():
        return None
    text = found["said"]
    end = _END.search(text, 1) if text[0] == "[" else None
    if end is not None and end.end() > 3 and text[end.end() :].strip():
        source = _closed(text[1 : end.end() - 2])
        return Noted(found["time"], grammar.plain(text[end.end() :]), grammar.plain(source))
    slashes = len(text) - len(text.lstrip("\\"))
    if slashes % 2 and text[slashes : slashes + 1] == "[":
        text = text[(slashes + 1) // 2 :]
    return Noted(found["time"], grammar.plain(text))


def read_all(text: str) -> Iterator[Noted]:
    """Yield the lines of a day's note; its heading and other text are skipped."""
    for line in text.split("\n"):
        if noted := read(line.removesuffix("\r")):
            yield noted


def _closable(source: str) -> str:
    def double(found: re.Match[str]) -> str:
        return found[1] * 2 + ("\\]" if found[2] else "")

    return _CLOSING.sub(double, source)


def _closed(source: str) -> str:
    def halve(found: re.Match[str]) -> str:
        return "\\" * (len(found[1]) // 2) + found[2]

    return _CLOSED.sub(halve, source)
