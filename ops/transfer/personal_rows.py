"""Personal data in tables that need more than `Rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from ops.models import User
from ops.registry import Derived, Rows


@dataclass(frozen=True)
class RowsUnder(Rows):
    """Rows that are hidden with their parents (`parents`, names of foreign keys)."""

    parents: tuple[str, ...] = ()

    def _visible(self, user: User) -> QuerySet[Any]:
        rows = super()._visible(user)
        for parent in self.parents:
            rows = rows.filter(Q(**{parent: None}) | Q(**{f"{parent}__hidden_at": None}))
        return rows


@dataclass(frozen=True)
class DerivedRows(Derived, Rows):
    """Rows that repeat other rows for machines: erased, and exported with those."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        return Rows.erase(self, user_id)

    def counted(self, user: User) -> None:
        return None
