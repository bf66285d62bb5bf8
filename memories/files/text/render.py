"""Render memories as a file, keeping the order and the free text of the previous file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memories.files.text import grammar
from memories.files.text.grammar import KINDS, Line, Role
from memories.files.text.parse import Document

_NOTHING = Document()


@dataclass(frozen=True)
class Shown:
    """A memory as a file shows it. `text` is the summary of a `long` memory, else its content."""

    id: str
    kind: str
    text: str
    long: bool = False


def render(
    memories: Iterable[Shown],
    *,
    keeping: Document = _NOTHING,
    became: Mapping[int, str | None] | None = None,
    chinese: bool = False,
) -> str:
    """Return the file that shows each of the memories once.

    A line stays where it is in `keeping`. The line of a memory whose kind has changed moves to the
    end of the new section; the line of a memory that isn't given is removed. Memories without a
    line follow at the end of their section, in the order given; sections without a heading follow
    at the end of the file, with Chinese names if asked. Free text stays as it is. New lines stay
    too, unless `became` maps the line's position to its memory (None: the line is finished).
    Rendering again with `keeping` set to the result gives the same bytes.
    """
    waiting = {memory.id: memory for memory in memories}
    kept = _kept(keeping, waiting, became or {}, end=keeping.end)
    sections: dict[str, list[Shown]] = {}
    for memory in waiting.values():
        sections.setdefault(memory.kind, []).append(memory)
    lines = _with_added(kept, sections, end=keeping.end)
    for kind in sorted(sections, key=list(KINDS).index):
        lines += _section(kind, sections[kind], after=lines, chinese=chinese, end=keeping.end)
    return Document(lines).text


def _kept(
    keeping: Document,
    waiting: dict[str, Shown],
    became: Mapping[int, str | None],
    *,
    end: str,
) -> list[Line]:
    """Return the lines that stay, and remove their memories from `waiting`."""
    lines: list[Line] = []
    for place, line in enumerate(keeping.lines):
        id = became.get(place, line.id)
        if id == "":
            lines.append(line)
            continue
        memory = waiting.get(id) if id is not None else None
        if memory is None or line.kind not in ("", memory.kind):
            continue
        del waiting[memory.id]
        lines.append(_updated(line, memory, end=end))
    return lines


def _updated(line: Line, memory: Shown, *, end: str) -> Line:
    if line.id == memory.id and line.text == memory.text:
        return line
    return grammar.memory(memory.text, id=memory.id, kind=line.kind, end=line.end or end)


def _with_added(kept: list[Line], sections: dict[str, list[Shown]], *, end: str) -> list[Line]:
    """Add the remaining memories to sections that have a heading, and drop these sections."""
    places = _ends(kept)
    lines: list[Line] = []
    for place, line in enumerate(kept):
        lines.append(line)
        if line.kind in sections and places[line.kind] == place:
            lines[-1] = grammar.ended(line, end=end)
            lines += [Line(end, kind=line.kind)] if line.role is Role.HEADING else []
            lines += _memories(sections.pop(line.kind), end=end)
    return lines


def _ends(lines: list[Line]) -> dict[str, int]:
    """Return each section's line to append after: its last memory, otherwise its heading.

    An empty line directly below the heading belongs to it; otherwise such lines would accumulate.
    """
    places: dict[str, int] = {}
    for place, line in enumerate(lines):
        below = place > 0 and lines[place - 1].role is Role.HEADING and not line.raw.strip()
        if line.role is not Role.FREE or below:
            places[line.kind] = place
    return places


def _section(
    kind: str, memories: list[Shown], *, after: list[Line], chinese: bool, end: str
) -> list[Line]:
    if after:
        after[-1] = grammar.ended(after[-1], end=end)
    apart = [Line(end)] if after and after[-1].raw.strip() else []
    head = [grammar.heading(kind, chinese=chinese, end=end), Line(end, kind=kind)]
    return [*apart, *head, *_memories(memories, end=end)]


def _memories(memories: list[Shown], *, end: str) -> list[Line]:
    return [grammar.memory(one.text, id=one.id, kind=one.kind, end=end) for one in memories]
