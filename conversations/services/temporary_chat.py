"""One exchange in a temporary chat: answered from memory, kept for a day, learned from never."""

from __future__ import annotations

from conversations import demo_assistant, selectors
from conversations.models import Conversation, Role
from conversations.services import temporary, temporary_context
from conversations.services.chat import asked_to_forget, title_from
from conversations.services.context import Wanted
from conversations.services.temporary import TemporaryConversation
from conversations.services.turns import MessageInput
from memories.services import requests, search
from memories.services.requests import Asked
from ops.access import as_user
from ops.models import User


def exchange(text: str, *, user: User, conversation: TemporaryConversation) -> None:
    """Answer `text` and keep both in Redis; nothing else is written.

    "Forget that …" is done all the same: it was asked for, and the answer says what went. It opens
    its own transactions; call it outside of any.
    """
    with as_user(user):
        speakers = selectors.speakers_of(user)
    prepared = search.prepare_query(text, speakers=speakers)
    asked = _asked_to_forget(text)
    with as_user(user):
        forgotten = _forget(asked, user=user)
        found = temporary_context.build(
            prepared, user=user, conversation=conversation, wanted=Wanted()
        )
    reply = demo_assistant.answer(
        text,
        remembered=[one.text for one in found.items if one.type == "memory"],
        forgotten=forgotten if asked is not None else None,
        remembering=False,
    )
    if not conversation.title:
        conversation = temporary.rename(conversation, title=title_from(text))
    said = MessageInput(text), MessageInput(reply, role=Role.ASSISTANT)
    temporary.append(conversation, messages=said)


def _asked_to_forget(text: str) -> list[Asked] | None:
    """None where nothing is asked for. A bare "forget that" is about nothing taught here."""
    wanted = asked_to_forget(text)
    if not wanted:
        return None
    return [one for one in wanted if one.vector is not None]


def _forget(asked: list[Asked] | None, *, user: User) -> list[str]:
    if not asked:
        return []
    meant = requests.find(asked, user=user, conversation=Conversation(user=user), before=0)
    requests.forget(meant, user=user)
    return [one.content for one in meant]
