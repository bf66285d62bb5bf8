"""The long-term tab: search, filter and manage all memories."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from memories.pages.forms import FilterForm
from memories.pages.lists import cursor_pages, search_box
from memories.pages.lists.cursor_pages import Page
from memories.pages.lists.facets import COUNTED
from memories.pages.lists.filter_choices import bulk_actions, choices_of
from memories.pages.lists.memory_rows import rows_of
from memories.pages.status_line import standing_for
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.search import prepare_query
from memories.selectors import MemoryFilter, Totals, refusals_of
from ops.models import User
from ops.pages.base import (
    here,
    is_htmx,
    own_settings,
    own_transaction,
    person,
    personal_page,
    target,
)

_FILTERS = ("kind", "project", "tag", "status", "origin", "days", "pinned")


@dataclass(frozen=True)
class Asked:
    """The parameters of the URL."""

    values: dict[str, Any]
    after: str

    @property
    def query(self) -> str:
        return str(self.values["q"]).strip()

    @property
    def filters(self) -> MemoryFilter:
        days = self.values["days"]
        return MemoryFilter(
            query=self.query,
            kinds=[self.values["kind"]] if self.values["kind"] else (),
            tag=self.values["tag"],
            status=self.values["status"],
            project_key=self.values["project"],
            origin=self.values["origin"],
            pinned=True if self.values["pinned"] else None,
            since=timezone.now() - timedelta(days=int(days)) if days else None,
            archived=bool(self.query),
        )

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query) or bool(self.chosen)

    @property
    def chosen(self) -> int:
        """Return how many filters are set."""
        return sum(bool(self.values[name]) for name in _FILTERS)

    def address(self, **changes: str) -> str:
        values = {name: str(value) for name, value in self.values.items()} | changes
        usual = ("", cursor_pages.DEFAULT_SORT)
        kept = urlencode({name: value for name, value in values.items() if value not in usual})
        return reverse("memory_list") + (f"?{kept}" if kept else "")


@require_safe
@personal_page
def memory_list(request: HttpRequest) -> HttpResponse:
    asked = Asked(FilterForm(request.GET).values(), request.GET.get("after", ""))
    prepared = prepare_query(asked.query) if asked.query else None
    with own_transaction(request):
        page, count = _page(request, asked, prepared)
        part = _part(request, asked)
        context = _shared(request, asked, page) | (
            {} if part == "#rows" else _around(request, asked, count)
        )
        response = render(request, f"memories/memory_list.html{part}", context)
    if part == "#found":
        response["HX-Replace-Url"] = asked.address()
    return response


def _part(request: HttpRequest, asked: Asked) -> str:
    """Return only the results while the user types, or only the next rows while they scroll."""
    if target(request) == "found":
        return "#found"
    return "#rows" if asked.after and is_htmx(request) else ""


def _page(
    request: HttpRequest, asked: Asked, prepared: PreparedQuery | None
) -> tuple[Page, int | None]:
    """Return a page of memories and, for a search, the number of matches.

    While memory is off nothing is recalled, so the search compares letters only.
    """
    user = person(request)
    if prepared is not None and own_settings(request).longterm_enabled:
        return search_box.found(prepared, user=user, filters=asked.filters, after=asked.after)
    page = cursor_pages.page_of(user, asked.filters, sort=asked.values["sort"], after=asked.after)
    return page, None


def _shared(request: HttpRequest, asked: Asked, page: Page) -> dict[str, Any]:
    return {
        "asked": asked,
        "rows": rows_of(page.rows, back=here(request) if asked.after else asked.address()),
        "next_url": asked.address(after=page.cursor) if page.cursor else "",
    }


def _around(request: HttpRequest, asked: Asked, found: int | None) -> dict[str, Any]:
    """Return what surrounds the rows: filters, counts, links to other lists."""
    user, survey = person(request), standing_for(request).survey
    return {
        "choices": choices_of(survey),
        "known_tags": [one.value for one in survey.tags],
        "bulk_actions": bulk_actions(),
        "total": _total(asked, found, survey.totals, user=user),
        "refused": refusals_of(user)[:100].count(),
    }


def _total(asked: Asked, found: int | None, totals: Totals, *, user: User) -> str:
    """Return the total in words; a search counts only the best matches that it returns."""
    if found is not None:
        words = ngettext("%(count)s match, best first", "%(count)s matches, best first", found)
        return words % {"count": found}
    count = totals.memories
    if asked.is_narrowed:
        count = cursor_pages.count_of(user, asked.filters, most=COUNTED)
    if asked.is_narrowed and count > COUNTED:
        return _("more than %(most)s memories") % {"most": floatformat(COUNTED, "0g")}
    words = ngettext("%(shown)s memory", "%(shown)s memories", count)
    return words % {"shown": floatformat(count, "0g")}
