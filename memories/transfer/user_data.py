"""Registers the personal data in this app's tables, for export, import and erasing."""

from __future__ import annotations

from collections.abc import Mapping

from memories.files import file_copies
from memories.indexing import user_indexes
from memories.models import (
    Arbitration,
    DailyNote,
    FileVersion,
    Fragment,
    LexicalEntry,
    Memory,
    MemoryFile,
    MemoryVersion,
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
    SourceRows,
)
from memories.writing import facet_cache
from ops.registry import Derived, Rows, register
from ops.transfer.personal_rows import DerivedRows, RowsUnder


class SurveyCache(Derived):
    """The cached counts of the list's facets."""

    name = "cache"
    order = 2

    def erase(self, user_id: int) -> Mapping[str, int]:
        facet_cache.drop(user_id)
        return {}


class FileCopies(Derived):
    """The copies of memory files in their folder; the next sync writes them again."""

    name = "file_copies"
    order = 27

    def erase(self, user_id: int) -> Mapping[str, int]:
        count = file_copies.erase(user_id)
        return {"files:copy": count} if count else {}


class VectorRows(DerivedRows):
    """The vectors; after their erase, the user's own index is dropped too."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        counts = super().erase(user_id)
        user_indexes.let_go(user_id)
        return counts


register(
    SurveyCache(),
    FileCopies(),
    HitRows(RecallHit, order=10, inside=("trace",)),
    RowsUnder(RecallTrace, order=11, parents=("conversation", "answer")),
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
    SourceRows(Source, order=17, leave_out=("hidden_at",), inside=("memory",)),
    OfMemory(VersionInput, order=18, inside=("output",), parents=("output", "input")),
    OfMemory(Refusal, order=19, inside=("turn",), parents=("turn",)),
    OfMemory(MemoryVersion, order=20, leave_out=("hidden_at",), inside=("memory",)),
    MemoryRows(
        Memory,
        order=21,
        leave_out=("content_hash", "hidden_at", "chunk_count", "indexed_at"),
    ),
    NoteRows(DailyNote, order=22, leave_out=("hidden_at",)),
    FileVersionRows(FileVersion, order=23, leave_out=("typed", "hidden_at"), inside=("file",)),
    FileRows(MemoryFile, order=24, leave_out=("written_version", "hidden_at"), natural=("path",)),
    Rows(
        Tombstone,
        order=25,
        leave_out=("text_hash", "about_hash", "pieces", "piece_size"),
        stays=STAYS_FORGOTTEN,
    ),
    OfMemory(Project, order=26, leave_out=("hidden_at",), natural=("key",)),
)
