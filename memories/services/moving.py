"""Moving the search among vectors to Milvus and back; PostgreSQL holds all of them in any case.

On the way there everything that is in PostgreSQL is put on the list of what Milvus must be told,
and told person by person; when the list is empty Milvus is searched. What is written meanwhile
comes on the same list. On the way back PostgreSQL is searched at once, and then what Milvus holds
goes. A worker that comes after a kill finds the list as it was, and goes on.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from memcenter.lib import statements
from memories.models import EmbeddingSpace, SearchedIn, Vector, VectorChange
from memories.services import indexing, vector_changes
from ops.access import as_system
from ops.models import Kind, Operation, Priority, User
from ops.services import outbox
from ops.services.exporting import give_way
from ops.services.worker import Run

_SEED = """
INSERT INTO memories_vectorchange (user_id, space_id, target_kind, target_id)
SELECT user_id, space_id, target_kind, target_id FROM memories_vector WHERE space_id = %s
"""


def request(*, afresh: bool = False, lost: bool = False) -> Operation:
    """Have vectors searched where the settings say.

    With `afresh` Milvus is filled anew, as after PostgreSQL was restored; until then PostgreSQL
    is searched. With `lost` nothing is erased in a Milvus that is gone for good.
    """
    with as_system():
        if afresh:
            EmbeddingSpace.objects.update(searched_in=SearchedIn.PGVECTOR)
        return _enqueue(settings.VECTOR_STORE, lost=lost)


def follow() -> Operation | None:
    """After another space came to be searched, within `as_system`: where Milvus was, it is again.

    What it holds of the space before goes with this.
    """
    if not vector_changes.are_written_down():
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
    """Raises `ProviderError` (retryable) while Milvus can't be reached."""
    if run.payload["to"] == SearchedIn.MILVUS:
        return {"moved": _to_milvus(run)}
    return {"moved": _back(run)}


def _to_milvus(run: Run) -> int:
    server = vector_changes.server()
    while True:
        with as_system():
            space = indexing.active_space()
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
    """An empty collection first, then whatever changes is written down, then what there is."""
    server = vector_changes.server()
    if space.pk in server.spaces():
        server.drop(space.pk)
    server.make(space.pk, dimensions=space.dimensions)
    with run.applying_as_system():
        vector_changes.write_down(True)
    with run.applying_as_system():
        statements.rows(_SEED, [space.pk])
        EmbeddingSpace.objects.filter(pk=space.pk).update(searched_in=SearchedIn.FILLING)


def _tell_everybody(run: Run, space: EmbeddingSpace) -> int:
    """Until nothing waits; gives how many vectors there are."""
    last, total = 0, 0
    while (user_id := _next(after=last)) is not None or last:
        if user_id is None:
            last = 0  # what was written meanwhile
            continue
        last = user_id
        with as_system():
            total = Vector.objects.filter(space=space).count()
            waiting = VectorChange.objects.count()
            user = User.objects.filter(pk=user_id).first()
        run.step("copy", done=max(0, total - waiting), total=total)
        if user is not None:
            give_way(user)
        vector_changes.tell(user_id)
    return total


def _next(*, after: int) -> int | None:
    with as_system():
        found = VectorChange.objects.filter(user_id__gt=after).order_by("user_id")
        return found.values_list("user_id", flat=True).first()


def _back(run: Run) -> int:
    with run.applying_as_system():
        total = Vector.objects.filter(space__active=True).count()
        EmbeddingSpace.objects.update(searched_in=SearchedIn.PGVECTOR)
        if not vector_changes.are_written_down():
            return total
    if not run.payload["lost"]:
        server = vector_changes.server()
        for space in server.spaces():
            run.step("drop")
            server.drop(space)
    with run.applying_as_system():
        vector_changes.write_down(False)
        statements.rows("DELETE FROM memories_vectorchange")
    return total
