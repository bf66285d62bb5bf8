"""Everything personal that stands in the tables of this app: how it leaves and how it goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Model

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
from memories.restored_rows import (
    STAYS_FORGOTTEN,
    FileRows,
    FileVersionRows,
    HitRows,
    MemoryRows,
    NoteRows,
    OfMemory,
    SourceRows,
)
from memories.services import file_copies, hot_cache, own_indexes
from ops.models import User
from ops.personal_rows import DerivedRows, RowsUnder
from ops.registry import Rows, register
from ops.restoring import Loading


class HotCache:
    """The person's most used memories in the cache: a copy, so there is nothing to take along."""

    name = "hot_cache"
    order = 2
    models: tuple[type[Model], ...] = ()

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def export_conversation(self, user: User, conversation: int) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """A copy comes back by itself."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        hot_cache.drop(user_id)
        return {}

    def count(self, user: User) -> int:
        return 0


class FileCopies:
    """The copies of memory files, in their folder: made from rows that are taken along."""

    name = "file_copies"
    order = 27
    models: tuple[type[Model], ...] = ()

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def export_conversation(self, user: User, conversation: int) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """The next sync writes them again."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        count = file_copies.erase(user_id)
        return {"files:copy": count} if count else {}

    def count(self, user: User) -> int:
        return 0


class VectorRows(DerivedRows):
    """What a person's own index was built over; without them it goes too."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        counts = super().erase(user_id)
        own_indexes.let_go(user_id)
        return counts


register(
    HotCache(),
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
    Rows(Tombstone, order=25, leave_out=("text_hash", "about_hash"), stays=STAYS_FORGOTTEN),
    OfMemory(Project, order=26, leave_out=("hidden_at",), natural=("key",)),
)
