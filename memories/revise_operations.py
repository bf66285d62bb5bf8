"""The handler of a model's second look at what was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.services import indexing, revising
from ops.access import as_user
from ops.models import Kind
from ops.registry import handles
from ops.services.worker import Run


@handles(Kind.REVISE_MEMORY)
def revise_memory(run: Run) -> Mapping[str, Any] | None:
    """Let the model revise what the rules decided about one written memory.

    Running it twice is safe: a memory that was revised is no longer in use as it was written.
    """
    user = run.user()
    if user is None:
        return None
    wanted = {"memory_id": run.payload["memory"], "version": run.payload["version"]}
    with as_user(user):
        memory = revising.find(user, **wanted)
    if memory is None:
        return None
    vectors, _ = indexing.embed_memory(memory.content)
    with as_user(user):
        written = revising.look(user, memory, vectors[0])
    if not written.known:
        return {"revised": False}
    return {"revised": revising.revise(run, user, written, revising.decide(written))}
