"""A memory file as its lines. Nothing is left out: together the lines are the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.files import grammar
from memories.files.grammar import Line, Role


@dataclass(frozen=True)
class Document:
    """The lines of a memory file in their order."""

    lines: Sequence[Line] = ()

    @property
    def text(self) -> str:
        """The file, byte for byte as it was read."""
        return "".join(line.raw for line in self.lines)

    @property
    def statements(self) -> Iterator[tuple[int, Line]]:
        """The lines that are a memory or a new one, each with its place among all lines."""
        return (
            (place, line)
            for place, line in enumerate(self.lines)
            if line.role in (Role.MEMORY, Role.NEW)
        )

    @property
    def end(self) -> str:
        """What ends a line in this file: as its first line does."""
        return (self.lines[0].end if self.lines else "") or "\n"


def parse(text: str) -> Document:
    """The document of any text whatever; `parse(text).text == text`."""
    lines: list[Line] = []
    kind = ""
    for raw in _lines(text):
        line = grammar.read(raw, kind=kind)
        kind = line.kind
        lines.append(line)
    return Document(lines)


def _lines(text: str) -> list[str]:
    """Cut after each newline only: at other breaks a content or a free text may go on."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
