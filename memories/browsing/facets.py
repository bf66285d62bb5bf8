"""What a list of memories can be narrowed to, with how many each choice gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, F, Func

from memories.browsing.standing import is_large
from memories.models import Memory
from memories.selectors import IN_USE, projects_of
from ops.models import User

_TAGS = 40
_PROJECTS = 100
_KEPT_SECONDS = 120


@dataclass(frozen=True)
class Facet:
    value: str
    count: int
    name: str = ""


@dataclass(frozen=True)
class Facets:
    kinds: Sequence[Facet]
    tags: Sequence[Facet]
    projects: Sequence[Facet]
    origins: Sequence[Facet]


def facets_of(user: User) -> Facets:
    """Counted anew, but only every two minutes for those who have very many."""
    if not is_large(user):
        return _count(user)
    key = f"facets:{user.pk}"
    kept = cache.get(key)
    if not isinstance(kept, Facets):
        kept = _count(user)
        cache.set(key, kept, _KEPT_SECONDS)
    return kept


def _count(user: User) -> Facets:
    return Facets(
        kinds=_by(user, "kind"),
        tags=_by_tag(user),
        projects=[
            Facet(project.key, project.memory_count, project.name or project.key)  # type: ignore[attr-defined]
            for project in projects_of(user)[:_PROJECTS]
        ],
        origins=_by(user, "origin"),
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
