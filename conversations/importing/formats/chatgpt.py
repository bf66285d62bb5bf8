"""ChatGPT's `conversations.json`: each conversation is a tree with one visible branch.

`[{"title", "create_time", "conversation_id", "current_node", "mapping": {id: {"parent", "children",
"message": {"author": {"role"}, "content": {"content_type", "parts"}, …}}}}]`. The branch that ends
in `current_node` is imported. Other branches (edited questions, repeated answers) are left out, and
so is everything except text of either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conversations.importing.formats import json_stream, values
from conversations.importing.formats.types import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMessage,
    Report,
    Skipped,
    Why,
)

_LONGEST_BRANCH = 100_000
_TEXT_TYPES = ("text", "multimodal_text")


def matches(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("mapping"), dict)


def read(path: Path, *, prefix: str, report: Report) -> Iterator[ImportedConversation]:
    """Yield one conversation after the other; the file is never completely in memory."""
    taken: set[str] = set()
    for position, raw in enumerate(json_stream.items(path, prefix)):
        where = f"[{position}]"
        try:
            conversation = _conversation(raw, where=where, taken=taken, report=report)
        except values.BadRow as bad:
            report(Skipped(where, bad.why))
            continue
        taken.add(conversation.client_id)
        yield conversation


def _conversation(
    raw: object, *, where: str, taken: set[str], report: Report
) -> ImportedConversation:
    row = values.mapping(raw)
    nodes = values.mapping(row.get("mapping"))
    started_at = _time(row.get("create_time"))
    client_id = row.get("conversation_id") or row.get("id") or f"chatgpt-{where[1:-1]}"
    messages = tuple(_messages(row, nodes, started_at=started_at, where=where, report=report))
    if not messages:
        raise values.BadRow(Why.EMPTY)
    return ImportedConversation(
        client_id=values.unique(values.client_id(client_id), taken),
        title=values.label(row.get("title"), longest=values.TITLE_LENGTH),
        kind="main",
        started_at=started_at or messages[0].created_at,
        messages=messages,
    )


def _messages(
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
        role = _role(message)
        if role is None:
            continue
        try:
            content = _text(message.get("content"))
            said_at = _time(message.get("create_time"))
            before, dated = max(before, said_at or before), dated or said_at is not None
            client_id = values.unique(values.client_id(message.get("id") or node_id), seen)
        except values.BadRow as bad:
            report(Skipped(f"{where} message {place}", bad.why))
            continue
        seen.add(client_id)
        yield ImportedMessage(client_id, role, "", content, before, dated=dated)


def _branch(
    row: Mapping[str, Any], nodes: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages from the first to the current one."""
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
    leaves = [name for name, node in nodes.items() if isinstance(node, dict)]
    return next((one for one in reversed(leaves) if not nodes[one].get("children")), None)


def _role(message: Mapping[str, Any]) -> str | None:
    """Return None for hidden messages: instructions, tools, intermediate steps."""
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


def _text(content: object) -> str:
    parts = values.mapping(content).get("parts")
    if not isinstance(parts, list):
        raise values.BadRow(Why.NO_TEXT)
    return values.text("\n".join(part for part in parts if isinstance(part, str)))


def _time(value: object) -> datetime | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        moment = datetime.fromtimestamp(value, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment if 1970 <= moment.year <= 9998 else None
