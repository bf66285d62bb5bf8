"""Move vector search to Milvus and back; PostgreSQL always holds all vectors.

On the way to Milvus, all vectors in PostgreSQL are added to the list of pending changes, which are
sent user by user; concurrent writes are added to the same list. When the list is empty, Milvus is
searched. On the way back, PostgreSQL is searched at once, and then the data in Milvus is dropped.
After a kill, the next worker finds the list unchanged and continues.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from memcenter.lib.database import statements
from memories.indexing import milvus_sync, search_index
from memories.models import EmbeddingSpace, SearchedIn, Vector, VectorChange
from ops.access import as_system
from ops.models import Kind, Operation, Priority, User
from ops.queue import outbox
from ops.queue.run import Run
from ops.transfer.export_requests import give_way

_SEED = """
INSERT INTO memories_vectorchange (user_id, space_id, target_kind, target_id)
SELECT user_id, space_id, target_kind, target_id FROM memories_vector WHERE space_id = %s
"""


def request(*, afresh: bool = False, lost: bool = False) -> Operation:
    """Enqueue moving vector search to the store that the settings name.

    With `afresh`, Milvus is filled again, as after a restore of PostgreSQL; until then PostgreSQL
    is searched. With `lost`, nothing is erased in a Milvus that is permanently gone.
    """
    with as_system():
        if afresh:
            EmbeddingSpace.objects.update(searched_in=SearchedIn.PGVECTOR)
        return _enqueue(settings.VECTOR_STORE, lost=lost)


def follow() -> Operation | None:
    """Refill Milvus after a switch to another space, if Milvus is in use; within `as_system`.

    This also drops the data of the previous space from Milvus.
    """
    if not milvus_sync.are_written_down():
        return None
    return _enqueue(settings.VECTOR_STORE, lost=False)


def _enqueue(to: str, *, lost: bool) -> Operation:
    return outbox.enqueue(
        Kind.MOVE_VECTORS,
        subject=None,
        payload={"to": to, "lost": lost},
        priority=Priority.BULK,
        dedupe_key=f"move_vectors:{to}:{lost}",
        serial_key="move_vectors",
    )


def move(run: Run) -> Mapping[str, int]:
    """Move in the direction that the payload names.

    Raises `ProviderError` (retryable) while Milvus can't be reached.
    """
    if run.payload["to"] == SearchedIn.MILVUS:
        return {"moved": _to_milvus(run)}
    return {"moved": _back(run)}


def _to_milvus(run: Run) -> int:
    server = milvus_sync.server()
    while True:
        with as_system():
            space = search_index.active_space()
        if space.searched_in == SearchedIn.PGVECTOR:
            run.step("begin")
            _begin(run, space)
        total = _tell_everybody(run, space)
        with run.applying_as_system():
            here = EmbeddingSpace.objects.filter(pk=space.pk, active=True)
            if here.update(searched_in=SearchedIn.MILVUS):
                break
    for other in server.spaces() - {space.pk}:
        run.step("drop")
        server.drop(other)
    return total


def _begin(run: Run, space: EmbeddingSpace) -> None:
    """Create an empty collection, then start recording changes, then list the existing vectors."""
    server = milvus_sync.server()
    if space.pk in server.spaces():
        server.drop(space.pk)
    server.make(space.pk, dimensions=space.dimensions)
    with run.applying_as_system():
        milvus_sync.write_down(True)
    with run.applying_as_system():
        statements.rows(_SEED, [space.pk])
        EmbeddingSpace.objects.filter(pk=space.pk).update(searched_in=SearchedIn.FILLING)


def _tell_everybody(run: Run, space: EmbeddingSpace) -> int:
    """Send all pending changes; return the total number of vectors."""
    last, total = 0, 0
    while (user_id := _next(after=last)) is not None or last:
        if user_id is None:
            last = 0  # start over for changes written in the meantime
            continue
        last = user_id
        with as_system():
            total = Vector.objects.filter(space=space).count()
            waiting = VectorChange.objects.count()
            user = User.objects.filter(pk=user_id).first()
        run.step("copy", done=max(0, total - waiting), total=total)
        if user is not None:
            give_way(user)
        milvus_sync.tell(user_id)
    return total


def _next(*, after: int) -> int | None:
    with as_system():
        found = VectorChange.objects.filter(user_id__gt=after).order_by("user_id")
        return found.values_list("user_id", flat=True).first()


def _back(run: Run) -> int:
    with run.applying_as_system():
        total = Vector.objects.filter(space__active=True).count()
        EmbeddingSpace.objects.update(searched_in=SearchedIn.PGVECTOR)
        if not milvus_sync.are_written_down():
            return total
    if not run.payload["lost"]:
        server = milvus_sync.server()
        for space in server.spaces():
            run.step("drop")
            server.drop(space)
    with run.applying_as_system():
        milvus_sync.write_down(False)
        statements.rows("DELETE FROM memories_vectorchange")
    return total
