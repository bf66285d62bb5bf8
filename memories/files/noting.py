r"""One line of a day's note: `- 14:03 [source] text`, written and read back.

A text is written as a memory's content is (`grammar.written`). A `]` within a source, and a `[` at
the beginning of a text without one, have a backslash; backslashes directly before these, and at
the end of a source, are doubled. So whatever was noted is read back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.files import grammar

_LINE = re.compile(r"- (?P<time>[0-2]\d:[0-5]\d) (?P<said>.*)", re.DOTALL)
_END = re.compile(r"(?<!\\)(?:\\\\)*+\] ")
_CLOSING = re.compile(r"(?<!\\)(\\*+)(\]|\Z)")
_CLOSED = re.compile(r"(?<!\\)(\\++)(\]|\Z)")


@dataclass(frozen=True)
class Noted:
    """What one line says; `time` is `HH:MM` where the person is."""

    time: str
    text: str
    source: str = ""


def written(noted: Noted) -> str:
    """The line, without its end. `read` gives back what was noted, whatever it holds."""
    text = grammar.written(noted.text)
    if noted.source:
        return f"- {noted.time} [{_closable(grammar.written(noted.source))}] {text}"
    slashes = len(text) - len(text.lstrip("\\"))
    if text[slashes : slashes + 1] == "[":
        text = "\\" * (2 * slashes + 1) + text[slashes:]
    return f"- {noted.time} {text}"


def read(line: str) -> Noted | None:
    """What a line of a day's note says; None where it is none."""
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
    """The lines of a day's note; its heading and what else stands there is left out."""
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
