"""Export, import and erase this app's personal data; write conversations as readable pages."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext

from conversations import selectors
from conversations.forgetting.message_erasure import recount_conversation
from conversations.models import (
    Conversation,
    Episode,
    Feedback,
    Message,
    MessageTime,
    Role,
    Summary,
    Turn,
)
from conversations.recording.conversation_names import check_external_id
from conversations.recording.temporary import TemporaryData
from foundation.errors import Invalid
from foundation.text import tokens
from foundation.text.richtext import file_name, one_line, quoted
from memories.extraction import masking
from memories.learning import learnability
from ops.accounts import users
from ops.models import User
from ops.portable_rows import Loading, RejectedRow, exported_objects
from ops.registry import ChildRows, Page, Rows, register, register_readable_pages

BAD_ID = gettext_noop("an id is empty, too long or holds control characters")
TOO_LONG = gettext_noop("the text is longer than is allowed here")


@dataclass(frozen=True)
class ConversationRows(Rows):
    """Exports and imports conversations.

    If a conversation with the row's client id exists, the import adds messages to it.
    """

    def prepare(self, loading: Loading, row: Conversation, given: Mapping[str, Any]) -> None:
        check_client_id(row.external_id)
        row.title = masking.masked(row.title)
        row.message_count, row.last_message_at, row.speakers = 0, None, []


@dataclass(frozen=True)
class MessageRows(Rows):
    """Exports and imports messages.

    New messages of an existing conversation are appended to it. Messages of a file without message
    ids get running numbers as ids, so two files may use the same id for different texts. A message
    whose id is already used for another text gets a new id.
    """

    def prepare(self, loading: Loading, row: Message, given: Mapping[str, Any]) -> None:
        check_client_id(row.external_id)
        if len(row.content) > settings.MAX_MESSAGE_CHARS:
            raise RejectedRow(TOO_LONG)
        if settings.SECRETS_IN_MESSAGES == "mask":
            row.content = masking.masked_by_reading(row.content)
        if "token_count" not in given:
            row.token_count = tokens.count(row.content)
        learnability.mark_imported(
            row, is_on=loading.takes_memories, has_several_people=not loading.learns
        )
        if row.told == MessageTime.RECEIVED and not given.get("recorded_at"):
            row.told = MessageTime.DATED if given.get("created_at") else MessageTime.UNDATED

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        _give_new_ids(rows)
        found = super().known(loading, rows)
        last: dict[int, int] = loading.state.setdefault("last_number", {})
        touched: set[int] = loading.state.setdefault("touched", set())
        for row, key in zip(rows, found, strict=True):
            if key is None:
                touched.add(row.conversation_id)
            if key is None and loading.existed(Conversation, row.conversation_id):
                row.number = self._next(last, row.conversation_id)
        return found

    def _next(self, last: dict[int, int], conversation: int) -> int:
        if conversation not in last:
            locked = Conversation.everything.select_for_update().get(pk=conversation)
            last[conversation] = locked.last_number
        last[conversation] += 1
        return last[conversation]

    def finished(self, loading: Loading) -> None:
        """Update the counters of the changed conversations to match their messages."""
        last = loading.state.get("last_number", {})
        for pk in loading.state.pop("touched", ()):
            conversation = Conversation.everything.get(pk=pk)
            newest = Message.everything.filter(conversation=pk).order_by("-number").first()
            numbers = conversation.last_number, last.get(pk, 0), newest.number if newest else 0
            updated_at = conversation.updated_at
            recount_conversation(conversation)
            Conversation.everything.filter(pk=pk).update(
                last_number=max(numbers), updated_at=updated_at
            )


@dataclass(frozen=True)
class SummaryRows(Rows):
    """Exports and imports summaries.

    Secrets, which older export files may contain, are masked on import.
    """

    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        row.text = masking.masked(row.text)


@dataclass(frozen=True)
class EpisodeRows(Rows):
    """Exports and imports episodes. Secrets in the exported texts are masked."""

    def _out(self, rows: QuerySet[Any]) -> Iterator[Mapping[str, Any]]:
        for row in super()._out(rows):
            names = [name for name, _ in self.also]
            texts = masking.masked_together([row[name] or "" for name in names])
            yield {**row, **dict(zip(names, texts, strict=True))}


@dataclass(frozen=True)
class TurnRows(Rows):
    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        if not loading.learns:
            row.extracted_at = row.extracted_at or timezone.now()


def check_client_id(value: str | None) -> None:
    if value is None:
        return
    try:
        check_external_id(value, field="id")
    except Invalid as error:
        raise RejectedRow(BAD_ID) from error


def _give_new_ids(rows: list[Any]) -> None:
    wanted = {"external_id__in": [row.external_id for row in rows if row.external_id]}
    existing = Message.everything.filter(
        conversation__in={row.conversation_id for row in rows}, **wanted
    ).values_list("conversation", "external_id", "role", "content")
    texts = {(place, name): (role, content) for place, name, role, content in existing}
    for row in rows:
        known = texts.get((row.conversation_id, row.external_id))
        if known is not None and known != (row.role, row.content):
            # The hash in the id is keyed, so that nobody can use it to check guesses of the text.
            message = f"{row.conversation_id}:{row.external_id}:{row.role}:{row.content}"
            key = settings.SECRET_KEY.encode()
            digest = hmac.new(key, message.encode(), hashlib.sha256).hexdigest()
            row.external_id = f"{(row.external_id or '')[:150]}~{digest[:24]}"


_TEXTS = (
    ("user_message", "turn__user_message__content"),
    ("assistant_message", "turn__assistant_message__content"),
)
register(
    TemporaryData(),
    ChildRows(
        Feedback,
        order=40,
        parents=("message",),
        natural=("message",),
        conversation="message__conversation",
    ),
    SummaryRows(Summary, order=41, inside=("conversation",), conversation="conversation"),
    EpisodeRows(Episode, order=42, natural=("turn",), conversation="conversation", also=_TEXTS),
    TurnRows(Turn, order=43, natural=("user_message",), conversation="conversation"),
    MessageRows(
        Message, order=44, natural=("conversation", "external_id"), conversation="conversation"
    ),
    ConversationRows(Conversation, order=45, natural=("external_id",), conversation="pk"),
)


@register_readable_pages
def conversation_pages(user: User, conversation: int | None) -> Iterator[Page]:
    """Yield one readable page of an export for each conversation.

    With `conversation` (a primary key), yield only the page of that conversation. The file name of
    a page contains the day and the title of its conversation.
    """
    zone = ZoneInfo(users.settings_of(user).timezone)
    rows = Conversation.objects.filter(user=user)
    if conversation is not None:
        rows = rows.filter(pk=conversation)
    for number, one in enumerate(exported_objects(rows), start=1):
        day = localtime(one.created_at, zone).date().isoformat()
        name = file_name(one.title, fallback=_("Conversation"))
        yield Page(f"conversations/{number:04d} {day} {name}.md", _message_lines(user, one, zone))


def _message_lines(user: User, conversation: Conversation, zone: ZoneInfo) -> Iterator[str]:
    with timezone.override(zone):
        title = conversation.shown_title
    yield "# " + one_line(title)
    yield ""
    count = conversation.message_count
    words = ngettext("%(n)s message", "%(n)s messages", count) % {"n": count}
    yield f"*{_moment(conversation.created_at, zone)} · {words}*"
    yield ""
    yield from _summary_page(user, conversation)
    for message in exported_objects(selectors.messages_of(user, conversation)):
        yield f"**{_who(message)}** · {_moment(message.created_at, zone)}"
        yield ""
        yield quoted(message.content)
        yield ""


def _summary_page(user: User, conversation: Conversation) -> Iterator[str]:
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
