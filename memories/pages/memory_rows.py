"""Paginated lists of memories: pages with a cursor, and rows with a source and actions.

The cost of a page doesn't grow with the number of memories.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.text import Truncator
from django.utils.timezone import localdate
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from conversations.models import Conversation
from foundation.text import segment
from foundation.text.richtext import with_inner_quotation_marks
from memories.extraction.masking import additions_in_words
from memories.extraction.wording.languages import TOPICS, twin_of, without_twins
from memories.forgetting import rederivation
from memories.models import Memory, MemoryStatus, Source
from memories.selectors import LISTED, MemoryFilter, memories_of
from ops.models import User
from ops.pages.base import current_address, person, target

AnyRow = TypeVar("AnyRow", bound=Model)
SIZE = 20
_NAMED = 40  # characters of a memory in a toast
# A quotation is shown only if more than this share of its words is missing from the memory's text.
_NEARLY_ALL = 0.2
DEFAULT_SORT = "changed"
# For each sort: the column, and whether the order is descending. Pinned memories come first; the
# primary key breaks ties.
SORTS = {
    "changed": ("updated_at", True),
    "new": ("created_at", True),
    "old": ("created_at", False),
    "used": ("access_count", True),
    "important": ("importance", True),
}


@dataclass(frozen=True)
class Row:
    """A memory in a list, with its newest source.

    `why` explains why a search found the memory. `back` is the URL to which the forms in the row
    return. `column` is the name of the date field that is shown.
    """

    memory: Memory
    source: Source | None
    why: str = ""
    back: str = ""
    column: str = "updated_at"

    @property
    def menu(self) -> list[dict[str, Any]]:
        edit = action_url(self.memory, "edit", back=self.back)
        inline = action_url(self.memory, "edit")
        delete = action_url(self.memory, "delete")
        return [
            {"label": _("Edit"), "icon": "edit", "href": edit, "hx_here": inline},
            *_usage_items(self.memory),
            {"label": _("Delete"), "icon": "trash", "action": delete, "rule": True},
            _forget_item(self.memory, back=self.back),
        ]

    @property
    def url(self) -> str:
        return reverse("memory_page", args=[self.memory.public_id])

    @property
    def conversation(self) -> Conversation | None:
        return self.source.turn.conversation if self.source and self.source.turn else None

    @property
    def origin(self) -> str:
        if self.conversation:
            return _("from a conversation")
        if self.source and self.source.comment in rederivation.KEPT_COMMENTS:
            return _("kept by you")
        return self.memory.get_origin_display()

    @property
    def quote(self) -> str:
        """Return the source's quotation, or "" if the memory's text says (nearly) the same."""
        quote = self.source.quote if self.source else ""
        said = set(segment.terms(quote))
        new = said - set(segment.terms(additions_in_words(self.memory.content)))
        return quote if len(new) > _NEARLY_ALL * len(said) else ""

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
        """Return True if the shown date is on a later day than the creation of the memory."""
        return localdate(self.at) > localdate(self.memory.created_at)

    @property
    def is_expired(self) -> bool:
        until = self.memory.valid_until
        return until is not None and until <= timezone.now()

    @property
    def is_off(self) -> bool:
        return not self.memory.is_in_use


@dataclass(frozen=True)
class Page:
    """A page of a list. `cursor` identifies the next page; it is "" on the last page."""

    rows: Sequence[Row]
    cursor: str = ""


@dataclass(frozen=True)
class _Place:
    """The position after which the next page begins.

    `pinned` is True if the position is among the pinned memories, which come first.
    """

    key: Any
    pk: int
    pinned: bool = False


def page_of(
    user: User, filters: MemoryFilter, *, sort: str = DEFAULT_SORT, after: str = ""
) -> Page:
    """Return the page after the cursor `after`, or the first page if the cursor is invalid."""
    column, descending = SORTS.get(sort, SORTS[DEFAULT_SORT])
    place = _decode(after, column)
    places: list[_Place] = []
    if place is None or place.pinned:
        pinned = memories_of(user, replace(filters, archived=False)).filter(pinned=True)
        places = _places(pinned, column, descending=descending, place=place)
        place = None
    if len(places) <= SIZE and not filters.pinned:
        places += _unpinned(user, filters, column, descending=descending, place=place)
    cursor = _encode(places[SIZE - 1]) if len(places) > SIZE else ""
    return Page(rows_by_keys(user, [one.pk for one in places[:SIZE]]), cursor)


def _unpinned(
    user: User, filters: MemoryFilter, column: str, *, descending: bool, place: _Place | None
) -> list[_Place]:
    """Return the positions of the next unpinned memories.

    One query is run per status, because the index is ordered only within a single status.
    """
    places: list[_Place] = []
    for status in [filters.status] if filters.status else LISTED:
        rows = memories_of(user, replace(filters, status=status)).filter(pinned=False)
        places += _places(rows, column, descending=descending, place=place)
    return sorted(places, key=lambda one: (one.key, one.pk), reverse=descending)


def _places(
    rows: QuerySet[Memory], column: str, *, descending: bool, place: _Place | None
) -> list[_Place]:
    found = _next_rows(rows.prefetch_related(None), column, descending=descending, place=place)
    return [_Place(*one) for one in found.values_list(column, "pk", "pinned")[: SIZE + 1]]


def page_by(
    rows: QuerySet[AnyRow, Any], column: str, *, descending: bool, after: str
) -> tuple[list[AnyRow], str]:
    """Return the next `SIZE` rows in the order of a column, and the next cursor (or "")."""
    following = _next_rows(rows, column, descending=descending, place=_decode(after, column))
    found = list(following[: SIZE + 1])
    if len(found) <= SIZE:
        return found, ""
    last = found[SIZE - 1]
    return found[:SIZE], _encode(_Place(getattr(last, column), last.pk))


def rows_by_keys(user: User, pks: Sequence[int]) -> list[Row]:
    """Return the rows for the memories with these keys, in that order, with their newest sources.

    Two queries are run.
    """
    rows = Memory.visible.filter(user=user).select_related("project").in_bulk(list(pks))
    newest = (
        Source.objects.filter(user=user, memory__in=pks)
        .select_related("turn__conversation", "turn__user_message", "message")
        .order_by("memory_id", "-pk")
        .distinct("memory_id")
    )
    sources = {one.memory_id: one for one in newest}
    return [Row(rows[pk], sources.get(pk)) for pk in pks if pk in rows]


def count_of(user: User, filters: MemoryFilter, *, most: int) -> int:
    """Return the number of memories that match `filters`. Counting stops at `most` + 1."""
    return memories_of(user, filters).prefetch_related(None).order_by()[: most + 1].count()


def _next_rows(
    rows: QuerySet[AnyRow, Any], column: str, *, descending: bool, place: _Place | None
) -> QuerySet[AnyRow, Any]:
    if place is not None:
        near, far = ("lte", "lt") if descending else ("gte", "gt")
        rows = rows.filter(
            Q(**{f"{column}__{far}": place.key}) | Q(**{column: place.key, f"pk__{far}": place.pk}),
            **{f"{column}__{near}": place.key},
        )
    return rows.order_by(*((f"-{column}", "-pk") if descending else (column, "pk")))


def _encode(place: _Place) -> str:
    key = place.key.isoformat() if isinstance(place.key, datetime) else place.key
    words = json.dumps([key, place.pk, place.pinned])
    return base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")


def _decode(cursor: str, column: str) -> _Place | None:
    try:
        key, pk, *pinned = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        key = parse_datetime(key) if column.endswith("_at") else float(key)
        return _Place(key, int(pk), pinned == [True]) if key is not None else None
    except (ValueError, TypeError, OverflowError, binascii.Error):
        return None


def rows_of(page: Sequence[Row], *, back: str) -> list[Row]:
    """Return copies of the rows whose forms return to the URL `back`.

    The sort order in `back` determines the date column that the rows show.
    """
    sort = parse_qs(urlsplit(back).query).get("sort", [""])[-1]
    column = "created_at" if sort in ("new", "old") else "updated_at"
    return [replace(one, back=back, column=column) for one in page]


def is_row(request: HttpRequest) -> bool:
    """Return True if htmx will replace a single row of the list."""
    return target(request).startswith("row-")


def is_in_place(request: HttpRequest) -> bool:
    """Return True if htmx will replace several rows in place and show Django's messages."""
    return target(request) == "toasts"


