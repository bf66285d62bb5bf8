"""What is known before the first word of an answer: what was recalled, and what was forgotten."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from conversations import demo_assistant, selectors
from conversations.demo_assistant import Intent
from conversations.models import Conversation, Message
from conversations.services import context, temporary_context
from conversations.services.context import Context, Wanted, WindowMessage
from conversations.services.temporary import TemporaryConversation
from memories.extraction.types import Said, TurnText
from memories.models import Memory
from memories.services import providers, requests, search
from memories.services.requests import Asked
from memories.services.shelves import Filters, usable_memories
from ops.access import as_user
from ops.models import User
from ops.services import users


@dataclass(frozen=True)
class Prepared:
    """`window` are the messages before `text`; `forgotten` is None where nothing was asked to be.

    `remembered` is what the demo assistant answers with; `remembering`: whether this is learned.
    """

    text: str
    found: Context
    window: Sequence[WindowMessage]
    forgotten: Sequence[str] | None
    remembered: Sequence[str]
    remembering: bool


def prepare(
    text: str,
    *,
    user: User,
    conversation: Conversation,
    question: Message | None = None,
    without: Collection[str] = (),
) -> Prepared:
    """Recall for `text`, and first forget what it asks to be forgotten.

    `question` is its message where it is recorded already; the messages `without` (by public id)
    are no part of the window. It opens its own transactions; call it outside of any. Raises
    `ProviderError`.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    asked = asked_to_forget(text)
    with as_user(user):
        before = question.number if question else _next_number(conversation)
        forgotten = _forget(asked, user=user, conversation=conversation, before=before)
        found = context.build(query, user=user, conversation=conversation)
        return Prepared(
            text,
            found,
            [one for one in found.window if one.message_id not in without],
            forgotten if asked else None,
            _to_answer_with(text, found, user=user),
            users.settings_of(user).longterm_enabled,
        )


def prepare_in_passing(
    text: str, *, user: User, conversation: TemporaryConversation, without: Collection[str] = ()
) -> Prepared:
    """The same for a temporary chat: nothing of it is traced, and nothing will be learned.

    A bare "forget that" is about nothing taught here.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    query = search.prepare_query(text, speakers=speakers)
    wanted = asked_to_forget(text)
    asked = [one for one in wanted if one.vector is not None]
    with as_user(user):
        forgotten = _forget(asked, user=user, conversation=Conversation(user=user), before=0)
        found = temporary_context.build(
            query, user=user, conversation=conversation, wanted=Wanted()
        )
        return Prepared(
            text,
            found,
            [one for one in found.window if one.message_id not in without],
            forgotten if wanted else None,
            _to_answer_with(text, found, user=user),
            remembering=False,
        )


def asked_to_forget(text: str) -> list[Asked]:
    """What the message asks to be forgotten, ready to be found; outside any transaction."""
    now = timezone.localtime()
    said = TurnText(user=Said(text, now), assistant=Said("", now))
    return requests.prepare(providers.bundled_extractor().extract(said).forget)


def _next_number(conversation: Conversation) -> int:
    return 1 + Conversation.objects.values_list("last_number", flat=True).get(pk=conversation.pk)


def _forget(
    asked: Sequence[Asked], *, user: User, conversation: Conversation, before: int
) -> list[str]:
    if not asked:
        return []
    meant: list[Memory] = requests.find(asked, user=user, conversation=conversation, before=before)
    requests.forget(meant, user=user)
    return [one.content for one in meant]


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
