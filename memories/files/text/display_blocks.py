"""Split a memory file into display blocks: headings, memories, and text in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from memories.files.text.grammar import Line, Role


@dataclass(frozen=True)
class Block:
    """A `heading` with its text, consecutive `memories`, or `text` in Markdown."""

    what: Literal["heading", "memories", "text"]
    text: str = ""
    kind: str = ""
    lines: Sequence[Line] = ()


def blocks_of(lines: Iterable[Line]) -> Iterator[Block]:
    """Yield the blocks in order; empty lines between two blocks yield no block."""
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
