"""What the model would be given, for people who look: it leaves no mark."""

from __future__ import annotations

from django.db import transaction

from conversations.models import Conversation
from conversations.services import context
from conversations.services.context import Context
from memories.services.pool import PreparedQuery
from ops.models import User


def preview(prepared: PreparedQuery, *, user: User, conversation: Conversation) -> Context:
    """Exactly what `context.build` gives, without its trace and without counting as a use.

    It is the real thing, taken back, and so can't drift from it.
    """
    with transaction.atomic():
        built = context.build(prepared, user=user, conversation=conversation)
        transaction.set_rollback(True)
    return built
