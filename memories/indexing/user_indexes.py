"""Build and drop per-user vector indexes for users with very many memories."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from memories.retrieval.stores import own_index
from ops.access import as_system
from ops.models import Kind, Operation, Priority
from ops.queue import outbox
from ops.queue.run import Run


def request() -> Operation | None:
    """Enqueue building and dropping indexes, if any change is needed and none is queued."""
    state = own_index.state(at_least=settings.OWN_INDEX_FROM)
    if not settings.OWNER_DATABASE_URL or (state.wanted == state.built and not state.broken):
        return None
    return _enqueue()


def let_go(user_id: int) -> Operation | None:
    """Enqueue dropping the user's index, if there is one, after the user's vectors were erased."""
    if not settings.OWNER_DATABASE_URL or not own_index.list_indexes(user_id):
        return None
    return _enqueue()


def _enqueue() -> Operation:
    return outbox.enqueue(
        Kind.BUILD_INDEX,
        subject=None,
        payload={},
        priority=Priority.BULK,
        dedupe_key="own-indexes",
        serial_key="own-indexes",
    )


def bring_in_line(run: Run) -> Mapping[str, int]:
    """Build missing indexes and drop surplus ones; return the number of each."""
    with as_system():
        state = own_index.state(at_least=settings.OWN_INDEX_FROM)
    missing = sorted(state.wanted - state.built)
    surplus = sorted((state.built - state.wanted) | state.broken)
    with own_index.as_owner(settings.OWNER_DATABASE_URL) as connection:
        for index in surplus:
            run.step("drop")
            own_index.drop(connection, index)
        for done, index in enumerate(missing):
            run.step("build", done=done, total=len(missing))
            own_index.build(connection, index)
    return {"built": len(missing), "dropped": len(surplus)}
