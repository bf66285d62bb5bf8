"""Taking back what one turn taught, without forgetting the turn."""

from __future__ import annotations

from conversations.models import Turn
from memcenter.lib.errors import Conflict, NotFound
from memories.models import Change, Memory, MemoryVersion
from memories.services import curating, indexing, writing
from ops.access import as_user
from ops.models import User

CHANGED_SINCE = "It has changed since then; its history shows every version."


def take_back(*, user: User, turn: Turn, memory_id: str) -> Memory:
    """A memory that the turn made goes to the recycle bin; one that it changed is as before.

    It opens its own transactions. Raises `NotFound` when the turn taught no such memory, and
    `Conflict` when it has changed since or what stood before was forgotten.
    """
    with as_user(user, changing=True):
        memory, taught = _taught(user, turn, memory_id)
        if taught.change == Change.CREATED:
            return curating.recycle(user=user, memory=memory)
        before = _before(memory, taught)
    vectors, pieces = indexing.embed_memory(before.content)
    with as_user(user, changing=True):
        return writing.restore_version(
            memory,
            number=before.number,
            text=before.content,
            vectors=vectors,
            pieces=pieces,
        )


def _taught(user: User, turn: Turn, memory_id: str) -> tuple[Memory, MemoryVersion]:
    """The memory, and its present version where that is what the turn taught."""
    memory = Memory.objects.filter(user=user, public_id=memory_id).first()
    versions = MemoryVersion.objects.filter(user=user, memory=memory, sources__turn=turn)
    taught = versions.order_by("-number").first()
    if memory is None or taught is None:
        raise NotFound("There is no such memory.")
    if taught.number != memory.current_version:
        raise Conflict(CHANGED_SINCE)
    return memory, taught


def _before(memory: Memory, taught: MemoryVersion) -> MemoryVersion:
    earlier = MemoryVersion.objects.filter(memory=memory, number__lt=taught.number)
    found = earlier.filter(erased_at__isnull=True).order_by("-number").first()
    if found is None:
        raise Conflict("What stood there before was forgotten, so it can't come back.")
    return found
