"""Undo a memory that was learned from a turn, without forgetting the turn."""

from __future__ import annotations

from conversations.models import Turn
from foundation.errors import Conflict, NotFound
from memories.indexing import search_index
from memories.models import Change, Memory, MemoryStatus, MemoryVersion, Source
from memories.writing import curation, memory_writes
from ops.access import as_user
from ops.models import User

CHANGED_SINCE = "It has changed since then. Its history shows every version."


def undo_learned_memory(*, user: User, turn: Turn, memory_id: str) -> Memory:
    """Undo one memory learned from a turn.

    Move the memory to the recycle bin if it was new, otherwise restore its previous text. If
    `memory_id` names a memory that was superseded by a memory from the turn, enable the superseded
    memory again and keep the newer one. Opens its own transactions. Raise `NotFound` if the memory
    wasn't learned from the turn, and `Conflict` if it has changed since or its earlier text was
    forgotten.
    """
    with as_user(user, changing=True):
        if retired := _retired_memory(user, turn, memory_id):
            return curation.enable(user=user, memory=retired)
        memory = Memory.objects.filter(user=user, public_id=memory_id).first()
        versions = MemoryVersion.objects.filter(user=user, memory=memory, sources__turn=turn)
        taught = versions.order_by("-number").first()
        if memory is None or taught is None:
            raise NotFound("This memory doesn’t exist.")
        if taught.number != memory.current_version:
            raise Conflict(CHANGED_SINCE)
        if taught.change == Change.CREATED:
            return curation.recycle(user=user, memory=memory)
        earlier = MemoryVersion.objects.filter(memory=memory, number__lt=taught.number)
        before = earlier.filter(erased_at__isnull=True).order_by("-number").first()
        if before is None:
            raise Conflict("The earlier text was forgotten, so it can’t be restored.")
    vectors, pieces = search_index.embed_memory(before.content)
    with as_user(user, changing=True):
        return memory_writes.restore_version(
            memory,
            number=before.number,
            text=before.content,
            vectors=vectors,
            pieces=pieces,
        )


def _retired_memory(user: User, turn: Turn, memory_id: str) -> Memory | None:
    taught = Source.objects.filter(user=user, turn=turn).values("memory")
    rows = Memory.objects.filter(user=user, public_id=memory_id, status=MemoryStatus.SUPERSEDED)
    return rows.filter(superseded_by__in=taught).first()
