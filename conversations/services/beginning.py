"""The first message of a conversation in the chat."""

from __future__ import annotations

from conversations.models import Conversation
from conversations.services import chat, threads
from conversations.services.chat import Exchange
from ops.access import as_user
from ops.models import User


def begin(text: str, *, user: User) -> Exchange:
    """Make a conversation and answer its first message; without an answer none is left behind.

    It opens its own transactions, as `chat.exchange` does, and raises what that raises.
    """
    with as_user(user):
        conversation = threads.create(user=user, external_id=None)
    answered = False
    try:
        exchange = chat.exchange(text, user=user, conversation=conversation)
        answered = True
    finally:
        if not answered:
            with as_user(user):
                Conversation.objects.filter(pk=conversation.pk, last_number=0).delete()
    return exchange
