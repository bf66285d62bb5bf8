"""Conversations as pages of an export."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from conversations import selectors
from conversations.models import Conversation, Message, Role
from memcenter.lib.text.richtext import file_name, one_line, quoted
from ops.accounts import users
from ops.models import User
from ops.registry import Page, reads_well
from ops.transfer.portable_rows import objects_out


@reads_well
def conversation_pages(user: User, conversation: int | None) -> Iterator[Page]:
    """Return one page for each conversation, named by its day and title."""
    zone = ZoneInfo(users.settings_of(user).timezone)
    rows = Conversation.objects.filter(user=user)
    if conversation is not None:
        rows = rows.filter(pk=conversation)
    for number, one in enumerate(objects_out(rows), start=1):
        day = localtime(one.created_at, zone).date().isoformat()
        name = file_name(one.title, fallback=one.public_id)
        yield Page(f"conversations/{number:04d} {day} {name}.md", _lines(user, one, zone))


def _lines(user: User, conversation: Conversation, zone: ZoneInfo) -> Iterator[str]:
    yield "# " + (one_line(conversation.title) or _("Untitled conversation"))
    yield ""
    count = conversation.message_count
    words = ngettext("%(n)s message", "%(n)s messages", count) % {"n": count}
    yield f"*{_moment(conversation.created_at, zone)} · {words}*"
    yield ""
    yield from _summary(user, conversation)
    for message in objects_out(selectors.messages_of(user, conversation)):
        yield f"**{_who(message)}** · {_moment(message.created_at, zone)}"
        yield ""
        yield quoted(message.content)
        yield ""


def _summary(user: User, conversation: Conversation) -> Iterator[str]:
    summary = selectors.summary_of(user, conversation)
    if summary is None:
        return
    yield "## " + _("Summary")
    yield ""
    yield quoted(summary.text)
    yield ""
    words = ngettext(
        "It covers the first message.",
        "It covers the first %(n)s messages.",
        summary.covered_message_count,
    )
    yield f"*{words % {'n': summary.covered_message_count}}*"
    yield ""
    yield "## " + pgettext("what was said", "Messages")
    yield ""


def _who(message: Message) -> str:
    if message.speaker:
        return one_line(message.speaker)
    if message.role == Role.USER:
        return pgettext("who speaks", "You")
    return str(Role(message.role).label)


def _moment(value: datetime, zone: ZoneInfo) -> str:
    return date_format(localtime(value, zone), "Y-m-d H:i")
