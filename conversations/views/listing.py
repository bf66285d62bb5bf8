"""The list of conversations: by day, newest first, searched by what was said in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from conversations import selectors
from conversations.models import Conversation, Message
from conversations.services import temporary
from conversations.services.temporary import TemporaryConversation
from ops.models import User

PAGE = 20


@dataclass(frozen=True)
class Row:
    """One conversation as a line of the list and as the head of its page."""

    public_id: str
    title: str
    url: str
    is_temporary: bool = False

    @property
    def shown_title(self) -> str:
        return self.title or _("Untitled conversation")

    @property
    def rename_url(self) -> str:
        return reverse("conversation_rename", args=[self.public_id])

    @property
    def menu(self) -> list[dict[str, Any]]:
        """What can be done besides renaming."""
        delete = reverse("conversation_delete", args=[self.public_id])
        going = {"icon": "trash", "href": delete, "hx_get": delete, "danger": True}
        if self.is_temporary:
            return [{"label": _("Delete now…"), **going}]
        clear = reverse("conversation_clear", args=[self.public_id])
        out = reverse("conversation_export", args=[self.public_id])
        return [
            {"label": _("Export…"), "icon": "download", "href": out, "hx_get": out},
            {"label": _("Clear…"), "icon": "forget", "href": clear, "hx_get": clear},
            {"label": _("Delete…"), "rule": True, **going},
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
    """One page of the list; `after` is the id of the conversation before it."""
    found = _ordered(_matching(user, query))
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
    for label, those in groupby(shown, key=lambda one: _day_of(one.moment)):
        # A day that began on the page before is not named again.
        groups.append(Group("" if label == day else label, [row_of(one) for one in those]))
    if len(rows) <= PAGE:
        return Listing(groups, query, "")
    more = {"after": shown[-1].public_id} | ({"q": query} if query else {})
    return Listing(groups, query, f"?{urlencode(more)}")


def newest(user: User) -> Conversation | None:
    return _ordered(selectors.conversations_of(user)).first()


def row_of(conversation: Conversation) -> Row:
    return Row(conversation.public_id, conversation.title, _url(conversation.public_id))


def temporary_row_of(conversation: TemporaryConversation) -> Row:
    url = _url(conversation.public_id)
    return Row(conversation.public_id, conversation.title, url, is_temporary=True)


def _url(public_id: str) -> str:
    return reverse("conversation", args=[public_id])


def _ordered(found: QuerySet[Conversation]) -> QuerySet[Any]:
    """By the last thing said; a conversation without messages by when it was made."""
    dated = found.annotate(moment=Coalesce(F("last_message_at"), F("created_at")))
    return dated.order_by("-moment", "-pk")


def _matching(user: User, query: str) -> QuerySet[Conversation]:
    found = selectors.conversations_of(user)
    if not query:
        return found
    said = Message.objects.filter(user=user, conversation=OuterRef("pk"), content__icontains=query)
    return found.filter(Q(title__icontains=query) | Exists(said))


def _day_of(moment: datetime) -> str:
    day, today = timezone.localtime(moment).date(), timezone.localdate()
    if day >= today:
        return _("Today")
    return _("Yesterday") if day == today - timedelta(days=1) else _("Earlier")


def _temporary(user: User, query: str) -> list[Group]:
    """Those that are still there; the list works without Redis."""
    try:
        found = temporary.all_of(user)
    except RedisError:
        return []
    found = [one for one in found if query.casefold() in one.title.casefold()]
    found.sort(key=lambda one: one.updated_at, reverse=True)
    return [Group(_("Temporary"), [temporary_row_of(one) for one in found])] if found else []
