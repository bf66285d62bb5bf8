"""What is known before the first word of an answer: the recall, and what became of a forget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.conf import settings

from conversations import demo_assistant, selectors
from conversations.demo_assistant import Intent
from conversations.models import Conversation, Message
from conversations.services import context, temporary_context
from conversations.services.context import Context, Wanted, WindowMessage
from conversations.services.temporary import TemporaryConversation
from memories.services import requests, search
from memories.services.requests import Asked, Outcome
from memories.services.shelves import Filters, usable_memories
from ops.access import as_user
from ops.models import User
from ops.services import users


@dataclass(frozen=True)
class Prepared:
    """`window` are the messages before `text`; `forget` is None where nothing was asked to be.

    `remembered` is what the demo assistant answers with; `remembering`: whether this is learned.
    `only_forgets`: the message asks for nothing else, so that we answer it ourselves. `passing`:
    in a temporary chat, where no list to choose from is kept.
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
    """Recall for `text`, and first settle what it asks to be forgotten.

    `question` is its message where it is recorded already; the messages `without` (by public id)
    are no part of the window. It opens its own transactions; call it outside of any. Raises
    `ProviderError`.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    asked = requests.asked_in(text)
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
            only_forgets=requests.says_nothing_else(text, asked),
        )


def prepare_in_passing(
    text: str, *, user: User, conversation: TemporaryConversation, without: Collection[str] = ()
) -> Prepared:
    """The same for a temporary chat: nothing of it is traced, and nothing will be learned.

    A bare "forget that" is about nothing taught here. A question is put in words alone: nothing
    keeps its list.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    asked = requests.asked_in(text)
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
            only_forgets=requests.says_nothing_else(text, asked),
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
    found = requests.find(asked, user=user, conversation=conversation, before=before)
    return requests.answer(found, user=user)


def _to_answer_with(text: str, found: Context, *, user: User) -> list[str]:
    """What fits the message; all that is in use, most important first, when that is asked for."""
    asks_for_all = demo_assistant.intent_of(text) is Intent.LIST
    if not asks_for_all or not users.settings_of(user).longterm_enabled:
        return _that_fit(found)
    in_use = usable_memories(user, filters=Filters()).filter(project__isnull=True)
    best = in_use.order_by("-pinned", "-importance", "-pk")
    return list(best.values_list("content", flat=True)[: demo_assistant.LISTED + 1])


def _that_fit(found: Context) -> list[str]:
    """What answers the message, best first: constraints are in every block, whatever is asked."""
    relevance = {one.id: one.components.get("raw_relevance", 0.0) for one in found.items}
    memories = [one for one in found.items if one.type == "memory"]
    fitting = [one for one in memories if relevance[one.id] >= settings.RELEVANCE_FLOOR]
    return [one.text for one in sorted(fitting, key=lambda one: -relevance[one.id])]
