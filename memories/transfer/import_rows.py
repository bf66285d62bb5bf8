"""Import memories with their versions and sources from an export file.

While long-term memory is off, no memories are imported. The search index is built afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_noop

from memories.extraction.masking import masked_values, screen
from memories.files import daily_notes, line_index, memory_files
from memories.forgetting import tombstones
from memories.learning import learnability
from memories.models import Change, DailyNote, Memory, MemoryFile, MemoryVersion, Origin, Source
from memories.writing import memory_writes, portrait_phrases
from memories.writing.memory_writes import SourceInput, content_hash
from ops import ledger
from ops.ledger import Decision, decision_handler
from ops.models import User
from ops.portable_rows import OUR_ID, Loading, RejectedRow, find_by_columns
from ops.registry import ChildRows, Rows

MEMORY_OFF = gettext_noop("long-term memory is turned off")
EMPTY = gettext_noop("the memory has no text")
TOO_LONG = gettext_noop("the text is longer than is allowed here")
SECRET = gettext_noop("it looks like a secret, and secrets are not remembered")
FILE_THERE = gettext_noop("you already have a file with this name, and it stays as it is")
FORGOTTEN = gettext_noop("it was forgotten here")
STAYS_FORGOTTEN = gettext_noop("forgotten content leaves nothing behind that could be exported")


@dataclass(frozen=True)
class OfMemory(ChildRows):
    """Exports and imports rows of long-term memory.

    On import, secrets are masked. While long-term memory is off, no rows are imported.
    """

    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        if not loading.takes_memories:
            raise RejectedRow(MEMORY_OFF)
        mask_words(row)


@dataclass(frozen=True)
class MemoryRows(OfMemory):
    """Exports and imports memories; secrets are masked or refused on import.

    A memory whose id wasn't assigned by a Memory Center is skipped if a memory with the same text
    exists.
    """

    def prepare(self, loading: Loading, row: Memory, given: Mapping[str, Any]) -> None:
        screened = screen(row.content)
        if screened.drop:
            raise RejectedRow(SECRET)
        row.content = screened.text
        super().prepare(loading, row, given)
        if not OUR_ID.fullmatch(str(given.get("id"))):
            row.content = row.content.strip()
            loading.state.setdefault("from elsewhere", set()).add(row.public_id)
        if not row.content.strip():
            raise RejectedRow(EMPTY)
        if len(row.content) > max(settings.MAX_MEMORY_CHARS, settings.MAX_INGEST_CHARS):
            raise RejectedRow(TOO_LONG)
        # A memory without a date counts as older than any request to forget.
        at = row.created_at if given.get("created_at") else None
        provenance = learnability.provenance_of_text("", at=at)
        if tombstones.is_forgotten(
            user=loading.user, text=row.content, quote="", provenance=provenance
        ):
            raise RejectedRow(FORGOTTEN, is_skipped_silently=True)
        row.content_hash = content_hash(row.content)

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        found = super().known(loading, rows)
        foreign = loading.state.get("from elsewhere", set())
        same = find_by_columns(Memory, loading.user, rows, ("content_hash",)) if foreign else found
        return [
            one or (other if row.public_id in foreign else None)
            for row, one, other in zip(rows, found, same, strict=True)
        ]

    def finished(self, loading: Loading) -> None:
        if not loading.state.get("completes"):
            loading.state["completes"] = True
            loading.run_at_end(lambda: _complete(loading))


@dataclass(frozen=True)
class SourceRows(OfMemory):
    def prepare(self, loading: Loading, row: Source, given: Mapping[str, Any]) -> None:
        super().prepare(loading, row, given)
        row.reference = loading.with_new_ids(row.reference)


@dataclass(frozen=True)
class PhraseRows(ChildRows):
    """Exports the phrases of the portrait.

    Phrases aren't imported, since a chat model writes them again.
    """

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """Skip all rows, because phrases aren't imported."""


@dataclass(frozen=True)
class HitRows(ChildRows):
    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        row.target_public_id = loading.with_new_ids(row.target_public_id)


