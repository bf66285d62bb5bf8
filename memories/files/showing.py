"""A memory file cut into what a page shows: headings, memories, and text in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from memories.files.grammar import Line, Role


@dataclass(frozen=True)
class Block:
    """A `heading` with its text, some `memories` in a row, or `text` in Markdown."""

    what: Literal["heading", "memories", "text"]
    text: str = ""
    kind: str = ""
    lines: Sequence[Line] = ()


def blocks_of(lines: Iterable[Line]) -> Iterator[Block]:
    """The lines in their order; empty ones between two blocks are no block of their own."""
    for what, group in groupby(lines, key=_what):
        found = list(group)
        if what == "heading":
            yield from (
                Block("heading", one.raw.strip().lstrip("#").strip(), one.kind) for one in found
            )
        elif what == "memories":
            yield Block("memories", kind=found[0].kind, lines=found)
        elif text := "".join(one.raw for one in found).strip():
            yield Block("text", text)


def _what(line: Line) -> str:
    if line.role is Role.HEADING:
        return "heading"
    return "memories" if line.role is Role.MEMORY else "text"
