"""Build the memory block for a temporary conversation, without a trace."""

from __future__ import annotations

import time
from dataclasses import replace

from django.conf import settings

from conversations.block import context
from conversations.block.context import Context, Wanted, WindowMessage
from conversations.recording import temporary
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from memories.recall.candidate_pool import PreparedQuery
from ops.models import User


def build(
    prepared: PreparedQuery, *, user: User, conversation: TemporaryConversation, wanted: Wanted
) -> Context:
    """Build the block as for a kept conversation, with the window of the temporary one.

    Nothing is written: no trace and no access count. The block of an unknown person is empty.
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
