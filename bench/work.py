"""Requests operations that normally a timer, a page or an operator requests.

Run by a child of `dying.py` with Django set up.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any


def request(people: list[str], *, aim: str) -> None:
    """Request the operations of kind `aim`, or of all kinds if `aim` is empty."""
    from ops.access import as_system, as_user
    from ops.models import User

    with as_system():
        found = list(User.objects.filter(external_id__in=people, hidden_at__isnull=True))
    for kind, act in _OF_ALL.items():
        if aim in ("", kind):
            act(found)
    for kind, of_one in _OF_ONE.items():
        for user in found if aim in ("", kind) else ():
            with suppress(Exception), as_user(user):  # the user may be gone already
                of_one(user)


def _clean_up(people: list[Any]) -> None:
    """Let the recycled memories expire, and request the cleanup."""
    from django.utils import timezone

    from memories.models import Memory
    from ops import tasks
    from ops.access import as_system

    with as_system():
        binned = Memory.visible.filter(user__in=people, deleted_at__isnull=False)
        binned.update(purge_at=timezone.now())
    tasks.request_cleanup()


def _reindex(people: list[Any]) -> None:
    """Delete the vectors of the memories, as after a change of embedder, and request a reindex."""
    from memories.indexing import reindexing
    from memories.models import TargetKind, Vector
    from ops.access import as_system

    with as_system():
        Vector.objects.filter(user__in=people, target_kind=TargetKind.MEMORY).delete()
    reindexing.request()


def _build_index(people: list[Any]) -> None:
    from memories.indexing import reindexing
    from ops.access import as_system

    with as_system():
        reindexing._enqueue_user_indexes()


def _consolidate(user: Any) -> None:
    """Make the memories a month older, and request a consolidation."""
    from django.utils import timezone

    from memories.models import Memory
    from memories.writing import consolidation

    Memory.objects.filter(user=user).update(created_at=timezone.now() - timedelta(days=31))
    consolidation.request(user=user)


def _examine(user: Any) -> None:
    from conversations.models import Conversation
    from memories.learning import joint_learning

    for conversation in Conversation.objects.filter(user=user):
        joint_learning.request(conversation)


def _delete_layer(user: Any) -> None:
    from conversations.forgetting import message_forgets

    message_forgets.delete_layer(user=user, layer=random.choice(["summary", "episode"]))


_OF_ALL: Mapping[str, Callable[[list[Any]], object]] = {
    "cleanup": _clean_up,
    "reindex": _reindex,
    "build_index": _build_index,
}
_OF_ONE: Mapping[str, Callable[[Any], object]] = {
    "consolidate": _consolidate,
    "extract_conversation": _examine,
    "forget_layer": _delete_layer,
}
