"""Counts of a user's memories: the status line, and the facets that a list can be filtered by.

They are counted from a single query of at most a thousand rows. For users with more memories,
aggregate queries are cached for two minutes, so that their pages cost no more than others'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.core.cache import cache
from django.db.models import Count, F, Func, OuterRef

from memories.models import Memory, MemoryStatus, Source
from memories.selectors import IN_USE, Totals, projects_of, totals_of
from memories.writing import facet_cache
from ops.models import User

COUNTED = 1_000
_KEPT_SECONDS = 120
_TAGS = 40
_PROJECTS = 100


@dataclass(frozen=True)
class Facet:
    value: str
    count: int
    name: str = ""


@dataclass(frozen=True)
class Survey:
    totals: Totals
    kinds: Sequence[Facet]
    tags: Sequence[Facet]
    projects: Sequence[Facet]
    origins: Sequence[Facet]
    pinned: int = 0


class _Row(NamedTuple):
    status: str
    deleted_at: datetime | None
    created_at: datetime
    kind: str
    origin: str
    tags: list[str]
    pinned: bool
    removal_asked_at: datetime | None
    project_key: str | None
    project_name: str | None
    conversations: list[int]


def survey_of(user: User) -> Survey:
    rows = _rows(user)
    if len(rows) <= COUNTED:
        return _from_rows(rows)
    key = facet_cache.key(user.pk)
    kept = cache.get(key)
    if not isinstance(kept, Survey):
        kept = _counted(user)
        cache.set(key, kept, _KEPT_SECONDS)
    return kept


def _rows(user: User) -> list[_Row]:
    from_turns = Source.objects.filter(memory=OuterRef("pk"), turn__isnull=False)
    conversations = ArraySubquery(from_turns.order_by().values("turn__conversation").distinct())
    columns = ("status", "deleted_at", "created_at", "kind", "origin", "tags", "pinned")
    rows = Memory.visible.filter(user=user).order_by()
    wanted = rows.values_list(
        *columns, "removal_asked_at", "project__key", "project__name", conversations
    )
    return [_Row._make(row) for row in wanted[: COUNTED + 1]]


def _from_rows(rows: Sequence[_Row]) -> Survey:
    present = [row for row in rows if row.deleted_at is None]
    used = [row for row in present if row.status in IN_USE]
    names = {row.project_key: row.project_name for row in used if row.project_key}
    projects = _facets(row.project_key for row in used if row.project_key)
    return Survey(
        totals=Totals(
            memories=len(used),
            conversations=len({one for row in rows for one in row.conversations}),
            waiting=sum(_waits(row) for row in present),
            binned=len(rows) - len(present),
            last_learned_at=max((row.created_at for row in present), default=None),
        ),
        kinds=_facets(row.kind for row in used),
        tags=_facets(tag for row in used for tag in row.tags)[:_TAGS],
        projects=[Facet(one.value, one.count, names[one.value] or "") for one in projects],
        origins=_facets(row.origin for row in used),
        pinned=sum(row.pinned for row in used),
    )


def _waits(row: _Row) -> bool:
    return row.status == MemoryStatus.CANDIDATE or row.removal_asked_at is not None


def _facets(values: Iterable[str]) -> list[Facet]:
    counted = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return [Facet(value, count) for value, count in counted]


def _counted(user: User) -> Survey:
    return Survey(
        totals=totals_of(user),
        kinds=_by(user, "kind"),
        tags=_by_tag(user),
        projects=[
            Facet(one.key, one.memory_count, one.name)  # type: ignore[attr-defined]
            for one in projects_of(user)[:_PROJECTS]
        ],
        origins=_by(user, "origin"),
        pinned=Memory.objects.filter(user=user, status__in=IN_USE, pinned=True).count(),
    )


def _by(user: User, column: str) -> list[Facet]:
    rows = Memory.objects.filter(user=user, status__in=IN_USE).values(column)
    counted = rows.annotate(n=Count("pk")).order_by("-n", column)
    return [Facet(row[column], row["n"]) for row in counted]


def _by_tag(user: User) -> list[Facet]:
    rows = Memory.objects.filter(user=user, status__in=IN_USE).exclude(tags=[])
    each = Func(F("tags"), function="unnest")
    each.set_returning = True
    counted = rows.annotate(tag=each).values("tag").annotate(n=Count("pk")).order_by("-n", "tag")
    return [Facet(row["tag"], row["n"]) for row in counted[:_TAGS]]
