"""Open a file of any supported format as rows grouped by kind, in the shape of our own export.

The format is detected from the content. A file is read twice. The first pass counts the rows and
finds all errors before anything is written; the second pass yields the same rows again. From a zip,
only the file to import is unpacked.
"""

from __future__ import annotations

import json
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from conversations.importing.formats import datasets, exports, jsonl, values
from conversations.importing.formats.values import (
    ImportedConversation,
    ImportedMemory,
    ImportedPerson,
    Report,
)
from foundation.errors import Invalid

Row = Mapping[str, Any]
Table = tuple[str, Iterable[Row]]
_ITEMS_LOOKED_AT = 20
# A file is JSON lines if one of its first non-empty lines, up to this number, is a turn or message.
_LINES_LOOKED_AT = 50
_PORTION = 2_000
# Limits and names for zip files.
WANTED = ("memory-center.json", "conversations.json")
MAX_ENTRIES = 100_000
MAX_RATIO = 200
RATIO_COUNTS_FROM = 10_000_000  # bytes; small files may have a high compression ratio
_PIECE = 1 << 20
UNKNOWN_FORMAT = (
    "The file is in none of the formats that can be imported. A list of memories works too: "
    "one in each line, beginning with “- ”."
)
NO_TEXT_FILE = "This is not a text file. An export or a text file can be imported."
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


class Format(StrEnum):
    """The formats that can be imported. The values are their names in the API."""

    MEMORY_CENTER = "memory_center"
    CHATGPT = "chatgpt"
    MEM0 = "mem0"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    MEMORYBANK = "memorybank"
    LOCOMO = "locomo"


@dataclass(frozen=True)
class OpenedFile:
    """A file that was checked and is ready to be imported.

    `total` is the number of rows, `people` the number of people in the file. `tables` reads the
    file again, returns its rows grouped by kind and reports skipped parts.
    """

    format: Format
    total: int
    people: int
    tables: Callable[[Report], Iterator[Table]]


def open_file(path: Path, *, named: Format | None) -> OpenedFile:
    """Open a file, read it once completely and return its format, counts and rows.

    Raise `Invalid` for the field `file` if the file can't be read completely, and for the field
    `format` if the file isn't in the format `named`.
    """
    found, prefix = _detect(path)
    if named is not None and named != found:
        raise Invalid.field("format", f"The file is {found}, not {named}.")
    if found == Format.MEMORY_CENTER:
        counts = exports.survey_export(path)
        total = sum(counts.values())
        return OpenedFile(found, total, 1, lambda report: exports.export_tables(path, counts))
    moment = datetime.now(UTC)
    people = 1
    if found in (Format.JSONL, Format.MEMORYBANK, Format.LOCOMO):
        people = sum(1 for _ in read_people(path, now=moment))

    def tables(report: Report) -> Iterator[Table]:
        if found == Format.CHATGPT:
            talks = exports.read_chatgpt(path, prefix=prefix, report=report)
            return _conversation_tables((one, "") for one in talks)
        if found == Format.MEM0:
            return _memory_rows(exports.read_mem0(path, prefix=prefix, report=report))
        if found == Format.MARKDOWN:
            lines = _lines(path)
            if exports.is_memory_file(lines):
                return _memory_rows(exports.read_markdown(lines, report=report))
            talks = exports.read_transcript(lines, now=moment, report=report)
            return _conversation_tables((one, "") for one in talks)
        several = people > 1  # if so, client ids and titles start with the user's id
        return _conversation_tables(
            (one, person.external_id if several else "")
            for person in read_people(path, report=report, now=moment)
            for one in person.conversations
        )

    total = sum(len(list(one)) for _, one in tables(lambda skipped: None))
    return OpenedFile(found, total, people, tables)


