"""Memories of other programs: mem0's answers, and Markdown in the format of our memory files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conversations.importing.formats import json_stream, values
from conversations.importing.formats.types import ImportedMemory, Report, Skipped, Why

KINDS = (
    "preference",
    "fact",
    "constraint",
    "task",
    "pattern",
    "skill",
    "event",
    "requirement",
    "plan",
    "development",
    "testing",
    "insight",
)
_MAX_TAGS, _MAX_TAG, _MAX_NAME = 20, 50, 200
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_LINE = re.compile(r"^[-*+]\s+(.*)$")
_ID = re.compile(r"(?<!\s)\s*+<!--\s*(mem_[0-9a-z]+)\s*-->\s*$")


def is_mem0(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("memory"), str)


def read_mem0(path: Path, *, prefix: str, report: Report) -> Iterator[ImportedMemory]:
    """Yield the memories of a `get_all` answer or of a plain list of them."""
    for position, raw in enumerate(json_stream.items(path, prefix)):
        where = f"[{position}]"
        try:
            yield _mem0(values.mapping(raw))
        except values.BadRow as bad:
            report(Skipped(where, bad.why))


def _mem0(row: Mapping[str, Any]) -> ImportedMemory:
    metadata = row.get("metadata")
    created_at = row.get("created_at")
    return ImportedMemory(
        content=values.text(row.get("memory")),
        kind="fact",
        created_at=values.moment(created_at) if created_at is not None else None,
        tags=_tags(row.get("categories")),
        metadata=dict(metadata) if isinstance(metadata, dict) else {},
        agent_id=values.label(row.get("agent_id"), longest=_MAX_NAME),
        app_id=values.label(row.get("app_id"), longest=_MAX_NAME),
        run_id=values.label(row.get("run_id"), longest=_MAX_NAME),
    )


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    tags = (values.label(one, longest=_MAX_TAG) for one in value)
    return tuple(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TAGS]


def is_memory_file(lines: list[str]) -> bool:
    """Tell whether any line is a memory: marked with an id, or in the section of a kind."""
    kind = ""
    for line in lines:
        if heading := _HEADING.match(line):
            kind = _kind(heading[1])
        elif _LINE.match(line) and (kind or _ID.search(line)):
            return True
    return False


def read_markdown(lines: list[str], *, report: Report) -> Iterator[ImportedMemory]:
    """Yield each `- ` line as a memory of its section's kind; other text is ignored."""
    kind = "fact"
    for number, line in enumerate(lines, start=1):
        if heading := _HEADING.match(line):
            kind = _kind(heading[1]) or "fact"
            continue
        found = _LINE.match(line)
        if found is None:
            if line.strip():
                report(Skipped(f"line {number}", Why.NO_MEMORY))
            continue
        content = _ID.sub("", found[1]).replace("\\n", "\n")
        try:
            yield ImportedMemory(content=values.text(content), kind=kind)
        except values.BadRow as bad:
            report(Skipped(f"line {number}", bad.why))


def _kind(heading: str) -> str:
    word = heading.strip().lower().rstrip("s")
    return word if word in KINDS else ""
