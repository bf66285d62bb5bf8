"""Everything personal that stands in the tables of this app: how it leaves and how it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from memories.services import hot_cache
from ops.models import User
from ops.personal_rows import DerivedRows, RowsUnder
from ops.registry import Rows, register


class HotCache:
    """The person's most used memories in the cache: a copy, so there is nothing to take along."""

    name = "hot_cache"
    order = 2
    models: tuple[type[Model], ...] = ()

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def erase(self, user_id: int) -> Mapping[str, int]:
        hot_cache.drop(user_id)
        return {}

    def count(self, user: User) -> int:
        return 0


register(
    HotCache(),
    RowsUnder(RecallHit, order=10),
    RowsUnder(RecallTrace, order=11, parents=("conversation", "answer")),
    RowsUnder(Arbitration, order=12, parents=("memory", "target", "turn")),
    RowsUnder(Relation, order=13, parents=("memory", "other")),
    DerivedRows(Vector, order=14),
    DerivedRows(LexicalEntry, order=15),
    DerivedRows(Fragment, order=16),
    Rows(Source, order=17, leave_out=("hidden_at",)),
    RowsUnder(VersionInput, order=18, parents=("output", "input")),
    RowsUnder(Refusal, order=19, parents=("turn",)),
    Rows(MemoryVersion, order=20, leave_out=("hidden_at",)),
    Rows(Memory, order=21, leave_out=("content_hash", "hidden_at")),
    Rows(DailyNote, order=22, leave_out=("hidden_at",)),
    Rows(FileVersion, order=23, leave_out=("hidden_at",)),
    Rows(MemoryFile, order=24, leave_out=("hidden_at",)),
    Rows(Tombstone, order=25, leave_out=("text_hash", "about_hash")),
    Rows(Project, order=26, leave_out=("hidden_at",)),
)