def _detect(path: Path) -> tuple[Format, str]:
    with path.open("rb") as file:
        start = file.read(4096)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise Invalid.field("file", "The file is not in UTF-8; save it in UTF-8 first.")
        if b"\0" in start:
            raise Invalid.field("file", NO_TEXT_FILE)
    if _is_jsonl(path):
        return Format.JSONL, ""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"[", b"{"):
        values.check_json(path)
    if text[:1] == b"[":
        return _detect_by_items(path, "item")
    if text[:1] == b"{":
        return _detect_by_names(path)
    lines = _lines(path)
    if exports.is_memory_file(lines) or exports.is_transcript(lines):
        return Format.MARKDOWN, ""
    raise unknown_format()


def _detect_by_items(path: Path, prefix: str) -> tuple[Format, str]:
    for item in islice(values.json_items(path, prefix), _ITEMS_LOOKED_AT):
        if exports.is_chatgpt(item):
            return Format.CHATGPT, prefix
        if exports.is_mem0(item):
            return Format.MEM0, prefix
        if datasets.is_locomo(item):
            return Format.LOCOMO, prefix
        if datasets.is_memorybank([item]):
            return Format.MEMORYBANK, prefix
    raise unknown_format()


def _detect_by_names(path: Path) -> tuple[Format, str]:
    """Detect the format of a JSON object by its field names, without loading it into memory.

    Also return the path of the list to import (`results.item` or `memories.item`), or "" if the
    object contains no such list. Raise `Invalid` if the format is unknown.
    """
    for prefix, event, value in values.json_events(path):
        if prefix == "format" and value == exports.FORMAT:
            return Format.MEMORY_CENTER, ""
        if prefix == "" and event == "map_key":
            if value in ("results", "memories"):
                return _detect_by_items(path, f"{value}.item")
            if value == "mapping":
                return Format.CHATGPT, ""
            if value in ("speaker_a", "speaker_b"):
                return Format.LOCOMO, ""
        if prefix == "conversation" and event == "map_key" and value in ("speaker_a", "speaker_b"):
            return Format.LOCOMO, ""
    raise unknown_format()


