"""Which memory files a person has, without reading what stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Q

from memories.files.paths import CURATED, LEARNINGS, MEMORY
from memories.models import DailyNote, Memory, MemoryFile, MemoryStatus
from memories.services import notes, own_files
from memories.services.file_contents import LEARNED
from ops.models import User

_MOST = 100  # notes of the person's own, and files in the bin, that one page lists


@dataclass(frozen=True)
class Curated:
    """One of the two curated files and how many memories stand in it."""

    path: str
    memories: int


@dataclass(frozen=True)
class Own:
    """A note of the person's own."""

    id: int
    path: str
    changed_at: datetime


@dataclass(frozen=True)
class Day:
    """A day's note."""

    path: str
    day: date
    lines: int


def curated_of(user: User) -> list[Curated]:
    rows = Memory.objects.filter(user=user, project=None, status=MemoryStatus.ACTIVE)
    learned = Q(kind__in=LEARNED)
    counts = rows.aggregate(
        learnings=Count("pk", filter=learned), memory=Count("pk", filter=~learned)
    )
    return [Curated(MEMORY, counts["memory"]), Curated(LEARNINGS, counts["learnings"])]


def own_of(user: User) -> Sequence[Own]:
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=CURATED).order_by("path")
    return [Own(*one) for one in rows.values_list("pk", "path", "updated_at")[:_MOST]]


def binned_of(user: User) -> Sequence[Own]:
    rows = own_files.binned(user).only("path", "deleted_at", "updated_at")
    return [Own(one.pk, one.path, one.deleted_at or one.updated_at) for one in rows[:_MOST]]


def days_of(user: User, *, before: date | None = None, limit: int) -> tuple[list[Day], bool]:
    """The days with notes before that one, the last first, and whether there are earlier ones."""
    rows = DailyNote.objects.filter(user=user, day__isnull=False)
    if before is not None:
        rows = rows.filter(day__lt=before)
    counted = rows.values("day").annotate(lines=Count("pk"))
    found: list[Any] = list(counted.order_by("-day")[: limit + 1])
    days = [Day(notes.path_of(one["day"]), one["day"], one["lines"]) for one in found]
    return days[:limit], len(days) > limit
