"""Open a file of any format as rows by kind, in the shape of our own export.

The format is detected by the content. Reading a file twice gives the same rows: the first time they
are counted and all errors are found, before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from conversations.importing.formats import (
    chatgpt,
    detect,
    json_stream,
    jsonl,
    locomo,
    memories,
    memorybank,
    own_export,
    row_values,
    transcript,
)
from conversations.importing.formats.types import ImportedPerson, Report
from memcenter.lib.errors import Invalid

Table = tuple[str, Iterable[Mapping[str, Any]]]
_ITEMS_LOOKED_AT = 20


class Format(StrEnum):
    """The formats, as the API names them."""

    MEMORY_CENTER = "memory_center"
    CHATGPT = "chatgpt"
    MEM0 = "mem0"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    MEMORYBANK = "memorybank"
    LOCOMO = "locomo"


@dataclass(frozen=True)
class Opened:
    """`tables` reads the file again and reports skipped parts; `total` is its number of rows.

    `people` is the number of people in it.
    """

    format: Format
    total: int
    people: int
    tables: Callable[[Report], Iterator[Table]]


def open_file(path: Path, *, named: Format | None, now: datetime | None = None) -> Opened:
    """Open a file. Raises `Invalid` naming `file` or `format` if it can't be read to its end."""
    found, prefix = _detect(path)
    if named is not None and named != found:
        raise Invalid.field("format", f"The file is {found}, not {named}.")
    if found == Format.MEMORY_CENTER:
        contents = own_export.survey(path)
        total = sum(contents.rows.values())
        return Opened(found, total, 1, lambda report: iter(own_export.tables(path, contents)))
    moment = now or datetime.now(UTC)
    people = 1
    if found in (Format.JSONL, Format.MEMORYBANK, Format.LOCOMO):
        people = sum(1 for _ in _people(path, report=detect.silent, now=moment))

    def tables(report: Report) -> Iterator[Table]:
        return _tables(found, path, prefix, report=report, now=moment, people=people)

    total = sum(len(list(one)) for _, one in tables(detect.silent))
    return Opened(found, total, people, tables)


def _tables(
    found: Format, path: Path, prefix: str, *, report: Report, now: datetime, people: int
) -> Iterator[Table]:
    if found == Format.CHATGPT:
        return row_values.of_conversations(chatgpt.read(path, prefix=prefix, report=report))
    if found == Format.MEM0:
        return row_values.of_memories(memories.read_mem0(path, prefix=prefix, report=report))
    if found == Format.MARKDOWN:
        lines = _lines(path)
        if memories.is_memory_file(lines):
            return row_values.of_memories(memories.read_markdown(lines, report=report))
        return row_values.of_conversations(transcript.read(lines, now=now, report=report))
    return row_values.of_people(_people(path, report=report, now=now), several=people > 1)


def _people(path: Path, *, report: Report, now: datetime) -> Iterator[ImportedPerson]:
    return detect.read(path, report=report, now=now)


def _detect(path: Path) -> tuple[Format, str]:
    """Return the format, and the place of its items in the JSON."""
    with path.open("rb") as file:
        start = file.read(4096)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise Invalid.field("file", "The file is not in UTF-8; save it in UTF-8 first.")
        file.seek(0)
        said = (line for line in file if line.strip())
        if any(jsonl.matches_line(line) for line in islice(said, detect.LINES_LOOKED_AT)):
            return Format.JSONL, ""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"[", b"{"):
        json_stream.check(path)
    if text[:1] == b"[":
        return _of_items(path, "item")
    if text[:1] == b"{":
        return _of_object(path)
    if _is_markdown(path):
        return Format.MARKDOWN, ""
    raise detect.unknown()


def _of_items(path: Path, prefix: str) -> tuple[Format, str]:
    for item in islice(json_stream.items(path, prefix), _ITEMS_LOOKED_AT):
        if chatgpt.matches(item):
            return Format.CHATGPT, prefix
        if memories.is_mem0(item):
            return Format.MEM0, prefix
        if locomo.matches(item):
            return Format.LOCOMO, prefix
        if memorybank.matches([item]):
            return Format.MEMORYBANK, prefix
    raise detect.unknown()


def _of_object(path: Path) -> tuple[Format, str]:
    """Detect the format by the top-level names, without reading their values."""
    for prefix, event, value in json_stream.events(path):
        if prefix == "format" and value == own_export.FORMAT:
            return Format.MEMORY_CENTER, ""
        if prefix == "" and event == "map_key":
            if value in ("results", "memories"):
                return _of_items(path, f"{value}.item")
            if value == "mapping":
                return Format.CHATGPT, ""
            if value in ("speaker_a", "speaker_b"):
                return Format.LOCOMO, ""
        if prefix == "conversation" and event == "map_key" and value in ("speaker_a", "speaker_b"):
            return Format.LOCOMO, ""
    raise detect.unknown()


def _is_markdown(path: Path) -> bool:
    lines = _lines(path)
    return memories.is_memory_file(lines) or transcript.matches(lines)


def _lines(path: Path) -> list[str]:
    """Yield the lines. Raises `Invalid` with the number of a line that isn't UTF-8."""
    with path.open("rb") as file:
        found = []
        for number, raw in enumerate(file, start=1):
            try:
                found.append(raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n"))
            except UnicodeDecodeError as error:
                message = f"The file is not in UTF-8: line {number} can't be read."
                raise Invalid.field("file", message) from error
        return found