def _lines(path: Path) -> list[str]:
    """Return the lines of the file.

    Raise `Invalid`, with the line number, if a line isn't UTF-8.
    """
    with path.open("rb") as file:
        found = []
        for number, raw in enumerate(file, start=1):
            try:
                found.append(raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n"))
            except UnicodeDecodeError as error:
                message = f"The file is not in UTF-8: line {number} can’t be read."
                raise Invalid.field("file", message) from error
        return found


def read_people(
    path: Path, *, report: Report = lambda skipped: None, now: datetime | None = None
) -> Iterator[ImportedPerson]:
    """Yield the people of the file one by one; pass skipped parts to `report`.

    Raise `Invalid` when called, not during iteration, if the file is in none of the conversation
    formats. `now` is the time from which the field `days_ago` counts back.
    """
    if _is_jsonl(path):
        return jsonl.read(path, now=now or datetime.now(UTC), report=report)
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise unknown_format() from error
    if datasets.is_locomo(data):
        return datasets.read_locomo(data, report=report)
    if datasets.is_memorybank(data):
        return datasets.read_memorybank(data, report=report)
    raise unknown_format()


def _is_jsonl(path: Path) -> bool:
    with path.open("rb") as lines:
        filled = (line for line in lines if line.strip())
        return any(jsonl.matches_line(line) for line in islice(filled, _LINES_LOOKED_AT))


def unknown_format() -> Invalid:
    return Invalid.field("file", UNKNOWN_FORMAT)


def _conversation_tables(found: Iterable[tuple[ImportedConversation, str]]) -> Iterator[Table]:
    """Yield the rows of the conversations in batches, grouped by kind.

    The second item of each pair is the external id of the conversation's owner, or "" if the file
    has only one person.
    """
    portion: dict[str, list[Row]] = {"conversation": [], "message": [], "turn": []}
    for number, (conversation, owner) in enumerate(found, start=1):
        _add(portion, conversation, owner=owner, name=f"c{number}")
        if len(portion["message"]) >= _PORTION:
            yield from portion.items()
            portion = {name: [] for name in portion}
    yield from portion.items()


def _add(
    portion: Mapping[str, list[Row]], one: ImportedConversation, *, owner: str, name: str
) -> None:
    client_id = f"{owner}/{one.client_id}" if owner else one.client_id
    title = f"{owner}: {one.title}" if owner else one.title
    portion["conversation"].append(
        {
            "id": name,
            "external_id": client_id[: values.CLIENT_ID_LENGTH],
            "title": title[: values.TITLE_LENGTH],
            "kind": one.kind,
            "created_at": one.started_at,
        }
    )
    portion["message"] += [
        {
            "id": f"{name} {message.client_id}",
            "conversation": name,
            "external_id": message.client_id,
            "number": number,
            "role": message.role,
            "speaker": message.speaker,
            "content": message.content,
            "completed": message.completed,
            "created_at": message.created_at,
            "told": "dated" if message.dated else "undated",
        }
        for number, message in enumerate(one.messages, start=1)
    ]
    portion["turn"] += [
        {
            "id": f"{name} {turn.user.client_id}",
            "conversation": name,
            "user_message": f"{name} {turn.user.client_id}",
            "assistant_message": f"{name} {turn.assistant.client_id}",
            "created_at": turn.user.created_at,
        }
        for turn in one.turns
    ]


def _memory_rows(found: Iterable[ImportedMemory]) -> Iterator[Table]:
    portion: list[Row] = []
    for number, one in enumerate(found, start=1):
        portion.append(
            {
                "id": f"m{number}",
                "kind": one.kind,
                "content": one.content,
                "tags": list(one.tags),
                "importance": 0.7,
                "confidence": 0.95,
                "origin": "import",
                "metadata": dict(one.metadata),
                "agent_id": one.agent_id,
                "app_id": one.app_id,
                "run_id": one.run_id,
                "occurred_at": one.created_at,
                "created_at": one.created_at,
            }
        )
        if len(portion) >= _PORTION:
            yield "memory", portion
            portion = []
    yield "memory", portion


class ByteWriter(Protocol):
    def write(self, data: bytes, /) -> int: ...


def is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def unpack(path: Path, *, into: ByteWriter, limit: int) -> None:
    """Find the file to import in a zip and write its content into `into`, at most `limit` bytes.

    Raise `Invalid` if the zip looks dangerous (too many entries, a compression ratio that is too
    high, paths outside the zip, links), needs a password or contains nothing to import.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            entries = packed.infolist()
            _check_entries(entries)
            _copy_entry(packed, _wanted_entry(entries), into=into, limit=limit)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise _refused("it is damaged") from error


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MAX_ENTRIES:
        raise _refused("it contains too many files")
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED:
            raise _refused("it’s protected by a password")
        if _leads_out(entry.filename) or _is_link(entry):
            raise _refused("it contains links or names that point outside the zip")
        if entry.compress_type not in _METHODS:
            raise _refused("its compression isn’t supported")


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in path.parts[:1] or "\0" in name


def _is_link(entry: zipfile.ZipInfo) -> bool:
    mode = entry.external_attr >> 16
    return bool(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0)


def _wanted_entry(entries: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    for name in WANTED:
        found = [one for one in entries if PurePosixPath(one.filename).name == name]
        if len(found) > 1:
            raise _refused("it contains the file to import more than once")
        if found:
            return found[0]
    if any(one.filename.lower().endswith(".zip") for one in entries):
        raise _refused("it contains another zip; unpack that first")
    raise _refused("it contains neither memory-center.json nor conversations.json")


def _copy_entry(
    packed: zipfile.ZipFile, entry: zipfile.ZipInfo, *, into: ByteWriter, limit: int
) -> None:
    """Copy the content of an entry; raise `Invalid` if its size or compression ratio is too high.

    The size given in the zip's directory isn't trusted.
    """
    size = 0
    with packed.open(entry) as source:
        while piece := source.read(_PIECE):
            size += len(piece)
            squeezed = size > RATIO_COUNTS_FROM and size > MAX_RATIO * max(1, entry.compress_size)
            if size > limit or squeezed:
                raise _refused("it’s far too large once unpacked")
            into.write(piece)


def _refused(why: str) -> Invalid:
    return Invalid.field("file", f"The zip is not opened: {why}.")
