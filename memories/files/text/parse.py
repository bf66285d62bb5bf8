"""Parse a memory file into lines. Nothing is left out: the lines together are the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.files.text import grammar
from memories.files.text.grammar import Line, Role


@dataclass(frozen=True)
class Document:
    """The lines of a memory file, in order."""

    lines: Sequence[Line] = ()

    @property
    def text(self) -> str:
        """The file, byte for byte as it was read."""
        return "".join(line.raw for line in self.lines)

    @property
    def statements(self) -> Iterator[tuple[int, Line]]:
        """The lines of memories and new statements, each with its position among all lines."""
        return (
            (place, line)
            for place, line in enumerate(self.lines)
            if line.role in (Role.MEMORY, Role.NEW)
        )

    @property
    def end(self) -> str:
        """The line ending of this file: that of its first line."""
        return (self.lines[0].end if self.lines else "") or "\n"


def parse(text: str) -> Document:
    """Parse any text; `parse(text).text == text`."""
    lines: list[Line] = []
    kind = ""
    for raw in _lines(text):
        line = grammar.read(raw, kind=kind)
        kind = line.kind
        lines.append(line)
    return Document(lines)


def _lines(text: str) -> list[str]:
    """Split at newlines only: content or free text may contain other line breaks."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