def render_changed_rows(
    request: HttpRequest, ids: Sequence[str], *, oob: bool = True
) -> HttpResponse:
    """Render the current rows of these memories, with Django's messages.

    With `oob`, htmx swaps each row in its own place. A row that no longer belongs to the list
    becomes a placeholder, so that an undo can show it again.
    """
    memories = Memory.visible.filter(user=person(request), public_id__in=list(ids))
    present = memories.filter(deleted_at=None).order_by("pk").values_list("pk", flat=True)
    rows = rows_of(rows_by_keys(person(request), list(present)), back=current_address(request))
    left = set(ids) - {row.memory.public_id for row in rows}
    is_list = current_address(request).startswith(reverse("memory_list"))
    context = {"rows": rows, "left": sorted(left), "oob": oob, "is_list": is_list}
    return render(request, "memories/includes/rows_changed.html", context)


def page_menu_of(memory: Memory) -> list[dict[str, Any]]:
    page = reverse("memory_page", args=[memory.public_id])
    forget = _forget_item(memory, back=page) | {"help": _("erased with everything derived from it")}
    if memory.deleted_at is not None:
        return [forget]
    items = _usage_items(memory, back=page)
    if memory.archived_at is not None or memory.status == MemoryStatus.SUPERSEDED:
        items = [
            {"label": _("Edit"), "icon": "edit", "href": action_url(memory, "edit", back=page)}
        ]
    delete = action_url(memory, "delete", back=reverse("memory_list"))
    help_text = _("moves to the recycle bin; you can undo it")
    items += [
        {"label": _("Delete"), "icon": "trash", "action": delete, "rule": True, "help": help_text}
    ]
    return [*items, forget]


