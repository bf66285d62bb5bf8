"""Pages of very long lists: one table gives the keys of a page, a second query its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.views import ChangeList

_COUNTED = 5_000
Whole = Callable[[list[Any]], "QuerySet[Any]"]


class ShortPaginator(Paginator):  # type: ignore[type-arg]
    """Count up to a limit only, since counting a large table takes longer than reading a page.

    A page is found by its keys in one table, then its related rows are read. In a single statement
    the database might join all rows first.
    """

    def __init__(self, rows: QuerySet[Any], per_page: int, *, whole: Whole) -> None:
        super().__init__(rows, per_page)
        self._whole = whole

    def page(self, number: int | str) -> Page[Any]:
        chosen = self.validate_number(number)
        keys = cast("QuerySet[Any]", self.object_list).select_related(None).values_list("pk")
        first = (chosen - 1) * self.per_page
        order = [key for (key,) in keys[first : first + self.per_page]]
        found = {row.pk: row for row in self._whole(order)}
        return Page([found[key] for key in order if key in found], chosen, self)

    @cached_property
    def count(self) -> int:
        return int(cast("QuerySet[Model]", self.object_list).order_by()[:_COUNTED].count())


class PagedList(ChangeList):  # type: ignore[misc]
    """Use the paginator also for lists that fit on one page."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.multi_page:
            self.result_list = self.paginator.page(1).object_list
