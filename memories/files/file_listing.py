"""List a user's memory files without reading their contents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Q

from memories.files import daily_notes, user_notes
from memories.files.file_contents import LEARNED
from memories.files.text.paths import CURATED, LAYERS, LEARNINGS, MEMORY
from memories.models import DailyNote, Memory, MemoryFile, MemoryStatus
from ops.models import User

_MOST = 100  # own notes, and files in the bin, listed on a page


@dataclass(frozen=True)
class Curated:
    """A curated file and the number of memories in it."""

    path: str
    memories: int


@dataclass(frozen=True)
class Layer:
    """A persona layer; `changed_at` is None if it was never written."""

    path: str
    changed_at: datetime | None


@dataclass(frozen=True)
class Own:
    """A user's own note."""

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


def layers_of(user: User) -> list[Layer]:
    rows = MemoryFile.objects.filter(user=user, path__in=LAYERS)
    changed = dict(rows.values_list("path", "updated_at"))
    return [Layer(path, changed.get(path)) for path in LAYERS]


def own_of(user: User) -> Sequence[Own]:
    """Return the user's own notes, without the layers."""
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=(*CURATED, *LAYERS))
    rows = rows.order_by("path")
    return [Own(*one) for one in rows.values_list("pk", "path", "updated_at")[:_MOST]]


def binned_of(user: User) -> Sequence[Own]:
    rows = user_notes.binned(user).only("path", "deleted_at", "updated_at")
    return [Own(one.pk, one.path, one.deleted_at or one.updated_at) for one in rows[:_MOST]]


def days_of(user: User, *, before: date | None = None, limit: int) -> tuple[list[Day], bool]:
    """Return the days with notes before `before`, newest first, and whether more follow."""
    rows = DailyNote.objects.filter(user=user, day__isnull=False)
    if before is not None:
        rows = rows.filter(day__lt=before)
    counted = rows.values("day").annotate(lines=Count("pk"))
    found: list[Any] = list(counted.order_by("-day")[: limit + 1])
    days = [Day(daily_notes.path_of(one["day"]), one["day"], one["lines"]) for one in found]
    return days[:limit], len(days) > limit
