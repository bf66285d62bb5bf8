"""Prepare messages for display as bubbles on the chat page.

A bubble shows the speaker, the text, the time, the memories used and learned, and actions. A note
below the last bubble describes the state of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from conversations import selectors
from conversations.chat import answer_stream, demo_assistant
from conversations.chat.answer_stream import End
from conversations.models import Conversation, Message, Role, Turn
from conversations.pages import forget_cards, forget_receipts, turn_memories
from conversations.pages.forget_cards import Card
from conversations.pages.forget_receipts import ForgetLine
from conversations.pages.turn_memories import Lessons
from conversations.recording.temporary import TemporaryMessage
from foundation.text.richtext import as_html
from memories.templatetags.memory_center import day as day_of
from ops.models import User

PAGE = 20
PAGE_CHARS = 8_000  # maximum total length of a page's messages, which keeps the page below 100 kB


@dataclass(frozen=True)
class Bubble:
    """A message as the chat shows it. `day` is set only on the first message of a day.

    If the answer asked what to forget and the person has chosen, `settled` describes the outcome.
    It is shown instead of the text, which is collapsed. `is_last` is True for the last question and
    its answer. Only that answer can be requested again.
    """

    public_id: str
    role: str
    who: str
    text: str
    said_at: datetime
    day: str = ""
    rating: str = ""
    comment: str = ""
    used: int = 0
    lessons: Lessons | None = None
    card: Card | None = None
    settled: str = ""
    receipts: Sequence[ForgetLine] = ()
    is_temporary: bool = False
    is_whole_turn: bool = False
    is_completed: bool = True
    is_stopped: bool = False
    is_last: bool = False

    @property
    def side(self) -> str:
        return "user" if self.role == Role.USER else "assistant"

    @property
    def html(self) -> SafeString:
        return as_html(self.text)

    @property
    def mentions_pending_review(self) -> bool:
        return demo_assistant.mentions_pending_review(self.text)

    @property
    def can_be_rated(self) -> bool:
        return self.role == Role.ASSISTANT and not self.is_temporary

    @property
    def menu(self) -> list[dict[str, Any]]:
        """Return the actions of the message's menu.

        Copying isn't in the menu, since it has its own button.
        """
        if self.is_temporary:
            return []
        forget = reverse("message_forget", args=[self.public_id])
        words = _("Delete and forget this exchange…")
        alone = _("Delete and forget this message…")
        label = words if self.is_whole_turn else alone
        forget_item = {
            "label": label,
            "icon": "forget",
            "href": forget,
            "hx_get": forget,
            "danger": True,
        }
        if self.role != Role.USER:
            return [forget_item]
        keep = reverse("message_remember", args=[self.public_id])
        return [
            {"label": _("Remember this…"), "icon": "memory", "href": keep, "hx_get": keep},
            forget_item,
        ]


@dataclass(frozen=True)
class Bubbles:
    """The messages of one page of a conversation, oldest first.

    `earlier` is the smallest message number on the page if the conversation has earlier messages,
    else None. The link to the previous page contains this number.
    """

    shown: Sequence[Bubble]
    messages: Sequence[Message]
    earlier: int | None = None
    is_latest: bool = True


def bubbles_of(
    user: User, conversation: Conversation, *, before: int | None = None, at: str = ""
) -> Bubbles:
    """Return one page of messages: the newest ones, or the newest with numbers less than `before`.

    If `at` is the id of a message, return the messages around it instead.
    """
    found = selectors.messages_of(user, conversation).order_by("-number")
    if at:
        before = _page_end(found, at)
    if before is not None:
        found = found.filter(number__lt=before)
    rows = list(found.select_related("feedback")[: PAGE + 1])
    # At least two messages are shown, however long they are.
    lengths = accumulate(len(one.content) for one in rows[:PAGE])
    fitting = sum(total <= PAGE_CHARS for total in lengths)
    messages = rows[: max(fitting, 2)][::-1]
    return Bubbles(
        build_bubbles(user, messages, is_last=before is None),
        messages,
        earlier=messages[0].number if len(rows) > len(messages) else None,
        is_latest=before is None,
    )


def _page_end(found: QuerySet[Message], public_id: str) -> int | None:
    """Return the number of the message directly after a page that has this message in its middle.

    Return None if there is no message with this id, or if no messages follow the page.
    """
    wanted = found.filter(public_id=public_id).values_list("number", flat=True).first()
    if wanted is None:
        return None
    after = found.filter(number__gt=wanted).order_by("number").values_list("number", flat=True)
    beyond = list(after[PAGE // 2 : PAGE // 2 + 1])
    return beyond[0] if beyond else None


def build_bubbles(
    user: User,
    messages: Sequence[Message],
    *,
    after: Message | None = None,
    is_last: bool = False,
) -> list[Bubble]:
    """Return the messages as bubbles.

    `after` is the message before them in the conversation, or None if there is none or it is
    unknown. `is_last` is True if the conversation ends with these messages.
    """
    turns = list(
        Turn.objects.filter(
            Q(user_message__in=messages) | Q(assistant_message__in=messages), user=user
        ).select_related("user_message")
    )
    lessons = {
        one.turn.assistant_message_id: one for one in turn_memories.lessons_of(user, turns).values()
    }
    assistants = {turn.pk: turn.assistant_message_id for turn in turns}
    asked = forget_cards.requests_of(user, turns)
    cards = {
        assistants[pk]: one for pk, one in forget_cards.cards_of(user, turns, asked=asked).items()
    }
    settled = {assistants[pk]: words for pk, words in forget_cards.settled_words(asked).items()}
    receipts = {
        assistants[pk]: lines for pk, lines in forget_receipts.receipts_of(user, asked).items()
    }
    paired = {pk for turn in turns for pk in (turn.user_message_id, turn.assistant_message_id)}
    used = turn_memories.counts_of(user, [one for one in messages if one.role == Role.ASSISTANT])
    last = _day(after.created_at) if after else None
    last_ones = _last_exchange(messages) if is_last else set()
    shown = []
    for message in messages:
        day = _day(message.created_at)
        shown.append(
            Bubble(
                public_id=message.public_id,
                role=message.role,
                who=message.speaker or sender_label(message.role),
                text=message.content,
                said_at=message.created_at,
                day="" if day == last else _day_name(message.created_at),
                rating=message.feedback.rating if hasattr(message, "feedback") else "",
                comment=message.feedback.comment if hasattr(message, "feedback") else "",
                used=used[message.pk],
                lessons=lessons.get(message.pk),
                card=cards.get(message.pk),
                settled=settled.get(message.pk, ""),
                receipts=receipts.get(message.pk, ()),
                is_whole_turn=message.pk in paired,
                is_completed=message.completed,
                is_stopped=message.stopped,
                is_last=message.public_id in last_ones,
            )
        )
        last = day
    return shown


def _last_exchange(messages: Sequence[Message | TemporaryMessage]) -> set[str]:
    """Return the ids of the last question and of its answer, if it has one.

    Return an empty set if the conversation doesn't end with a question or its answer.
    """
    newest = list(messages[-2:])
    roles = [one.role for one in newest]
    if roles == [Role.USER, Role.ASSISTANT]:
        return {one.public_id for one in newest}
    return {newest[-1].public_id} if roles[-1:] == [Role.USER] else set()


def build_temporary_bubbles(messages: Sequence[TemporaryMessage]) -> list[Bubble]:
    last_ones = _last_exchange(messages)
    return [
        Bubble(
            public_id=one.public_id,
            role=one.role,
            who=one.speaker or sender_label(one.role),
            text=one.content,
            said_at=one.created_at,
            is_temporary=True,
            is_completed=one.completed,
            is_stopped=one.stopped,
            is_last=one.public_id in last_ones,
        )
        for one in messages
    ]


def sender_label(role: str) -> str:
    return {
        Role.USER.value: _("You"),
        Role.ASSISTANT.value: _("Assistant"),
        Role.TOOL.value: _("Tool"),
    }.get(role, _("System"))


def _day_name(moment: datetime) -> str:
    past = timezone.localdate() - _day(moment)
    if past <= timedelta(0):
        return _("Today")
    return _("Yesterday") if past == timedelta(days=1) else day_of(moment)


def _day(moment: datetime) -> date:
    return timezone.localtime(moment).date()


@dataclass(frozen=True)
class EndNote:
    """The note below the last message, for instance that an answer was cut off.

    `again` is the label of the button that requests an answer, or "" for no button.
    """

    words: str
    conversation: str
    again: str = ""
    is_answering: bool = False

    @property
    def answer_url(self) -> str:
        return reverse("conversation_answer", args=[self.conversation])

    @property
    def stop_url(self) -> str:
        return reverse("conversation_stop", args=[self.conversation])


def end_note_of_page(public_id: str, last: Bubble) -> EndNote | None:
    """Return the note to show below the conversation's last message, or None for no note."""
    if last.role == Role.USER and answer_stream.is_answering(public_id):
        return EndNote(_("An answer is being written…"), public_id, is_answering=True)
    if last.role == Role.USER:
        return EndNote(_("This message has no answer yet."), public_id, again=_("Get an answer"))
    if last.role == Role.ASSISTANT and not last.is_completed:
        return EndNote(_("This answer was cut off."), public_id, again=_("Try again"))
    return None


def end_note_after(end: End, public_id: str, *, had_answer: bool) -> EndNote | None:
    """Return the note to show after an attempt to answer, or None if no note is needed.

    `end` is the reason why the attempt ended. `had_answer` is True if the question already had an
    answer before it.
    """
    again = _("Try again")
    if end in (End.WHOLE, End.STOPPED) or (had_answer and end is End.UNSAID):
        return None  # the bubble of a stopped answer has its own permanent label
    if end is End.GONE:
        words = _("This was changed somewhere else. Reload the page to see the latest version.")
        return EndNote(words, public_id)
    if had_answer:
        return EndNote(
            _("There is no new answer. The earlier one is still here."), public_id, again
        )
    if end is End.BROKEN:
        return EndNote(
            _("The answer was cut off. Everything up to that point was saved."), public_id, again
        )
    if end is End.UNSAID:
        return EndNote(_("Stopped before the first word."), public_id, _("Get an answer"))
    words = _("No answer: the model can’t be reached right now. Your message was saved.")
    return EndNote(words, public_id, again)
