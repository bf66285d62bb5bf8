"""One exchange in the chat of the web app: recall, answer, record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from conversations import demo_assistant, selectors
from conversations.demo_assistant import Intent
from conversations.models import Conversation
from conversations.services import context, turns
from conversations.services.context import Context
from conversations.services.turns import MessageInput, RecordedTurn
from memories.extraction.types import Said, TurnText
from memories.models import Memory
from memories.services import providers, requests, search, traces
from memories.services.requests import Asked
from memories.services.shelves import Filters, usable_memories
from ops.access import as_user
from ops.models import User
from ops.services import users

_TITLE = 60


@dataclass(frozen=True)
class Exchange:
    """What was said and answered, what was recalled for it, and what it made us forget."""

    turn: RecordedTurn
    context: Context
    forgotten: Sequence[str]


def exchange(text: str, *, user: User, conversation: Conversation) -> Exchange:
    """Answer `text` with the demo assistant and record the turn.

    "Forget that …" is done before the answer, so that the answer can say what was forgotten. It
    opens its own transactions; call it outside of any. Raises as `record_turn` does.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    prepared = search.prepare_query(text, speakers=speakers)
    asked = asked_to_forget(text)
    with as_user(user):
        forgotten = _forget(asked, user=user, conversation=conversation)
        found = context.build(prepared, user=user, conversation=conversation)
        remembering = users.settings_of(user).longterm_enabled
        remembered = _to_answer_with(text, found, user=user)
    reply = demo_assistant.answer(
        text,
        remembered=remembered,
        forgotten=forgotten if asked else None,
        remembering=remembering,
    )
    with as_user(user):
        _give_title(conversation, text)
        turn = turns.record_turn(
            user=user,
            conversation=conversation,
            user_message=MessageInput(text),
            assistant_message=MessageInput(reply),
            forget_done=bool(asked),
        )
        traces.answered(user=user, request_id=found.request_id, answer=turn.assistant_message)
    return Exchange(turn, found, forgotten)


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


def asked_to_forget(text: str) -> list[Asked]:
    """What the message asks to be forgotten, ready to be found; outside any transaction."""
    now = timezone.localtime()
    said = TurnText(user=Said(text, now), assistant=Said("", now))
    return requests.prepare(providers.bundled_extractor().extract(said).forget)


def _forget(asked: Sequence[Asked], *, user: User, conversation: Conversation) -> list[str]:
    if not asked:
        return []
    newest = Conversation.objects.values_list("last_number", flat=True).get(pk=conversation.pk)
    meant: list[Memory] = requests.find(
        asked, user=user, conversation=conversation, before=newest + 1
    )
    requests.forget(meant, user=user)
    return [one.content for one in meant]


def _give_title(conversation: Conversation, text: str) -> None:
    """A conversation is called by how it began, until the person names it."""
    if not conversation.title:
        conversation.title = title_from(text)
        conversation.save(update_fields=["title", "updated_at"])


def title_from(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _TITLE else f"{plain[:_TITLE].rstrip()}…"
