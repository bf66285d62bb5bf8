"""Pages of very long lists: one table finds the rows of a page, and what they need comes after."""

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
    """Counts no further than anybody pages: counting a large table takes longer than reading it.

    A page is found by its keys, from the one table; only then is read what its rows belong to.
    With all of it in one statement the database may join everything first.
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
    """Also a list that fits on one page comes from the paginator."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.multi_page:
            self.result_list = self.paginator.page(1).object_list
