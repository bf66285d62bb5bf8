"""The contents of memory files: which memories a file shows, and its current text.

The files MEMORY.md and LEARNINGS.md show memories and are called curated files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from types import MappingProxyType
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from memories.files import daily_notes
from memories.files.changes import CurrentMemory
from memories.files.grammar import LEARNINGS, MEMORY, Document, parse, render
from memories.models import DailyNote, Kind, Memory, MemoryFile, MemoryStatus
from ops.accounts import users
from ops.models import User

LEARNED = (Kind.SKILL, Kind.INSIGHT)
_TITLES: Mapping[tuple[str, bool], str] = MappingProxyType(
    {
        (MEMORY, False): "# Memory\n",
        (MEMORY, True): "# 记忆\n",
        (LEARNINGS, False): "# Learnings\n",
        (LEARNINGS, True): "# 经验\n",
    }
)
_LONG, _BEGINNING = 600, 200  # characters
_NOTE = re.compile(r"memory/(\d{4}-\d{2}-\d{2})\.md")
_SALT = "memories.file"


def active_memories(user: User) -> list[CurrentMemory]:
    """Return the user's active memories as files show them, most important first.

    Memories that belong to a project aren't shown in any file.
    """
    rows = Memory.objects.filter(user=user, project=None, status=MemoryStatus.ACTIVE)
    ordered = rows.order_by("-pinned", "-importance", "pk")
    return [_known(*row) for row in ordered.values_list("public_id", "kind", "content", "summary")]


def _known(public_id: str, kind: str, content: str, summary: str) -> CurrentMemory:
    if len(content) <= _LONG:
        return CurrentMemory(public_id, kind, content)
    text = summary.strip() or content[:_BEGINNING].rstrip() + "…"
    return CurrentMemory(public_id, kind, text, long=True)


def render_file(
    known: Sequence[CurrentMemory],
    *,
    user: User,
    path: str,
    keeping: Document,
    became: Mapping[int, str | None] | None = None,
) -> str:
    """Return the text of the curated file at `path`, which shows the memories of its kinds.

    `keeping` is the previous document, whose order and free text are kept. `became` is explained in
    `grammar.render`.
    """
    shown = [memory for memory in known if (memory.kind in LEARNED) == (path == LEARNINGS)]
    return render(shown, keeping=keeping, became=became, chinese=_reads_chinese(user))


def empty_document(user: User, path: str) -> Document:
    """Return the document of a new curated file, which contains only a title."""
    return parse(_TITLES[path, _reads_chinese(user)])


def _reads_chinese(user: User) -> bool:
    return users.settings_of(user).language.startswith("zh")


def row_of(user: User, path: str) -> MemoryFile | None:
    """Return the row of the user's file at this path, or None."""
    return MemoryFile.objects.filter(user=user, path=path).first()


def day_of(path: str) -> date | None:
    """Return the day if `path` is the path of a daily note, otherwise None."""
    found = _NOTE.fullmatch(path)
    if found is None or not found[1].isascii():
        return None
    try:
        return date.fromisoformat(found[1])
    except ValueError:
        return None


def note_of_day(user: User, day: date) -> tuple[str, datetime] | None:
    """Return the text of a day's note and the time of its last line, or None if it has no lines."""
    found = _notes(user, DailyNote.objects.filter(day=day))
    return next(((text, at) for _, text, at in found), None)


def days_of(user: User) -> list[tuple[date, str, datetime]]:
    """Return the day, the text and the time of the last line of each daily note, newest first."""
    return list(_notes(user, DailyNote.objects.all()))


def _notes(user: User, lines: QuerySet[DailyNote]) -> Iterator[tuple[date, str, datetime]]:
    zone = ZoneInfo(users.settings_of(user).timezone)
    ordered = lines.filter(user=user, day__isnull=False).order_by("-day", "number")
    for day, of_day in groupby(ordered, key=lambda line: line.on):
        found = list(of_day)
        text = "".join(f"{daily_notes.line_of(line, zone=zone)}\n" for line in found)
        yield day, f"# {day.isoformat()}\n\n{text}", found[-1].created_at


def etag_of(text: str) -> str:
    """Return the ETag for a file's text."""
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def digest_of(text: str) -> UUID:
    """Return a keyed hash that identifies a text without revealing it.

    The key is derived from the instance's secret key.
    """
    return UUID(bytes=salted_hmac(_SALT, text, algorithm="sha256").digest()[:16])
