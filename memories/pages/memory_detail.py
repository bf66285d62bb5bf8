"""The page of one memory: its text, its reasons, its history and its uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memories import selectors
from memories.models import Memory, MemoryStatus, Source
from memories.pages import explanation
from memories.pages.lists.memory_rows import is_row, page_menu_of, row_again
from ops.models import User
from ops.pages.base import own_transaction, person, personal_page

_SHOWN_REASONS = 5
_SHOWN_USES = 20
_SHOWN_RELATED = 30
_SHOWN_VERSIONS = 50


@require_safe
@personal_page
def memory_page(request: HttpRequest, memory_id: str) -> HttpResponse:
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
        if is_row(request):
            return row_again(request, memory)
        sources = list(selectors.sources_of(memory)[:200])
        context = _head(memory, sources) | _section(request, memory)
        return render(request, "memories/memory_detail.html", context)


def _head(memory: Memory, sources: list[Source]) -> dict[str, Any]:
    reasons = explanation.reasons_of(memory, sources)
    return {
        "memory": memory,
        "reasons": reasons[:_SHOWN_REASONS],
        "because": explanation.because_of(selectors.version_in_use(memory)),
        "more_reasons": max(0, len(reasons) - _SHOWN_REASONS),
        "menu": page_menu_of(memory),
        "is_in_use": memory.status in (MemoryStatus.ACTIVE, MemoryStatus.DISABLED)
        and memory.deleted_at is None,
        "archive_days": settings.ARCHIVE_DAYS,
    }


def _section(request: HttpRequest, memory: Memory) -> dict[str, Any]:
    """Return the selected one of the three sections, and the tabs to all of them."""
    sections: dict[str, tuple[str, str, Callable[[User, Memory], Any]]] = {
        "history": (_("History"), "history", _history),
        "used": (_("Used"), "sparkle", _used),
        "related": (_("Related"), "link", _related),
    }
    wanted = request.GET.get("show", "")
    chosen = wanted if wanted in sections else "history"
    page = reverse("memory_page", args=[memory.public_id])
    tabs = [
        {
            "href": page if name == "history" else f"{page}?show={name}",
            "label": label,
            "icon": icon,
            "current": name == chosen,
        }
        for name, (label, icon, _read) in sections.items()
    ]
    return {"tabs": tabs, "chosen": chosen, chosen: sections[chosen][2](person(request), memory)}


def _history(user: User, memory: Memory) -> list[explanation.Step]:
    # Load one more than is shown, so that the last version has one to be compared with.
    versions = list(selectors.versions_of(memory)[: _SHOWN_VERSIONS + 1])
    return explanation.history_of(memory, versions)[:_SHOWN_VERSIONS]


def _used(user: User, memory: Memory) -> list[explanation.Use]:
    return explanation.uses_of(memory, selectors.recalls_of(user, memory)[:_SHOWN_USES])


def _related(user: User, memory: Memory) -> list[explanation.Related]:
    return explanation.related_to(memory, selectors.relations_of(memory)[:_SHOWN_RELATED])
