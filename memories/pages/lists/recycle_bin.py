"""Lists of memories not in use: the recycle bin, and refused statements."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memories import selectors
from memories.pages.lists.cursor_pages import page_by
from memories.selectors import BIN, MemoryFilter
from ops.pages.base import is_htmx, own_transaction, person, personal_page


@require_safe
@personal_page
def memory_bin(request: HttpRequest) -> HttpResponse:
    """List deleted memories by their erase date, earliest first."""
    with own_transaction(request):
        binned = selectors.memories_of(person(request), MemoryFilter(status=BIN))
        rows, cursor = page_by(
            binned.prefetch_related(None), "purge_at", descending=False, after=_after(request)
        )
        context = {
            "memories": rows,
            "next_url": _next("memory_bin", cursor),
            "back": reverse("memory_bin"),
            "recycle_days": settings.RECYCLE_DAYS,
        }
        return render(request, f"memories/memory_bin.html{_part(request)}", context)


@require_safe
@personal_page
def memory_refusals(request: HttpRequest) -> HttpResponse:
    """List the sensitive statements that were refused: category and date, never the text."""
    with own_transaction(request):
        refusals = selectors.refusals_of(person(request))
        refusals = refusals.select_related("turn__conversation", "turn__user_message")
        rows, cursor = page_by(refusals, "created_at", descending=True, after=_after(request))
        context = {"refusals": rows, "next_url": _next("memory_refusals", cursor)}
        return render(request, f"memories/refusal_list.html{_part(request)}", context)


def _after(request: HttpRequest) -> str:
    return request.GET.get("after", "")


def _next(page: str, cursor: str) -> str:
    return f"{reverse(page)}?after={cursor}" if cursor else ""


def _part(request: HttpRequest) -> str:
    """Return only the next rows when the page is scrolled."""
    return "#rows" if _after(request) and is_htmx(request) else ""
