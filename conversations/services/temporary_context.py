"""The memory block for a temporary conversation: recalled, and no trace of it kept."""

from __future__ import annotations

import time
from dataclasses import replace

from django.conf import settings

from conversations.services import context, temporary
from conversations.services.context import Context, Wanted, WindowMessage
from conversations.services.temporary import TemporaryConversation, TemporaryMessage
from memories.services.pool import PreparedQuery
from ops.models import User


def build(
    prepared: PreparedQuery, *, user: User, conversation: TemporaryConversation, wanted: Wanted
) -> Context:
    """As for a kept conversation, with the temporary one's window; nothing is written.

    Neither a trace nor a counting of accesses is made. For a person who isn't there yet the block
    is empty.
    """
    window = _window(conversation) if wanted.include_window else []
    if user.pk is None:
        return Context("", "", 0, [], window, [], 0.0)
    started = time.perf_counter()
    wanted = replace(wanted, conversation_kind=conversation.kind, is_traced=False)
    found = context.build(prepared, user=user, wanted=wanted)
    took = (time.perf_counter() - started) * 1000
    return replace(found, request_id="", window=window, took_ms=took)


def _window(conversation: TemporaryConversation) -> list[WindowMessage]:
    taken: list[TemporaryMessage] = []
    total = 0
    spoken = [one for one in temporary.read(conversation) if one.completed]
    for message in reversed(spoken[-settings.WINDOW_MESSAGES :]):
        total += message.token_count
        if taken and total > settings.WINDOW_TOKENS:
            break
        taken.append(message)
    return [WindowMessage(one.role, one.content, one.public_id) for one in reversed(taken)]
