"""A memory as a row of a list: its text, its source and its actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from conversations.models import Conversation
from memories.models import Memory, MemoryStatus, Source
from memories.pages.lists import cursor_pages
from memories.pages.lists.cursor_pages import Listed
from ops.pages.base import here, person, target


@dataclass(frozen=True)
class Row:
    memory: Memory
    source: Source | None
    menu: Sequence[dict[str, Any]]
    url: str
    why: str = ""

    @property
    def conversation(self) -> Conversation | None:
        return self.source.turn.conversation if self.source and self.source.turn else None

    @property
    def at(self) -> datetime:
        """Return when it was said, or when it was written if nobody said it."""
        message = self.source.message if self.source else None
        return message.created_at if message else self.memory.created_at

    @property
    def changed_at(self) -> datetime | None:
        """Return when it was last changed, if that was on a later day than its first one."""
        began = max(self.at, self.memory.created_at)
        changed = self.memory.updated_at
        return changed if localdate(changed) > localdate(began) else None

    @property
    def is_off(self) -> bool:
        return self.memory.status != MemoryStatus.ACTIVE


def rows_of(listed: Sequence[Listed], *, back: str) -> list[Row]:
    return [row_of(one, back=back) for one in listed]


def row_of(one: Listed, *, back: str) -> Row:
    """Return the row. `back` is the page that the menu's forms return to."""
    url = reverse("memory_page", args=[one.memory.public_id])
    return Row(one.memory, one.source, menu_of(one.memory, back=back), url, one.why)


def is_row(request: HttpRequest) -> bool:
    """Tell whether htmx will replace a single row of the list."""
    return target(request).startswith("row-")


def row_again(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Return the current row with a message, or only the message if the memory left the list."""
    found = [] if memory.deleted_at else cursor_pages.listed(person(request), [memory.pk])
    row = row_of(found[0], back=here(request)) if found else None
    context = {"row": row, "focus": True}
    return render(request, "memories/includes/row_changed.html", context)


def menu_of(memory: Memory, *, back: str) -> list[dict[str, Any]]:
    edit, forget = act(memory, "edit", back=back), act(memory, "forget", back=back)
    inline = act(memory, "edit")
    items = [{"label": _("Edit"), "icon": "edit", "href": edit, "hx_here": inline}]
    if memory.status in (MemoryStatus.ACTIVE, MemoryStatus.DISABLED):
        items += [_pin(memory), _switch(memory)]
    if memory.archived_at is not None:
        label = _("Use it again")
        items += [{"label": label, "icon": "restore", "action": act(memory, "enable")}]
    delete = act(memory, "delete")
    return [
        *items,
        {"label": _("Delete"), "icon": "trash", "action": delete, "rule": True},
        {
            "label": _("Forget now…"),
            "icon": "forget",
            "href": forget,
            "hx_get": forget,
            "danger": True,
        },
    ]


def act(memory: Memory, name: str, *, back: str = "") -> str:
    address = reverse(f"memory_{name}", args=[memory.public_id])
    return f"{address}?{urlencode({'next': back})}" if back else address


def _pin(memory: Memory) -> dict[str, Any]:
    if memory.pinned:
        return {"label": _("Unpin"), "icon": "pin-off", "action": act(memory, "unpin")}
    label = pgettext("verb", "Pin")
    return {"label": label, "icon": "pin", "action": act(memory, "pin")}


def _switch(memory: Memory) -> dict[str, Any]:
    if memory.status == MemoryStatus.DISABLED:
        return {"label": _("Enable"), "icon": "enable", "action": act(memory, "enable")}
    return {"label": _("Disable"), "icon": "disable", "action": act(memory, "disable")}
