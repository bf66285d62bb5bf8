"""Parsers for exports of other programs and for our own export.

- Responses of mem0's API, and Markdown in the format of our memory files.
- ChatGPT's `conversations.json`: `[{"title", "create_time", "conversation_id", "current_node",
  "mapping": {id: {"parent", "children", "message": {"author": {"role"}, "content":
  {"content_type", "parts"}, …}}}}]`. The branch that ends in `current_node` is imported. Other
  branches (edited questions, repeated answers) are skipped, and so is all content except the text
  of the user and the assistant.
- A chat as a Markdown page that names the speaker at the beginning of a line, as in
  `**User:** …`, `User: …`, `## Assistant`, `You said:`, `我：…` ("me: …"), and our own export
  (`**You** · 2026-03-02 18:05`, followed by the text as a block quote). The text up to the next
  such line belongs to that speaker.
- Our own export: rows grouped by kind, in the order of the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from conversations.importing.formats import values
from conversations.importing.formats.values import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMemory,
    ImportedMessage,
    Report,
    SkippedPart,
    SkipReason,
)
from foundation.errors import Invalid
from memories.files.grammar import KINDS

FORMAT, VERSION = "memory_center", 1
Table = tuple[str, Iterator[Mapping[str, Any]]]
_MAX_TAGS, _MAX_TAG, _MAX_NAME = 20, 50, 200
_LONGEST_BRANCH = 100_000
_TEXT_TYPES = ("text", "multimodal_text")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_LINE = re.compile(r"^(?:[-*+]|\d{1,3}[.)、])\s*(?<=[\s、])(?:\[[ xX]\]\s+)?(.*)$")
_ID = re.compile(r"(?<!\s)\s*+<!--\s*(mem_[0-9a-z]+)\s*-->\s*$")
_USERS = "user|you|me|human|you said|我|用户|你|你说"
_ASSISTANTS = (
    "assistant|ai|bot|chatgpt|chatgpt said|claude|gpt|gemini|deepseek|copilot|助手|助理|机器人"
)
_MARK = re.compile(
    rf"^(?:#{{1,6}}\s*)?(?P<bold>\*\*|__)?(?P<who>{_USERS}|{_ASSISTANTS})\s*(?P<colon>[:：])?"
    rf"(?(bold)(?:\*\*|__))\s*(?P<colon2>[:：])?(?:\s*·\s*(?P<at>\d{{4}}-\d\d-\d\d \d\d:\d\d))?"
    r"(?P<rest>.*)$",
    re.IGNORECASE,
)
_IS_USER = re.compile(rf"(?:{_USERS})$", re.IGNORECASE)
_TITLE = re.compile(r"^#\s+(.+?)\s*$")
_QUOTE = re.compile(r"^> ?")
_MIN_SPEAKER_LINES = 2
_ITEMS_A_LINE = 3  # minimum number of list items per line of other text


def is_mem0(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("memory"), str)


def read_mem0(path: Path, *, prefix: str, report: Report) -> Iterator[ImportedMemory]:
    """Yield the memories of mem0's `get_all` response, or of a plain list of memories."""
    for position, raw in enumerate(values.json_items(path, prefix)):
        with values.report_bad_row(f"[{position}]", report):
            row = values.mapping(raw)
            metadata = row.get("metadata")
            created_at = row.get("created_at")
            yield ImportedMemory(
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
    """Return True if the file is a list of memories.

    This is the case if a list item ends with a memory id or is in a section named after a kind of
    memory, or if the file consists mostly of list items and isn't a chat.
    """
    return _names_memories(lines) or (_is_plain_list(lines) and not is_transcript(lines))


def _is_plain_list(lines: list[str]) -> bool:
    texts = [line for line in lines if line.strip()]
    items = [line for line in texts if _LINE.match(line)]
    other = [line for line in texts if not _LINE.match(line) and not _HEADING.match(line)]
    return bool(items) and texts[0] not in other and len(other) * _ITEMS_A_LINE <= len(items)


def _names_memories(lines: list[str]) -> bool:
    kind = ""
    for line in lines:
        if heading := _HEADING.match(line):
            kind = _kind(heading[1])
        elif _LINE.match(line) and (kind or _ID.search(line)):
            return True
    return False


def read_markdown(lines: list[str], *, report: Report) -> Iterator[ImportedMemory]:
    """Yield each list item as a memory; the heading above the item determines the memory's kind.

    Other text is reported as skipped.
    """
    kind = "fact"
    for number, line in enumerate(lines, start=1):
        if heading := _HEADING.match(line):
            kind = _kind(heading[1]) or "fact"
            continue
        found = _LINE.match(line)
        if found is None:
            if line.strip():
                report(SkippedPart(f"line {number}", SkipReason.NO_MEMORY))
            continue
        content = _ID.sub("", found[1]).replace("\\n", "\n")
        with values.report_bad_row(f"line {number}", report):
            yield ImportedMemory(content=values.text(content), kind=kind)


def _kind(heading: str) -> str:
    word = heading.strip().lower().rstrip("s")
    return word if word in KINDS else ""


def is_chatgpt(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("mapping"), dict)


def read_chatgpt(path: Path, *, prefix: str, report: Report) -> Iterator[ImportedConversation]:
    """Yield one conversation at a time; the file is never loaded into memory as a whole."""
    taken: set[str] = set()
    for position, raw in enumerate(values.json_items(path, prefix)):
        where = f"[{position}]"
        with values.report_bad_row(where, report):
            row = values.mapping(raw)
            nodes = values.mapping(row.get("mapping"))
            started_at = _chatgpt_time(row.get("create_time"))
            client_id = row.get("conversation_id") or row.get("id") or f"chatgpt-{where[1:-1]}"
            messages = tuple(
                _chatgpt_messages(row, nodes, started_at=started_at, where=where, report=report)
            )
            if not messages:
                raise values.BadRow(SkipReason.EMPTY)
            conversation = ImportedConversation(
                client_id=values.unique(values.client_id(client_id), taken),
                title=values.label(row.get("title"), longest=values.TITLE_LENGTH),
                kind="main",
                started_at=started_at or messages[0].created_at,
                messages=messages,
            )
            taken.add(conversation.client_id)
            yield conversation


def _chatgpt_messages(
    row: Mapping[str, Any],
    nodes: Mapping[str, Any],
    *,
    started_at: datetime | None,
    where: str,
    report: Report,
) -> Iterator[ImportedMessage]:
    seen: set[str] = set()
    before, dated = started_at or datetime.now(UTC), started_at is not None
    for place, (node_id, message) in enumerate(_branch(row, nodes)):
        role = _chatgpt_role(message)
        if role is None:
            continue
        with values.report_bad_row(f"{where} message {place}", report):
            parts = values.mapping(message.get("content")).get("parts")
            if not isinstance(parts, list):
                raise values.BadRow(SkipReason.NO_TEXT)
            content = values.text("\n".join(part for part in parts if isinstance(part, str)))
            said_at = _chatgpt_time(message.get("create_time"))
            before, dated = max(before, said_at or before), dated or said_at is not None
            client_id = values.unique(values.client_id(message.get("id") or node_id), seen)
            seen.add(client_id)
            yield ImportedMessage(client_id, role, "", content, before, dated=dated)


def _branch(
    row: Mapping[str, Any], nodes: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    at = row.get("current_node") or _last_leaf(nodes)
    while isinstance(at, str) and at in nodes and at not in seen and len(seen) < _LONGEST_BRANCH:
        seen.add(at)
        node = nodes[at]
        if not isinstance(node, dict):
            break
        if isinstance(node.get("message"), dict):
            found.append((at, node["message"]))
        at = node.get("parent")
    return found[::-1]


def _last_leaf(nodes: Mapping[str, Any]) -> str | None:
    names = [name for name, node in nodes.items() if isinstance(node, dict)]
    return next((one for one in reversed(names) if not nodes[one].get("children")), None)


def _chatgpt_role(message: Mapping[str, Any]) -> str | None:
    """Return the role of the speaker, or None for a message that isn't part of the visible chat.

    Such messages are instructions, tool calls and intermediate steps.
    """
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else None
    hidden = message.get("metadata")
    if isinstance(hidden, dict) and hidden.get("is_visually_hidden_from_conversation"):
        return None
    if message.get("recipient") not in (None, "all"):
        return None
    content = message.get("content")
    kind = content.get("content_type") if isinstance(content, dict) else None
    if kind is not None and kind not in _TEXT_TYPES:
        return None
    return role if role in (USER, ASSISTANT) else None


def _chatgpt_time(value: object) -> datetime | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        moment = datetime.fromtimestamp(value, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment if 1970 <= moment.year <= 9998 else None


@dataclass
class _TranscriptMessage:
    line: int
    role: str
    at: datetime | None
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the text; if all of it is a Markdown quotation, remove the `>` of each line."""
        filled = [line for line in self.lines if line.strip()]
        if filled and all(line.startswith(">") for line in filled):
            return "\n".join(_QUOTE.sub("", line) for line in self.lines).strip()
        return "\n".join(self.lines).strip()


def is_transcript(lines: list[str]) -> bool:
    marks = (line for line in lines if _speaker_line(line, number=0) is not None)
    return len(list(islice(marks, _MIN_SPEAKER_LINES))) == _MIN_SPEAKER_LINES


def read_transcript(
    lines: list[str], *, now: datetime, report: Report
) -> Iterator[ImportedConversation]:
    title = next((found[1] for line in lines if (found := _TITLE.match(line))), "")
    messages = tuple(_transcript_messages(lines, now=now, report=report))
    if messages:
        yield ImportedConversation(
            client_id=values.client_id(values.label(title) or "transcript"),
            title=values.label(title, longest=values.TITLE_LENGTH),
            kind="main",
            started_at=messages[0].created_at,
            messages=messages,
        )


def _transcript_messages(
    lines: list[str], *, now: datetime, report: Report
) -> Iterator[ImportedMessage]:
    """Yield the messages of a transcript.

    If the file contains no times, the messages are dated one second apart, ending at `now`.
    """
    messages = list(_split_transcript(lines))
    at, dated = now - timedelta(seconds=len(messages)), False
    for number, one in enumerate(messages, start=1):
        dated = dated or one.at is not None
        at = max(one.at, at) if one.at and number > 1 else one.at or at + timedelta(seconds=1)
        with values.report_bad_row(f"line {one.line}", report):
            content = values.text(one.text())
            yield ImportedMessage(str(number), one.role, "", content, at, dated=dated)
    if not messages:
        report(SkippedPart("file", SkipReason.EMPTY))


def _split_transcript(lines: list[str]) -> Iterator[_TranscriptMessage]:
    current: _TranscriptMessage | None = None
    for number, line in enumerate(lines, start=1):
        mark = _speaker_line(line, number=number)
        if mark is not None:
            if current is not None:
                yield current
            current = mark
        elif current is not None:
            current.lines.append(line)
    if current is not None:
        yield current


def _speaker_line(line: str, *, number: int) -> _TranscriptMessage | None:
    found = _MARK.match(line)
    if found is None:
        return None
    rest = found["rest"].strip()
    has_colon = bool(found["colon"] or found["colon2"])
    # Without a colon, a name marks a speaker only if it is alone on its line and bold or a heading.
    if not has_colon and (rest or not (found["bold"] or line.startswith("#"))):
        return None
    role = USER if _IS_USER.match(found["who"]) else ASSISTANT
    try:
        at = values.moment(found["at"]) if found["at"] else None
    except values.BadRow:
        at = None
    return _TranscriptMessage(number, role, at, [rest] if rest else [])


def survey_export(path: Path) -> Mapping[str, int]:
    """Read the whole file once, and return its row counts by kind.

    Raise `Invalid` if the file is broken or truncated, or was written by another version.
    """
    rows: Counter[str] = Counter()
    version, complete = None, False
    for prefix, event, value in values.json_events(path):
        if event == "start_map" and prefix.startswith("data.") and prefix.count(".") == 2:
            rows[prefix.split(".")[1]] += prefix.endswith(".item")
        elif prefix == "version":
            version = value
        elif prefix == "complete":
            complete = value is True
    if version != VERSION:
        raise Invalid.field("file", "The export was made by another version and can’t be read.")
    if not complete:
        raise Invalid.field("file", "The export is cut off: its end is missing.")
    return rows


def export_tables(path: Path, counts: Mapping[str, int]) -> Iterator[Table]:
    for name, count in counts.items():
        if count:
            yield name, values.json_items(path, f"data.{name}.item")
