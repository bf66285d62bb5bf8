"""The line of truth at the head of the Memory Center, at a cost that doesn't grow."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.cache import cache

from memories.models import Memory
from memories.selectors import Totals, totals_of
from ops.models import User
from ops.services import users

COUNTED = 2_000
_KEPT_SECONDS = 120


@dataclass(frozen=True)
class Standing:
    """Whether memory is on, and what there is. `rough`: so much that it is counted seldom."""

    name: str
    is_on: bool
    totals: Totals
    rough: bool


def standing_of(user: User) -> Standing:
    rough = is_large(user)
    return Standing(
        name=user.shown_name,
        is_on=users.settings_of(user).longterm_enabled,
        totals=_seldom(user) if rough else totals_of(user),
        rough=rough,
    )


def is_large(user: User) -> bool:
    """Whether counting everything would be felt."""
    return Memory.visible.filter(user=user)[: COUNTED + 1].count() > COUNTED


def _seldom(user: User) -> Totals:
    key = f"standing:{user.pk}"
    totals = cache.get(key)
    if not isinstance(totals, Totals):
        totals = totals_of(user)
        cache.set(key, totals, _KEPT_SECONDS)
    return totals
