"""The list of conversations, grouped by day, newest first, with search in titles and messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from conversations import selectors
from conversations.models import Conversation, Message, name_by_time
from conversations.recording import temporary
from conversations.recording.temporary import TemporaryConversation
from ops.models import User

PAGE = 20
_BEFORE, _AFTER = 24, 60  # characters shown before and after the search words


@dataclass(frozen=True)
class Excerpt:
    """An excerpt of the newest message that contains the search words, with the message's URL."""

    url: str
    before: str
    words: str
    after: str


@dataclass(frozen=True)
class Row:
    """A conversation as it is shown in the list or in the header of its page.

    `excerpt` is set if a search found one of the conversation's messages.
    """

    public_id: str
    title: str
    url: str
    begun_at: datetime
    is_temporary: bool = False
    excerpt: Excerpt | None = None

    @property
    def shown_title(self) -> str:
        """Return the title; if there is none, a description with the date of the conversation.

        The description of a temporary chat contains only the time of day.
        """
        if self.is_temporary and not self.title:
            at = date_format(timezone.localtime(self.begun_at), "H:i")
            return _("Temporary chat, %(time)s") % {"time": at}
        return self.title or name_by_time(self.begun_at)

    @property
    def delete_url(self) -> str:
        return reverse("conversation_delete", args=[self.public_id])

    @property
    def rename_url(self) -> str:
        return reverse("conversation_rename", args=[self.public_id])

    @property
    def menu(self) -> list[dict[str, Any]]:
        """Return the actions of the conversation's menu.

        Renaming isn't in the menu, since it has its own button.
        """
        delete = self.delete_url
        delete_item = {"icon": "trash", "href": delete, "hx_get": delete, "danger": True}
        if self.is_temporary:
            return [{"label": _("End now…"), **delete_item}]
        clear = reverse("conversation_clear", args=[self.public_id])
        export = reverse("conversation_export", args=[self.public_id])
        return [
            {"label": _("Export…"), "icon": "download", "href": export, "hx_get": export},
            {"label": _("Clear…"), "icon": "forget", "href": clear, "hx_get": clear},
            {"label": _("Delete…"), "rule": True, **delete_item},
        ]


@dataclass(frozen=True)
class Group:
    label: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Listing:
    groups: Sequence[Group]
    query: str
    next_url: str


def listing(user: User, *, query: str = "", after: str = "") -> Listing:
    """Return one page of the list of conversations.

    The page begins after the conversation with the id `after`. Without `after`, it begins with the
    temporary chats, followed by the newest stored conversations.
    """
    matching = selectors.conversations_of(user)
    if query:
        said = Message.objects.filter(user=user, content__icontains=query)
        is_found = Exists(said.filter(conversation=OuterRef("pk")))
        matching = matching.filter(Q(title__icontains=query) | is_found)
    found = _ordered(matching)
    before = found.filter(public_id=after).first() if after else None
    groups: list[Group] = []
    if before is not None:
        moment = before.moment
        found = found.filter(Q(moment__lt=moment) | Q(moment=moment, pk__lt=before.pk))
    else:
        groups = _temporary(user, query)
    rows = list(found[: PAGE + 1])
    shown = rows[:PAGE]
    day = _day_of(before.moment) if before else ""
    excerpts = _excerpts(user, shown, query)
    for label, those in groupby(shown, key=lambda one: _day_of(one.moment)):
        # Don't repeat the heading of a day that began on the previous page.
        rows_of_day = [replace(row_of(one), excerpt=excerpts.get(one.pk)) for one in those]
        groups.append(Group("" if label == day else label, rows_of_day))
    if len(rows) <= PAGE:
        return Listing(groups, query, "")
    more = {"after": shown[-1].public_id} | ({"q": query} if query else {})
    return Listing(groups, query, f"?{urlencode(more)}")


def newest(user: User) -> Conversation | None:
    return _ordered(selectors.conversations_of(user)).first()


def row_of(conversation: Conversation | TemporaryConversation) -> Row:
    return Row(
        conversation.public_id,
        conversation.title,
        _url(conversation.public_id),
        conversation.created_at,
        is_temporary=isinstance(conversation, TemporaryConversation),
    )


def _url(public_id: str) -> str:
    return reverse("conversation", args=[public_id])


def _ordered(found: QuerySet[Conversation]) -> QuerySet[Any]:
    dated = found.annotate(moment=Coalesce(F("last_message_at"), F("created_at")))
    return dated.order_by("-moment", "-pk")


def _excerpts(user: User, rows: Sequence[Conversation], query: str) -> dict[int, Excerpt]:
    if not query:
        return {}
    said = Message.objects.filter(user=user, conversation__in=rows, content__icontains=query)
    newest = said.order_by("conversation", "-number").distinct("conversation")
    return {
        one.conversation_id: _excerpt(one, query) for one in newest.select_related("conversation")
    }


def _excerpt(message: Message, query: str) -> Excerpt:
    text = message.content
    found = re.search(re.escape(query), text, re.IGNORECASE)
    start, end = found.span() if found else (0, 0)
    first, last = max(0, start - _BEFORE), min(len(text), end + _AFTER)
    address = urlencode({"at": message.public_id, "q": query})
    return Excerpt(
        url=f"{_url(message.conversation.public_id)}?{address}#{message.public_id}",
        before=("…" if first else "") + text[first:start],
        words=text[start:end],
        after=text[end:last] + ("…" if last < len(text) else ""),
    )


def _day_of(moment: datetime) -> str:
    day, today = timezone.localtime(moment).date(), timezone.localdate()
    if day >= today:
        return _("Today")
    return _("Yesterday") if day == today - timedelta(days=1) else _("Earlier")


def _temporary(user: User, query: str) -> list[Group]:
    """Return the person's temporary chats whose title contains the query; none if Redis is down."""
    try:
        found = temporary.list_conversations(user)
    except RedisError:
        return []
    found = [one for one in found if query.casefold() in one.title.casefold()]
    found.sort(key=lambda one: one.updated_at, reverse=True)
    return [Group(_("Temporary"), [row_of(one) for one in found])] if found else []