def _usage_items(memory: Memory, *, back: str = "") -> list[dict[str, Any]]:
    def item(label: str, icon: str, name: str, help_text: str = "") -> dict[str, Any]:
        action = action_url(memory, name, back=back)
        return {"label": label, "icon": icon, "action": action, "help": help_text if back else ""}

    if memory.status in (MemoryStatus.ACTIVE, MemoryStatus.DISABLED):
        pin = item(pgettext("verb", "Pin"), "pin", "pin", _("always used, and first in the list"))
        disable = item(_("Disable"), "disable", "disable", _("kept, but not used"))
        is_disabled = memory.status == MemoryStatus.DISABLED
        return [
            item(_("Unpin"), "pin-off", "unpin") if memory.pinned else pin,
            item(_("Enable"), "enable", "enable") if is_disabled else disable,
        ]
    if memory.archived_at is not None or memory.status == MemoryStatus.SUPERSEDED:
        return [item(_("Use it again"), "restore", "enable")]
    return []


def _forget_item(memory: Memory, *, back: str) -> dict[str, Any]:
    forget = action_url(memory, "forget", back=back)
    links = {"href": forget, "hx_get": forget}
    return {"label": _("Forget now…"), "icon": "forget", "danger": True, **links}


def shown_tag(tag: str) -> str:
    """Return the tag as pages show it: a topic's tag is translated to the page's language."""
    is_chinese = (get_language() or "").startswith("zh")
    twin = twin_of(tag)
    return twin if twin and is_chinese == (tag in TOPICS) else tag


def shown_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags as pages show them; each topic has a single tag, in the page's language."""
    return [shown_tag(one) for one in without_twins(tags)]


def action_url(memory: Memory, name: str, *, back: str = "") -> str:
    address = reverse(f"memory_{name}", args=[memory.public_id])
    return f"{address}?{urlencode({'next': back})}" if back else address


def name_memory(said: str, memory: Memory) -> str:
    """Return the message, followed by the text of the memory, which is shortened for a toast."""
    text = Truncator(additions_in_words(memory.content)).chars(_NAMED)
    return f"{said} " + _("“%(text)s”") % {"text": with_inner_quotation_marks(text)}
