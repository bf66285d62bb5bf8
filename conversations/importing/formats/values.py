"""Dataclasses for the contents of imported files, and functions to read untrusted JSON safely."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import ijson

from foundation.errors import Invalid

EXTERNAL_ID_LENGTH = 64
CLIENT_ID_LENGTH = 190  # the column has 200 characters; the rest is for a prefix or a number
TITLE_LENGTH = 200
NAME_LENGTH = 100
# Prefixes of our own ids; the API refuses them from clients.
RESERVED = ("conv_", "msg_", "mem_", "op_")

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
MAX_DEPTH = 64
_JSON_PIECE = 1 << 16
_DEPTH_CHANGE = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
USER = "user"
ASSISTANT = "assistant"


class SkipReason(StrEnum):
    """The reason why a part of a file was skipped.

    The texts are fixed and are shown to people; they never quote the file's content.
    """

    NOT_JSON = "not valid JSON in UTF-8"
    NOT_AN_OBJECT = "not a JSON object"
    NOT_A_LIST = "not a JSON list"
    NO_TEXT = "the message has no text"
    BAD_CHARACTERS = "the text contains characters that can’t be stored"
    BAD_ID = "an id is empty, too long or holds control characters"
    REPEATED_ID = "the id of the message is used twice in its conversation"
    BAD_TIME = "the time can’t be read"
    BAD_ZONE = "the time zone is unknown"
    BAD_DAY = "the date can’t be read"
    BAD_ROLE = "the role is neither user nor assistant"
    BAD_KIND = "the kind of conversation is neither main nor group"
    BAD_SPEAKER = "the speaker isn’t one of the two people talking"
    NO_NAME = "the person has no name"
    EMPTY = "nothing in it can be imported"
    NO_MEMORY = "this line isn’t a memory"


@dataclass(frozen=True)
class SkippedPart:
    """A part of a file that was skipped, and the reason.

    `where` names the place, such as `line 3` or the JSON path `[0].session_1[3]`.
    """

    where: str
    why: SkipReason


Report = Callable[[SkippedPart], None]


@dataclass(frozen=True)
class ImportedMessage:
    """A message read from a file. `client_id` is unique in its conversation.

    `speaker` is a name, or "" if the file gives none. `dated` is False if `created_at` was made up,
    because the file gives no time for this message or any earlier message of its conversation.
    """

    client_id: str
    role: str
    speaker: str
    content: str
    created_at: datetime
    completed: bool = True
    dated: bool = True


@dataclass(frozen=True)
class ImportedTurn:
    user: ImportedMessage
    assistant: ImportedMessage


@dataclass(frozen=True)
class ImportedConversation:
    client_id: str
    title: str
    kind: str
    started_at: datetime
    messages: tuple[ImportedMessage, ...]

    def parts(self) -> Iterator[ImportedTurn | ImportedMessage]:
        """Yield all turns and single messages in order.

        A user message and the completed reply that follows it form one turn.
        """
        waiting: ImportedMessage | None = None
        for message in self.messages:
            if waiting is not None and message.role == ASSISTANT and message.completed:
                yield ImportedTurn(waiting, message)
                waiting = None
                continue
            if waiting is not None:
                yield waiting
            waiting = message if message.role == USER and message.completed else None
            if waiting is None:
                yield message
        if waiting is not None:
            yield waiting

    @property
    def turns(self) -> tuple[ImportedTurn, ...]:
        return tuple(part for part in self.parts() if isinstance(part, ImportedTurn))


@dataclass(frozen=True)
class ImportedPerson:
    """A person whose conversations are in the file.

    An empty `external_id` means the user who imports the file. `language` is "zh" or "en";
    `timezone` is an IANA name.
    """

    name: str
    external_id: str
    language: str
    conversations: tuple[ImportedConversation, ...]
    timezone: str = "UTC"


@dataclass(frozen=True)
class ImportedMemory:
    content: str
    kind: str
    created_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""


class BadRow(ValueError):
    """Raised if a row can't be imported. The parsers catch it and report the row as skipped."""

    def __init__(self, why: SkipReason) -> None:
        super().__init__(why.value)
        self.why = why


@contextmanager
def report_bad_row(where: str, report: Report) -> Iterator[None]:
    try:
        yield
    except BadRow as bad:
        report(SkippedPart(where, bad.why))


