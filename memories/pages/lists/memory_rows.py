"""A memory as a row of a list: its text, its source and its actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

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
    column: str = "updated_at"  # the date to show is the date that the list is sorted by

    @property
    def conversation(self) -> Conversation | None:
        return self.source.turn.conversation if self.source and self.source.turn else None

    @property
    def said_at(self) -> datetime | None:
        message = self.source.message if self.source else None
        return message.created_at if message else None

    @property
    def at(self) -> datetime:
        when: datetime = getattr(self.memory, self.column)
        return when

    @property
    def is_changed(self) -> bool:
        """Tell whether the date shown is that of a change on a later day."""
        return localdate(self.at) > localdate(self.memory.created_at)

    @property
    def is_off(self) -> bool:
        return self.memory.status != MemoryStatus.ACTIVE


def rows_of(listed: Sequence[Listed], *, back: str) -> list[Row]:
    """Return the rows. `back` is the page that they stand on and that their forms return to."""
    sort = parse_qs(urlsplit(back).query).get("sort", [""])[-1]
    column = "created_at" if sort in ("new", "old") else "updated_at"
    return [_row_of(one, back=back, column=column) for one in listed]


def _row_of(one: Listed, *, back: str, column: str) -> Row:
    url = reverse("memory_page", args=[one.memory.public_id])
    return Row(one.memory, one.source, menu_of(one.memory, back=back), url, one.why, column)


def is_row(request: HttpRequest) -> bool:
    """Tell whether htmx will replace a single row of the list."""
    return target(request).startswith("row-")


def row_again(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Return the current row with a message, or its place if the memory left the list."""
    return rows_again(request, [memory.public_id], oob=False)


def is_in_place(request: HttpRequest) -> bool:
    """Tell whether htmx will replace rows wherever they stand, and add the messages."""
    return target(request) == "toasts"


def rows_again(request: HttpRequest, ids: Sequence[str], *, oob: bool = True) -> HttpResponse:
    """Return the rows as they are now. One that left the list keeps its place for an undo."""
    memories = Memory.visible.filter(user=person(request), public_id__in=list(ids))
    present = memories.filter(deleted_at=None).order_by("pk").values_list("pk", flat=True)
    rows = rows_of(cursor_pages.listed(person(request), list(present)), back=here(request))
    left = set(ids) - {row.memory.public_id for row in rows}
    context = {"rows": rows, "left": sorted(left), "oob": oob}
    return render(request, "memories/includes/rows_changed.html", context)


def row_in_bin(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Return the row of a memory that was deleted meanwhile: it asks whether to restore it."""
    return render(request, "memories/includes/row_in_bin.html", {"memory": memory})


def menu_of(memory: Memory, *, back: str) -> list[dict[str, Any]]:
    """Return what a row's menu offers."""
    edit, inline = act(memory, "edit", back=back), act(memory, "edit")
    return [
        {"label": _("Edit"), "icon": "edit", "href": edit, "hx_here": inline},
        *_uses(memory),
        {"label": _("Delete"), "icon": "trash", "action": act(memory, "delete"), "rule": True},
        _forget(memory, back=back),
    ]


def page_menu_of(memory: Memory) -> list[dict[str, Any]]:
    """Return what the menu of a memory's page offers beside its main action."""
    page = reverse("memory_page", args=[memory.public_id])
    forget = _forget(memory, back=page) | {"help": _("erased with everything derived from it")}
    if memory.deleted_at is not None:
        return [forget]
    items = _uses(memory, back=page)
    if memory.archived_at is not None:
        items = [{"label": _("Edit"), "icon": "edit", "href": act(memory, "edit", back=page)}]
    delete = act(memory, "delete", back=reverse("memory_list"))
    help_text = _("moves to the recycle bin; you can undo it")
    items += [
        {"label": _("Delete"), "icon": "trash", "action": delete, "rule": True, "help": help_text}
    ]
    return [*items, forget]


def _uses(memory: Memory, *, back: str = "") -> list[dict[str, Any]]:
    """Return what decides whether and how answers use the memory."""
    if memory.status in (MemoryStatus.ACTIVE, MemoryStatus.DISABLED):
        return [_pin(memory, back=back), _switch(memory, back=back)]
    if memory.archived_at is not None:
        enable = act(memory, "enable", back=back)
        return [{"label": _("Use it again"), "icon": "restore", "action": enable}]
    return []


def _forget(memory: Memory, *, back: str) -> dict[str, Any]:
    forget = act(memory, "forget", back=back)
    links = {"href": forget, "hx_get": forget}
    return {"label": _("Forget now…"), "icon": "forget", "danger": True, **links}


def act(memory: Memory, name: str, *, back: str = "") -> str:
    address = reverse(f"memory_{name}", args=[memory.public_id])
    return f"{address}?{urlencode({'next': back})}" if back else address


def _pin(memory: Memory, *, back: str) -> dict[str, Any]:
    if memory.pinned:
        return {"label": _("Unpin"), "icon": "pin-off", "action": act(memory, "unpin", back=back)}
    label = pgettext("verb", "Pin")
    help_text = _("always used, and first in the list")
    pin = act(memory, "pin", back=back)
    return {"label": label, "icon": "pin", "action": pin, "help": help_text if back else ""}


def _switch(memory: Memory, *, back: str) -> dict[str, Any]:
    if memory.status == MemoryStatus.DISABLED:
        return {"label": _("Enable"), "icon": "enable", "action": act(memory, "enable", back=back)}
    help_text = _("kept, but not used") if back else ""
    disable = act(memory, "disable", back=back)
    return {"label": _("Disable"), "icon": "disable", "action": disable, "help": help_text}
