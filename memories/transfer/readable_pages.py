"""Memories, files and notes as pages of an export."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from memcenter.lib.text.richtext import file_name, one_line, quoted
from memories import portrait
from memories.models import DailyNote, Kind, Memory, MemoryFile, MemoryStatus, Source
from ops.accounts import users
from ops.models import User
from ops.registry import Page, reads_well
from ops.transfer.portable_rows import objects_out


@reads_well
def memory_pages(user: User, conversation: int | None) -> Iterator[Page]:
    """Yield the memories on one page, then the files and notes as they are."""
    if conversation is not None:
        return
    zone = ZoneInfo(users.settings_of(user).timezone)
    yield Page("about-you.md", _portrait(user))
    yield Page("memories.md", _memories(user, zone))
    for file in objects_out(MemoryFile.objects.filter(user=user), chunk=20):
        name = file_name(file.path.removesuffix(".md").replace("/", " "), fallback=str(file.pk))
        yield Page(f"files/{name}.md", iter(file.content.splitlines()))
    if DailyNote.objects.filter(user=user, file=None).exists():
        yield Page("notes.md", _notes(user))


def _portrait(user: User) -> Iterator[str]:
    yield "# " + _("About you")
    yield from portrait.lines_of(portrait.portrait_of(user))


def _memories(user: User, zone: ZoneInfo) -> Iterator[str]:
    yield "# " + _("Memories")
    for title, rows in _shelves(user):
        for kind in Kind:
            found = objects_out(rows.filter(kind=kind))
            first = next(found, None)
            if first is None:
                continue
            heading = f"{title}: {kind.label}" if title else str(kind.label)
            yield from ("", f"## {heading}", "")
            yield from _memory(first, zone)
            for memory in found:
                yield from _memory(memory, zone)


def _shelves(user: User) -> list[tuple[str, QuerySet[Memory]]]:
    """Return the active memories, those of each other status, and those in the recycle bin."""
    rows = Memory.objects.filter(user=user)
    shelves = [("", rows.filter(status=MemoryStatus.ACTIVE))]
    shelves += [
        (str(status.label), rows.filter(status=status))
        for status in MemoryStatus
        if status != MemoryStatus.ACTIVE
    ]
    binned = Memory.visible.filter(user=user, deleted_at__isnull=False)
    return [*shelves, (_("Recycle bin"), binned)]


def _memory(memory: Memory, zone: ZoneInfo) -> Iterator[str]:
    pinned = " 📌" if memory.pinned else ""
    yield f"- {one_line(memory.content)}{pinned}"
    known_since = localtime(memory.created_at, zone).date().isoformat()
    tags = "".join(f" #{one_line(tag)}" for tag in memory.tags)
    yield f"  *{known_since} · {memory.get_origin_display()}{tags}*"
    source = Source.objects.filter(memory=memory).exclude(quote="").order_by("-pk").first()
    if source is not None:
        yield f"  {quoted(one_line(source.quote))}"


def _notes(user: User) -> Iterator[str]:
    yield "# " + _("Daily notes")
    day = None
    for note in objects_out(DailyNote.objects.filter(user=user, file=None)):
        if note.day and note.day != day:
            day = note.day
            yield from ("", f"## {day.isoformat()}", "")
        yield f"- {one_line(note.text)}"
