"""The long-term tab: everything that is remembered, to be searched, narrowed and looked after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from memories.browsing import finding, paging
from memories.browsing.paging import Page
from memories.browsing.standing import standing_for
from memories.browsing.survey import COUNTED
from memories.forms import FilterForm
from memories.selectors import MemoryFilter, Totals, refusals_of
from memories.services.pool import PreparedQuery
from memories.services.search import prepare_query
from memories.views.choices import bulk_actions, choices_of
from memories.views.rows import rows_of
from ops.models import User
from ops.pages import (
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
    """What the address asks for."""

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
        )

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query) or any(self.values[name] for name in _FILTERS)

    def address(self, **changes: str) -> str:
        values = {name: str(value) for name, value in self.values.items()} | changes
        usual = ("", paging.DEFAULT_SORT)
        kept = urlencode({name: value for name, value in values.items() if value not in usual})
        return reverse("memory_list") + (f"?{kept}" if kept else "")


@require_safe
@personal_page
def memory_home(request: HttpRequest) -> HttpResponse:
    return redirect("memory_list")


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
    """As somebody types only what was found is swapped; scrolling asks for the next rows."""
    if target(request) == "found":
        return "#found"
    return "#rows" if asked.after and is_htmx(request) else ""


def _page(
    request: HttpRequest, asked: Asked, prepared: PreparedQuery | None
) -> tuple[Page, int | None]:
    """Also how many a search found.

    While memory is off nothing is recalled, so a search looks for the letters only.
    """
    user = person(request)
    if prepared is not None and own_settings(request).longterm_enabled:
        return finding.found(prepared, user=user, filters=asked.filters, after=asked.after)
    page = paging.page_of(user, asked.filters, sort=asked.values["sort"], after=asked.after)
    return page, None


def _shared(request: HttpRequest, asked: Asked, page: Page) -> dict[str, Any]:
    return {
        "asked": asked,
        "rows": rows_of(page.rows, back=here(request) if asked.after else asked.address()),
        "next_url": asked.address(after=page.cursor) if page.cursor else "",
    }


def _around(request: HttpRequest, asked: Asked, found: int | None) -> dict[str, Any]:
    """What stands around the rows: choices, counts, ways to the other lists."""
    user, survey = person(request), standing_for(request).survey
    return {
        "choices": choices_of(survey),
        "known_tags": [one.value for one in survey.tags],
        "bulk_actions": bulk_actions(),
        "total": _total(asked, found, survey.totals, user=user),
        "refused": refusals_of(user)[:100].count(),
    }


def _total(asked: Asked, found: int | None, totals: Totals, *, user: User) -> str:
    """How many there are in all, in words; a search gives the best and counts those."""
    if found is not None:
        words = ngettext("%(count)s match, best first", "%(count)s matches, best first", found)
        return words % {"count": found}
    count = totals.memories
    if asked.is_narrowed:
        count = paging.count_of(user, asked.filters, most=COUNTED)
    if asked.is_narrowed and count > COUNTED:
        return _("more than %(most)s memories") % {"most": floatformat(COUNTED, "0g")}
    words = ngettext("%(shown)s memory", "%(shown)s memories", count)
    return words % {"shown": floatformat(count, "0g")}