@dataclass(frozen=True)
class NoteRows(OfMemory):
    """Exports and imports daily notes.

    If the number of an imported line is already taken, the line is appended to the note of its day.
    Indexed lines of memory files aren't exported, since they are created again from the files.
    """

    def _visible(self, user: User) -> QuerySet[Any]:
        return super()._visible(user).filter(file=None)

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        found = super().known(loading, rows)
        taken = find_by_columns(DailyNote, loading.user, rows, ("day", "number"))
        last: dict[Any, int] = loading.state.setdefault("last line", {})
        for row, key, other in zip(rows, found, taken, strict=True):
            if key is None and (other is not None or row.day in last):
                newest = last.get(row.day) or daily_notes.last_number(row.user_id, row.day)
                last[row.day] = row.number = 1 + newest
        return found


@dataclass(frozen=True)
class FileRows(OfMemory):
    """Exports and imports memory files; an existing file with the same name is kept unchanged."""

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        found = super().known(loading, rows)
        texts = dict(
            self.model._base_manager.filter(pk__in=[key for key in found if key]).values_list(
                "pk", "content"
            )
        )
        for row, key in zip(rows, found, strict=True):
            if key is not None and texts[key] != row.content:
                loading.leave_out(self.name, FILE_THERE)
        return found

    def finished(self, loading: Loading) -> None:
        loading.run_at_end(lambda: _update_ids(loading, self.model))


@dataclass(frozen=True)
class FileVersionRows(FileRows):
    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        return Rows.known(self, loading, rows)


def mask_words(row: Any) -> None:
    """Mask the secrets in all text fields of the row."""
    for name in row.words:
        setattr(row, name, masked_values(getattr(row, name)))


def _update_ids(loading: Loading, model: Any) -> None:
    for row in model._base_manager.filter(pk__in=loading.added[model]).iterator(chunk_size=50):
        text = loading.with_new_ids(row.content)
        if text != row.content:
            model._base_manager.filter(pk=row.pk).update(content=text)
            row.content = text
        if model is MemoryFile:
            line_index.update_index(row, user=loading.user)


def _complete(loading: Loading) -> None:
    """Complete the imported memories: add missing versions and sources, and request phrases."""
    ours = Memory.everything.filter(pk__in=loading.added[Memory])
    record_return(ours)
    portrait_phrases.request(user=loading.user)
    shown = MemoryVersion.everything.filter(
        memory=OuterRef("pk"), number=OuterRef("current_version")
    )
    MemoryVersion.objects.bulk_create(
        [
            memory_writes.new_version(
                memory, change=Change.CREATED, actor=Origin.IMPORT, at=memory.created_at
            )
            for memory in ours.filter(~Exists(shown)).iterator()
        ]
    )
    sources = Source.everything.filter(memory=OuterRef("pk"))
    unsourced = ours.filter(~Exists(sources))
    versions = MemoryVersion.everything.filter(memory__in=unsourced, number__gte=1).select_related(
        "memory"
    )
    source = SourceInput(origin=Origin.IMPORT, reference=loading.reference)
    Source.objects.bulk_create(
        [
            memory_writes.new_source(version, source)
            for version in versions.iterator()
            if version.number == version.memory.current_version
        ]
    )


@decision_handler("memory")
def _memory(decision: Decision) -> bool:
    """Move a memory back to the recycle bin if it was deleted after the restored backup was made.

    The time in the bin counts from the original deletion. Return True if a memory was moved.
    """
    if not decision.state["recycled"]:
        return False
    purge_at = decision.at + timedelta(days=settings.RECYCLE_DAYS)
    rows = Memory.visible.filter(public_id=decision.target, deleted_at__isnull=True)
    return bool(rows.update(deleted_at=decision.at, purge_at=purge_at, removal_asked_at=None))


def record_return(rows: QuerySet[Memory]) -> None:
    """Record in the ledger that deleted memories exist again because they were imported."""
    binned = {one.target for one in ledger.latest_decisions() if one.kind == "memory"}
    for public_id in rows.filter(public_id__in=binned, deleted_at=None).values_list(
        "public_id", flat=True
    ):
        ledger.record_decision("memory", public_id, recycled=False)


@decision_handler("file")
def _file(decision: Decision) -> bool:
    """Move a file back to the recycle bin if it was deleted after the restored backup was made.

    Primary keys are reused after a restore. A file with this key that was created after the
    deletion is therefore a different file, and is left unchanged.
    """
    user = User.objects.filter(subject=UUID(decision.state["subject"])).first()
    if user is None or not decision.state["recycled"]:
        return False
    rows = MemoryFile.objects.filter(user=user, pk=int(decision.target))
    file = rows.filter(created_at__lt=decision.at).first()
    if file is None:
        return False
    memory_files.recycle_notes([file], user=user)
    return True
