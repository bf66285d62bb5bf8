"""Register this app's personal data for export, import and erasure; render pages for the export."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from zoneinfo import ZoneInfo

from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from foundation.text.richtext import file_name, one_line, quoted
from memories import portrait
from memories.extraction.masking import additions_in_words
from memories.files import file_copies
from memories.files.grammar import KINDS
from memories.indexing import reindexing
from memories.models import (
    Arbitration,
    DailyNote,
    FileVersion,
    Fragment,
    Kind,
    LexicalEntry,
    Memory,
    MemoryFile,
    MemoryStatus,
    MemoryVersion,
    PortraitPhrase,
    Project,
    RecallHit,
    RecallTrace,
    Refusal,
    Relation,
    Source,
    Tombstone,
    Vector,
    VersionInput,
)
from memories.transfer.import_rows import (
    STAYS_FORGOTTEN,
    FileRows,
    FileVersionRows,
    HitRows,
    MemoryRows,
    NoteRows,
    OfMemory,
    PhraseRows,
    SourceRows,
)
from memories.writing import memory_writes
from ops.accounts import users
from ops.models import User
from ops.portable_rows import exported_objects
from ops.registry import (
    ChildRows,
    DerivedRows,
    ErasableData,
    Page,
    Rows,
    register,
    register_readable_pages,
)

_MARK = re.compile(r" ?<!-- mem_\w+ -->")
_KIND_OF_HEADING = {word: kind for kind, zh in KINDS.items() for word in (kind, zh)}


class SurveyCache(ErasableData):
    """The cached counts of the memory list's filters."""

    name = "cache"
    order = 2

    def erase(self, user_id: int) -> Mapping[str, int]:
        memory_writes.drop_cached_counts(user_id)
        return {}


class FileCopies(ErasableData):
    """The copies of memory files in a folder.

    The copies aren't exported, since the next sync writes them again.
    """

    name = "file_copies"
    order = 27

    def erase(self, user_id: int) -> Mapping[str, int]:
        count = file_copies.erase(user_id)
        return {"files:copy": count} if count else {}


class VectorRows(DerivedRows):
    """The vectors of a user's texts; erasing them also drops the user's own vector index."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        counts = super().erase(user_id)
        reindexing.drop_user_index(user_id)
        return counts


register(
    SurveyCache(),
    FileCopies(),
    HitRows(RecallHit, order=10, inside=("trace",)),
    ChildRows(RecallTrace, order=11, parents=("conversation", "answer")),
    OfMemory(
        Arbitration,
        order=12,
        inside=("memory", "target", "turn"),
        parents=("memory", "target", "turn"),
    ),
    OfMemory(Relation, order=13, inside=("memory",), parents=("memory", "other")),
    VectorRows(Vector, order=14),
    DerivedRows(LexicalEntry, order=15),
    DerivedRows(Fragment, order=16),
    SourceRows(Source, order=17, inside=("memory",)),
    OfMemory(VersionInput, order=18, inside=("output",), parents=("output", "input")),
    OfMemory(Refusal, order=19, inside=("turn",), parents=("turn",)),
    PhraseRows(PortraitPhrase, order=19, parents=("version",)),
    OfMemory(MemoryVersion, order=20, inside=("memory",)),
    MemoryRows(
        Memory,
        order=21,
        leave_out=("content_hash", "chunk_count", "indexed_at"),
    ),
    NoteRows(DailyNote, order=22),
    FileVersionRows(FileVersion, order=23, leave_out=("typed",), inside=("file",)),
    FileRows(MemoryFile, order=24, leave_out=("written_version",), natural=("path",)),
    Rows(
        Tombstone,
        order=25,
        leave_out=("text_hash", "about_hash", "word_hashes", "pieces", "piece_size"),
        stays=STAYS_FORGOTTEN,
    ),
    OfMemory(Project, order=26, natural=("key",)),
)


@register_readable_pages
def memory_pages(user: User, conversation: int | None) -> Iterator[Page]:
    """Yield the pages of an export: about the user, the memories, then files and notes.

    The export of a single conversation contains none of them.
    """
    if conversation is not None:
        return
    zone = ZoneInfo(users.settings_of(user).timezone)
    yield Page("about-you.md", _portrait(user))
    yield Page("memories.md", _memories(user, zone))
    for file in exported_objects(MemoryFile.objects.filter(user=user), chunk=20):
        name = file_name(file.path.removesuffix(".md").replace("/", " "), fallback=str(file.pk))
        yield Page(f"files/{name}.md", _file_lines(file.content))
    if DailyNote.objects.filter(user=user, file=None).exists():
        yield Page("notes.md", _notes(user))


def _file_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        kind = _KIND_OF_HEADING.get(line.removeprefix("## "))
        yield f"## {Kind(kind).label}" if kind else _MARK.sub("", line)


def _portrait(user: User) -> Iterator[str]:
    yield "# " + _("About you")
    yield from portrait.lines_of(portrait.portrait_of(user))


def _memories(user: User, zone: ZoneInfo) -> Iterator[str]:
    yield "# " + _("Memories")
    own = Memory.objects.filter(user=user)
    sections = [("", own.filter(status=MemoryStatus.ACTIVE))]
    sections += [
        (str(status.label), own.filter(status=status))
        for status in MemoryStatus
        if status != MemoryStatus.ACTIVE
    ]
    binned = Memory.visible.filter(user=user, deleted_at__isnull=False)
    for title, rows in [*sections, (_("Recycle bin"), binned)]:
        for kind in Kind:
            found = exported_objects(rows.filter(kind=kind))
            first = next(found, None)
            if first is None:
                continue
            heading = f"{title}: {kind.label}" if title else str(kind.label)
            yield from ("", f"## {heading}", "")
            yield from _memory(first, zone)
            for memory in found:
                yield from _memory(memory, zone)


def _memory(memory: Memory, zone: ZoneInfo) -> Iterator[str]:
    pinned = " 📌" if memory.pinned else ""
    yield f"- {one_line(additions_in_words(memory.content))}{pinned}"
    known_since = localtime(memory.created_at, zone).date().isoformat()
    tags = "".join(f" #{one_line(tag)}" for tag in memory.tags)
    yield f"  *{known_since} · {memory.get_origin_display()}{tags}*"
    source = Source.objects.filter(memory=memory).exclude(quote="").order_by("-pk").first()
    if source is not None:
        yield f"  {quoted(one_line(source.quote))}"


def _notes(user: User) -> Iterator[str]:
    yield "# " + _("Daily notes")
    day = None
    for note in exported_objects(DailyNote.objects.filter(user=user, file=None)):
        if note.day and note.day != day:
            day = note.day
            yield from ("", f"## {day.isoformat()}", "")
        yield f"- {one_line(note.text)}"
