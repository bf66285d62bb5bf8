"""A chat as a Markdown page, in which the speaker is named at the beginning of a line.

Recognised are `**User:** …`, `User: …`, `## Assistant`, `You said:`, `我：…`, and our own export
(`**You** · 2026-03-02 18:05` with the text as a quotation below). The text up to the next such line
belongs to that speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from conversations.importing.formats import values
from conversations.importing.formats.types import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMessage,
    Report,
    Skipped,
    Why,
)

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
_ENOUGH = 2


@dataclass
class _Said:
    line: int
    role: str
    at: datetime | None
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the text; a message that is one quotation loses its marks."""
        said = [line for line in self.lines if line.strip()]
        if said and all(line.startswith(">") for line in said):
            return "\n".join(_QUOTE.sub("", line) for line in self.lines).strip()
        return "\n".join(self.lines).strip()


def matches(lines: list[str]) -> bool:
    marks = 0
    for line in lines:
        marks += _mark(line, number=0) is not None
        if marks >= _ENOUGH:
            return True
    return False


def read(lines: list[str], *, now: datetime, report: Report) -> Iterator[ImportedConversation]:
    title = next((found[1] for line in lines if (found := _TITLE.match(line))), "")
    messages = tuple(_messages(lines, now=now, report=report))
    if messages:
        yield ImportedConversation(
            client_id=values.client_id(values.label(title) or "transcript"),
            title=values.label(title, longest=values.TITLE_LENGTH),
            kind="main",
            started_at=messages[0].created_at,
            messages=messages,
        )


def _messages(lines: list[str], *, now: datetime, report: Report) -> Iterator[ImportedMessage]:
    """Date messages without times one second apart, ending now."""
    said = list(_said(lines))
    at, dated = now - timedelta(seconds=len(said)), False
    for number, one in enumerate(said, start=1):
        dated = dated or one.at is not None
        at = max(one.at, at) if one.at and number > 1 else one.at or at + timedelta(seconds=1)
        try:
            content = values.text(one.text())
        except values.BadRow as bad:
            report(Skipped(f"line {one.line}", bad.why))
            continue
        yield ImportedMessage(str(number), one.role, "", content, at, dated=dated)
    if not said:
        report(Skipped("file", Why.EMPTY))


def _said(lines: list[str]) -> Iterator[_Said]:
    current: _Said | None = None
    for number, line in enumerate(lines, start=1):
        mark = _mark(line, number=number)
        if mark is not None:
            if current is not None:
                yield current
            current = mark
        elif current is not None:
            current.lines.append(line)
    if current is not None:
        yield current


def _mark(line: str, *, number: int) -> _Said | None:
    found = _MARK.match(line)
    if found is None:
        return None
    rest = found["rest"].strip()
    has_colon = bool(found["colon"] or found["colon2"])
    # A plain word at the beginning of a sentence doesn't name a speaker.
    if not has_colon and (rest or not (found["bold"] or line.startswith("#"))):
        return None
    role = USER if _IS_USER.match(found["who"]) else ASSISTANT
    return _Said(number, role, _time(found["at"]), [rest] if rest else [])


def _time(written: str | None) -> datetime | None:
    try:
        return values.moment(written) if written else None
    except values.BadRow:
        return None
