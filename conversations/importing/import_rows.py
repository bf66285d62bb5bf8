"""Import rows of our own export; messages that join an existing conversation get new numbers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from conversations.forgetting.message_erasure import leave_conversation
from conversations.models import Conversation, Message, ToldAs, Withheld
from conversations.recording.conversation_names import check_external_id
from memcenter.lib.errors import Invalid
from memcenter.lib.text import tokens
from memories.extraction import secret_masking
from memories.learning import learnability
from ops.registry import Rows
from ops.transfer.import_rows import Loading
from ops.transfer.portable_rows import Unfit

BAD_ID = gettext_noop("an id is empty, too long or holds control characters")
TOO_LONG = gettext_noop("the text is longer than is allowed here")


@dataclass(frozen=True)
class ConversationRows(Rows):
    """Conversations; one with an existing client id is the existing conversation."""

    def prepare(self, loading: Loading, row: Conversation, given: Mapping[str, Any]) -> None:
        check_client_id(row.external_id)
        row.title = secret_masking.masked(row.title)
        row.message_count, row.last_message_at, row.speakers = 0, None, []


@dataclass(frozen=True)
class MessageRows(Rows):
    """New messages of an existing conversation are appended at its end.

    Files without ids number their messages, so two files may use one id for different texts. Such
    a message is not taken for a repetition.
    """

    def prepare(self, loading: Loading, row: Message, given: Mapping[str, Any]) -> None:
        check_client_id(row.external_id)
        if len(row.content) > settings.MAX_MESSAGE_CHARS:
            raise Unfit(TOO_LONG)
        if settings.SECRETS_IN_MESSAGES == "mask":
            row.content = secret_masking.masked(row.content)
        if "token_count" not in given:
            row.token_count = tokens.count(row.content)
        row.withheld = row.withheld or _mark_of(row, loading)
        if row.told == ToldAs.TO_US and not given.get("recorded_at"):
            row.told = ToldAs.DATED if given.get("created_at") else ToldAs.UNDATED

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        _set_apart(rows)
        found = super().known(loading, rows)
        last: dict[int, int] = loading.state.setdefault("last_number", {})
        touched: set[int] = loading.state.setdefault("touched", set())
        for row, key in zip(rows, found, strict=True):
            if key is None:
                touched.add(row.conversation_id)
            if key is None and loading.was_there(Conversation, row.conversation_id):
                row.number = self._next(last, row.conversation_id)
        return found

    def _next(self, last: dict[int, int], conversation: int) -> int:
        if conversation not in last:
            locked = Conversation.everything.select_for_update().get(pk=conversation)
            last[conversation] = locked.last_number
        last[conversation] += 1
        return last[conversation]

    def finished(self, loading: Loading) -> None:
        """Update the counters and titles of the conversations to match their messages."""
        last = loading.state.get("last_number", {})
        for pk in loading.state.pop("touched", ()):
            conversation = Conversation.everything.get(pk=pk)
            newest = Message.everything.filter(conversation=pk).order_by("-number").first()
            numbers = conversation.last_number, last.get(pk, 0), newest.number if newest else 0
            updated_at = conversation.updated_at
            leave_conversation(conversation)
            Conversation.everything.filter(pk=pk).update(
                last_number=max(numbers), updated_at=updated_at
            )


@dataclass(frozen=True)
class SummaryRows(Rows):
    """Summaries. Files from before masking may contain secrets, which are masked on import."""

    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        row.text = secret_masking.masked(row.text)


@dataclass(frozen=True)
class EpisodeRows(Rows):
    """Episodes. Exported texts contain no secrets, and the messages are unchanged."""

    def _out(self, rows: QuerySet[Any]) -> Iterator[Mapping[str, Any]]:
        for row in super()._out(rows):
            said, reply = secret_masking.masked_together([row[name] or "" for name, _ in self.also])
            yield {**row, **dict(zip((name for name, _ in self.also), (said, reply), strict=True))}


@dataclass(frozen=True)
class TurnRows(Rows):
    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        if not loading.learns:
            row.extracted_at = row.extracted_at or timezone.now()


def _mark_of(row: Message, loading: Loading) -> Withheld:
    """Return the mark that forbids learning here, whatever the file says."""
    if not loading.learns:
        return Withheld.MANY_PEOPLE
    return learnability.mark_of(row.content, role=row.role, is_on=loading.takes_memories)


def check_client_id(value: str | None) -> None:
    if value is None:
        return
    try:
        check_external_id(value, field="id")
    except Invalid as error:
        raise Unfit(BAD_ID) from error


def _set_apart(rows: list[Any]) -> None:
    """Give messages whose id belongs to another text a new id, always the same one."""
    wanted = {"external_id__in": [row.external_id for row in rows if row.external_id]}
    there = Message.everything.filter(
        conversation__in={row.conversation_id for row in rows}, **wanted
    ).values_list("conversation", "external_id", "role", "content")
    texts = {(place, name): (role, content) for place, name, role, content in there}
    for row in rows:
        known = texts.get((row.conversation_id, row.external_id))
        if known is not None and known != (row.role, row.content):
            row.external_id = _other_id(row)


def _other_id(row: Message) -> str:
    """Return a keyed id, which can't be used to guess the text."""
    said = f"{row.conversation_id}:{row.external_id}:{row.role}:{row.content}"
    digest = hmac.new(settings.SECRET_KEY.encode(), said.encode(), hashlib.sha256).hexdigest()
    return f"{(row.external_id or '')[:150]}~{digest[:24]}"
