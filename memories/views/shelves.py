"""Beside what is in use: the recycle bin, and what was refused."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memcenter.lib.pages import own_transaction, person, personal_page
from memories import selectors
from memories.selectors import BIN, MemoryFilter

_SHOWN = 200


@require_safe
@personal_page
def memory_bin(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        binned = selectors.memories_of(person(request), MemoryFilter(status=BIN))
        context = {
            "memories": binned.order_by("purge_at", "pk")[:_SHOWN],
            "back": reverse("memory_bin"),
            "recycle_days": settings.RECYCLE_DAYS,
        }
        return render(request, "memories/memory_bin.html", context)


@require_safe
@personal_page
def memory_refusals(request: HttpRequest) -> HttpResponse:
    """That something sensitive was not kept: its category and date, never what it was."""
    with own_transaction(request):
        refusals = selectors.refusals_of(person(request))
        refusals = refusals.select_related("turn__conversation", "turn__user_message")[:_SHOWN]
        return render(request, "memories/refusal_list.html", {"refusals": refusals})
