"""What the model would be given, for people who look: it leaves no mark."""

from __future__ import annotations

from conversations.models import Conversation
from conversations.services import context
from conversations.services.context import Context, Wanted
from memories.services.pool import PreparedQuery
from ops.models import User, UserSettings

MISSES = 4


def preview(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation,
    own: UserSettings | None = None,
) -> Context:
    """Exactly what `context.build` gives, without a trace and without counting as a use.

    With it come a few memories that it had almost given. `own` as there.
    """
    wanted = Wanted(misses=MISSES, is_traced=False)
    return context.build(prepared, user=user, conversation=conversation, wanted=wanted, own=own)
