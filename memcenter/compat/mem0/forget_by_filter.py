"""Forget the memories of a filter, and the conversations that `add` recorded for the same names."""

from __future__ import annotations

from django.db.models import Q

from conversations.forgetting import message_forgets
from conversations.models import Conversation
from memcenter.compat.mem0 import filters
from memcenter.compat.mem0.add_input import THREADS
from memcenter.compat.mem0.filters import Node
from memcenter.compat.mem0.people import name_of
from memories.forgetting import memory_forgets
from memories.models import Memory
from ops.access import as_user
from ops.models import Operation, User


def forget(user: User, tree: Node, *, key_id: int | None) -> Operation | None:
    """Forget all matches, whatever their state; return the first operation, or None without a
    match.

    A filter that names only a user, agent, app or run also forgets what was said under its name.
    """
    with as_user(user, changing=True):
        matching = filters.query(tree, user_name=name_of(user))
        memories = list(Memory.visible.filter(matching, user=user))
        begun = [
            message_forgets.forget_conversation(
                user=user, conversation=one, requested_by_key=key_id
            )
            for one in _threads(user, tree)
        ]
        if memories:
            begun.insert(
                0,
                memory_forgets.forget_memories(
                    user=user, memories=memories, requested_by_key=key_id
                ),
            )
    return begun[0] if begun else None


def _threads(user: User, tree: Node) -> list[Conversation]:
    names = filters.plain_entities(tree)
    if names is None or names.get("user_id", name_of(user)) != name_of(user):
        return []
    labels = {f"turns__labels__{key}": name for key, name in names.items() if key != "user_id"}
    rows = Conversation.objects.filter(user=user, external_id__startswith=THREADS)
    return list(rows.filter(Q(**labels)).distinct().order_by("pk"))
