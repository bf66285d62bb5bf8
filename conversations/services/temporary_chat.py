"""One exchange in a temporary chat: answered from memory, kept for a day, learned from never."""

from __future__ import annotations

from conversations.models import Role
from conversations.services import speaking, temporary
from conversations.services.preparing import prepare_in_passing
from conversations.services.temporary import TemporaryConversation
from conversations.services.threads import title_from
from conversations.services.turns import MessageInput
from ops.models import User


def exchange(text: str, *, user: User, conversation: TemporaryConversation) -> None:
    """Answer `text` with the demo assistant and keep both in Redis; nothing else is written.

    "Forget that …" is done all the same: it was asked for, and the answer says what went. It opens
    its own transactions; call it outside of any.
    """
    prepared = prepare_in_passing(text, user=user, conversation=conversation)
    reply = speaking.demo_answer(prepared)
    if not conversation.title:
        conversation = temporary.rename(conversation, title=title_from(text))
    said = MessageInput(text), MessageInput(reply, role=Role.ASSISTANT)
    temporary.append(conversation, messages=said)
