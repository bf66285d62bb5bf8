"""Prepare an answer: recall memories and carry out a request to forget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.conf import settings

from conversations import selectors
from conversations.block import context, temporary_context
from conversations.block.context import Context, Wanted, WindowMessage
from conversations.chat import demo_assistant
from conversations.chat.demo_assistant import Intent
from conversations.models import Conversation, Message
from conversations.recording.temporary import TemporaryConversation
from memories.forgetting import spoken_requests
from memories.forgetting.spoken_requests import Asked, Outcome
from memories.recall import search
from memories.recall.searchable_texts import Filters, usable_memories
from ops.access import as_user
from ops.accounts import users
from ops.models import User


@dataclass(frozen=True)
class Prepared:
    """Everything known before the first word of an answer.

    `window` holds the messages before `text`. `forget` is the outcome of a request to forget, or
    None. `remembered` holds the texts that the demo assistant answers with. `remembering` tells
    whether the turn will be learned from. `only_forgets` tells that the message asks for nothing
    but a forget, so that no model is called. `passing` marks a temporary chat, which stores no
    list to choose from.
    """

    text: str
    found: Context
    window: Sequence[WindowMessage]
    forget: Outcome | None
    remembered: Sequence[str]
    remembering: bool
    only_forgets: bool = False
    passing: bool = False


def prepare(
    text: str,
    *,
    user: User,
    conversation: Conversation,
    question: Message | None = None,
    without: Collection[str] = (),
) -> Prepared:
    """Carry out a request to forget in `text`, then recall for it.

    `question` is the message if it is recorded already. Messages in `without` (public ids) are
    left out of the window. Opens its own transactions; call it outside of any. Raises
    `ProviderError`.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    asked = spoken_requests.asked_in(text)
    with as_user(user, changing=bool(asked)):
        before = question.number if question else _next_number(conversation)
        forget = _settled(asked, user=user, conversation=conversation, before=before)
        found = context.build(query, user=user, conversation=conversation)
        return Prepared(
            text,
            found,
            [one for one in found.window if one.message_id not in without],
            forget,
            _to_answer_with(text, found, user=user),
            users.settings_of(user).longterm_enabled,
            only_forgets=spoken_requests.says_nothing_else(text, asked),
        )


def prepare_in_passing(
    text: str, *, user: User, conversation: TemporaryConversation, without: Collection[str] = ()
) -> Prepared:
    """Do the same for a temporary chat, without a trace and without learning.

    A bare "forget that" refers to nothing, because a temporary chat teaches nothing. A question
    back to the person is text only, because no list to choose from is stored.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    asked = spoken_requests.asked_in(text)
    with as_user(user, changing=bool(asked)):
        forget = _settled(asked, user=user)
        found = temporary_context.build(
            query, user=user, conversation=conversation, wanted=Wanted()
        )
        return Prepared(
            text,
            found,
            [one for one in found.window if one.message_id not in without],
            forget,
            _to_answer_with(text, found, user=user),
            remembering=False,
            passing=True,
            only_forgets=spoken_requests.says_nothing_else(text, asked),
        )


def _next_number(conversation: Conversation) -> int:
    return 1 + Conversation.objects.values_list("last_number", flat=True).get(pk=conversation.pk)


def _settled(
    asked: Sequence[Asked],
    *,
    user: User,
    conversation: Conversation | None = None,
    before: int = 0,
) -> Outcome | None:
    if not asked:
        return None
    found = spoken_requests.find(asked, user=user, conversation=conversation, before=before)
    return spoken_requests.answer(found, user=user)


def _to_answer_with(text: str, found: Context, *, user: User) -> list[str]:
    """Return the texts that fit the message, or all active memories if the person asks for them."""
    asks_for_all = demo_assistant.intent_of(text) is Intent.LIST
    if not asks_for_all or not users.settings_of(user).longterm_enabled:
        return _that_fit(found)
    in_use = usable_memories(user, filters=Filters()).filter(project__isnull=True)
    best = in_use.order_by("-pinned", "-importance", "-pk")
    return list(best.values_list("content", flat=True)[: demo_assistant.LISTED + 1])


def _that_fit(found: Context) -> list[str]:
    """Return the relevant texts, best first. Constraints in the block need not be relevant."""
    relevance = {one.id: one.components.get("raw_relevance", 0.0) for one in found.items}
    memories = [one for one in found.items if one.type == "memory"]
    fitting = [one for one in memories if relevance[one.id] >= settings.RELEVANCE_FLOOR]
    return [one.text for one in sorted(fitting, key=lambda one: -relevance[one.id])]
