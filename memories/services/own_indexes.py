"""Giving people with very many memories an index of their own, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from memories.retrieval.stores import own_index
from ops.access import as_system
from ops.models import Kind, Operation, Priority
from ops.services import outbox
from ops.services.worker import Run


def request() -> Operation | None:
    """Enqueue it where something is to be built or dropped; one that waits already does it."""
    state = own_index.state(at_least=settings.OWN_INDEX_FROM)
    if not settings.OWNER_DATABASE_URL or (state.wanted == state.built and not state.broken):
        return None
    return _enqueue()


def let_go(user_id: int) -> Operation | None:
    """Ask for it where this person, whose vectors were erased just now, had an index."""
    if not settings.OWNER_DATABASE_URL or not own_index.of(user_id):
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
    """Build what is missing and drop what nobody needs any more; gives how many of each."""
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
