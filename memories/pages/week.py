"""The page that shows what was learned, changed and forgotten in seven days."""

from __future__ import annotations

from datetime import date

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from memories.week import week_of
from ops.pages.base import own_settings, own_transaction, person, personal_page


@require_safe
@personal_page
def memory_week(request: HttpRequest) -> HttpResponse:
    """Show the seven days that end with the day `last`; by default, those that end today."""
    try:
        last = date.fromisoformat(request.GET.get("last", ""))
    except ValueError:
        last = None
    with own_transaction(request):
        week = week_of(person(request), last=last)
        context = {"week": week, "is_on": own_settings(request).longterm_enabled}
        return render(request, "memories/week.html", context)
