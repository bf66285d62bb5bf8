"""Preview the memory block for a person, without any side effect."""

from __future__ import annotations

from conversations.block import context
from conversations.block.context import Context, Wanted
from conversations.models import Conversation
from memories.recall.candidate_pool import PreparedQuery
from ops.models import User, UserSettings

MISSES = 4


def preview(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation,
    own: UserSettings | None = None,
) -> Context:
    """Return what `context.build` would return, without a trace and without counting a use.

    A few memories just below the cut come with it. `own` is as in `context.build`.
    """
    wanted = Wanted(misses=MISSES, is_traced=False)
    return context.build(prepared, user=user, conversation=conversation, wanted=wanted, own=own)
