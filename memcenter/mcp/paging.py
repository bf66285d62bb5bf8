"""Paging of list tools: the result holds the cursor itself instead of a URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, cast

from django.db.models import Model
from rest_framework.request import Request

from memcenter.rest.pagination import CursorPage, Order, cursor_at, read_cursor


class ToolPage(CursorPage):
    @classmethod
    def read_from(cls, data: Mapping[str, Any]) -> Self:
        """Return the position of the cursor. Raises `Invalid` naming `cursor`."""
        return cls(cast(Request, None), data["limit"], read_cursor(data.get("cursor")))

    def _link(self, order: Order, row: Model, *, backwards: bool) -> str:
        return cursor_at(order, row, backwards=backwards)