def parse(raw: str | bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw)
    except (ValueError, RecursionError) as error:
        raise BadRow(SkipReason.NOT_JSON) from error


def mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRow(SkipReason.NOT_AN_OBJECT)
    return value


def text(value: object) -> str:
    """Return the value unchanged if it is a string that isn't blank and that PostgreSQL can store.

    Otherwise raise `BadRow`, for instance if the string contains NUL or a lone surrogate.
    """
    if not isinstance(value, str) or not value.strip():
        raise BadRow(SkipReason.NO_TEXT)
    if not is_storable(value):
        raise BadRow(SkipReason.BAD_CHARACTERS)
    return value


def is_storable(value: str) -> bool:
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)


def label(value: object, *, longest: int = NAME_LENGTH) -> str:
    """Return the value as a name or title on one line; return "" if it isn't a storable string."""
    if not isinstance(value, str) or not is_storable(value):
        return ""
    return " ".join(value.split())[:longest]


def identifier(value: object, *, longest: int = CLIENT_ID_LENGTH) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 1 <= len(value) <= longest or not is_storable(value):
        raise BadRow(SkipReason.BAD_ID)
    if any(unicodedata.category(char) == "Cc" for char in value):
        raise BadRow(SkipReason.BAD_ID)
    return value


def client_id(value: object) -> str:
    found = identifier(value)
    return f"imported-{found}" if found.startswith(RESERVED) else found


def unique(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted` if it is free, else the first free name among `wanted-2`, `wanted-3`, …"""
    used = set(taken)
    found, number = wanted, 2
    while found in used:
        found, number = f"{wanted}-{number}", number + 1
    return found


def moment(value: object) -> datetime:
    """Parse a time in ISO 8601 and return it in UTC. A missing time zone means UTC.

    Raise `BadRow` if the time is invalid.
    """
    if not isinstance(value, str):
        raise BadRow(SkipReason.BAD_TIME)
    try:
        read = datetime.fromisoformat(value)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadRow(SkipReason.BAD_TIME) from error


def language_of(texts: Iterable[str]) -> str:
    """Return "zh" if there are more than two Han characters per Latin word, else "en"."""
    han = latin = 0
    for one in texts:
        han += len(_HAN.findall(one))
        latin += len(_LATIN_WORD.findall(one))
    return "zh" if han > 2 * latin else "en"


class _LineCounter:
    """A binary file for ijson, which counts the lines that were read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ends = True
        self.line = 0

    def read(self, size: int = -1) -> bytes:
        if size == 0:  # ijson reads 0 bytes to check that the file is binary
            return b""
        piece = self._file.readline(_JSON_PIECE)
        self.line += self._ends and bool(piece)
        self._ends = piece.endswith(b"\n")
        return piece


def check_json(path: Path) -> None:
    """Raise `Invalid`, with the line number, if the JSON is invalid or nested too deeply.

    Call this before the other functions that read JSON: their memory use grows with the depth, so a
    deeply nested file could exhaust the memory.
    """
    depth = 0
    for event, _ in _iterate_json(path, lambda file: ijson.basic_parse(file, buf_size=_JSON_PIECE)):
        depth += _DEPTH_CHANGE.get(event, 0)
        if depth > MAX_DEPTH:
            raise Invalid.field("file", "The file is nested too deep to be read.")


def json_events(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield (prefix, event, value) for every JSON token of the file, as ijson does.

    Raise `Invalid`, with the line number, if the JSON is invalid.
    """
    yield from _iterate_json(
        path, lambda file: ijson.parse(file, use_float=True, buf_size=_JSON_PIECE)
    )


def json_items(path: Path, prefix: str) -> Iterator[Any]:
    """Yield the JSON values at a path (ijson prefix) such as `item` or `data.message.item`.

    Raise `Invalid`, with the line number, if the JSON is invalid.
    """
    yield from _iterate_json(
        path, lambda file: ijson.items(file, prefix, use_float=True, buf_size=_JSON_PIECE)
    )


def _iterate_json(path: Path, read: Any) -> Iterator[Any]:
    with path.open("rb") as file:
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)
        lines = _LineCounter(file)
        try:
            yield from read(lines)
        except (ijson.JSONError, UnicodeDecodeError, ValueError, RecursionError) as error:
            message = f"The file is not valid JSON: line {max(1, lines.line)} can’t be read."
            raise Invalid.field("file", message) from error
