"""Replicate vectors from PostgreSQL to Milvus, and move vector search to Milvus and back.

A trigger records each change to a vector in the transaction that makes the change; the trigger is
enabled while Milvus may hold vectors. Sending changes is safe to repeat: for each changed target,
Milvus gets the current vector from PostgreSQL, or deletes its copy if PostgreSQL has no vector.
Only one process at a time sends the changes of a user, so that no late write restores an erased
vector.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache

import orjson
from django.conf import settings
from django.db import DatabaseError

from foundation.database import statements
from foundation.errors import ProviderError
from foundation.providers.openai_compatible import CircuitBreaker
from memories.indexing import search_index
from memories.models import EmbeddingSpace, SearchedIn, Vector, VectorChange
from memories.models.vector import TABLES
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.milvus import AT_ONCE, Entity, MilvusServer, MilvusStore, name_of
from memories.retrieval.stores.pgvector import PgVectorStore
from ops.access import as_system
from ops.models import Kind, Operation, Priority, Status, User
from ops.queue import outbox
from ops.queue.run import Run
from ops.registry import handles
from ops.transfer.exports import yield_to_forgets

NAME = "milvus"
_LOCK = 0x6D76 << 48  # combined with the user's key
_ON = """EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = 'vector_changed'
    AND tgrelid = 'memories_vector'::regclass AND tgenabled <> 'D')"""
_USED = f"""
SELECT {_ON} AND (%s
    OR EXISTS (SELECT 1 FROM memories_embeddingspace WHERE searched_in <> %s)
    OR EXISTS (SELECT 1 FROM ops_operation WHERE kind = %s AND status = ANY(%s)))
"""


def server() -> MilvusServer:
    """Return the Milvus server that the settings name.

    Raise `ProviderError` if no server is configured. The error is retryable, since the setting may
    be restored.
    """
    if not settings.MILVUS_URI:
        raise ProviderError("MEMCENTER_MILVUS_URI is not set.", retryable=True)
    return MilvusServer(
        uri=settings.MILVUS_URI,
        token=settings.MILVUS_TOKEN,
        prefix=settings.MILVUS_PREFIX,
        timeout=settings.MILVUS_TIMEOUT,
    )


def searched_store() -> VectorStore:
    """Return the store to search: Milvus with PostgreSQL as its fallback, or only PostgreSQL."""
    if not settings.MILVUS_URI:
        return PgVectorStore()
    return MilvusStore(server(), _breaker(settings.MILVUS_URI), PgVectorStore())


@cache
def _breaker(uri: str) -> CircuitBreaker:
    return CircuitBreaker(failures=2, rest=5.0)


def are_changes_recorded() -> bool:
    """Return whether changes to vectors must be recorded, because Milvus may hold vectors.

    An enabled trigger doesn't prove this, because `pg_restore --disable-triggers` enables all
    triggers afterwards. In addition, one of these must be true: Milvus is configured, an embedding
    space is searched in Milvus or being copied to it, or a move of the vectors is unfinished.
    """
    unfinished = [Status.PENDING, Status.RUNNING, Status.FAILED]
    values = [bool(settings.MILVUS_URI), SearchedIn.PGVECTOR, Kind.MOVE_VECTORS, unfinished]
    [(used,)] = statements.rows(_USED, values)
    return bool(used)


def is_recording() -> bool:
    """Return whether the trigger that records changes to vectors is enabled."""
    return bool(statements.rows(f"SELECT {_ON}")[0][0])


def set_recording(wanted: bool) -> None:
    """Enable or disable the trigger that records changes to vectors.

    Call this function within `as_system`. It waits for current writers of vectors, and blocks new
    writers until the transaction ends.
    """
    statements.rows("SELECT memcenter_follow_vectors(%s)", [wanted])


def request_pending_syncs() -> int:
    """Enqueue a sync for every user with unsent changes; return the number of these users.

    Call this function within `as_system`. If changes need not be recorded, the function disables
    the trigger and deletes the recorded changes.
    """
    if is_recording() and not are_changes_recorded():
        set_recording(False)
        statements.rows("DELETE FROM memories_vectorchange")
    found = statements.rows(
        "SELECT u.id, u.subject FROM ops_user u"
        " WHERE EXISTS (SELECT 1 FROM memories_vectorchange c WHERE c.user_id = u.id)"
    )
    for user_id, subject in found:
        search_index.request_sync(user_id, subject)
    return len(found)


def send_changes(user_id: int, *, then: Callable[[int], object] | None = None) -> int:
    """Send all recorded changes of a user to Milvus; return how many vectors Milvus deleted.

    Call it outside any transaction. For each batch, `then` is called with the number of deleted
    vectors, in the transaction that removes the batch from the recorded changes. Raise
    `ProviderError` (retryable) if Milvus fails or another process is sending this user's changes;
    no change is lost.
    """
    erased = 0
    while True:
        with _user_lock(user_id):
            changes = _pending(user_id)
            if not changes:
                return erased
            deleted = _send_batch(user_id, changes)
            with as_system():
                statements.rows(
                    "DELETE FROM memories_vectorchange WHERE id = ANY(%s::bigint[])",
                    [[change[0] for change in changes]],
                )
                if then is not None:
                    then(deleted)
        erased += deleted


_Change = tuple[int, int, str, int, str | None]  # id, space, target kind and id, vector


def _pending(user_id: int) -> Sequence[_Change]:
    with as_system():
        found = statements.rows(
            "SELECT c.id, c.space_id, c.target_kind, c.target_id, v.embedding::text"
            "  FROM memories_vectorchange c LEFT JOIN memories_vector v"
            "    ON (v.user_id, v.space_id, v.target_kind, v.target_id)"
            "     = (c.user_id, c.space_id, c.target_kind, c.target_id)"
            " WHERE c.user_id = %s ORDER BY c.id LIMIT %s",
            [user_id, AT_ONCE],
        )
    return [(pk, space, kind, target, vector) for pk, space, kind, target, vector in found]


def _send_batch(user_id: int, changes: Sequence[_Change]) -> int:
    """Apply changes to Milvus, and return how many vectors Milvus deleted.

    Changes in an embedding space without a collection in Milvus are ignored.
    """
    milvus = server()
    deleted = 0
    for space in milvus.spaces() & {change[1] for change in changes}:
        here = {name_of(kind, pk): (kind, v) for _, at, kind, pk, v in changes if at == space}
        entities = [
            Entity(name, user_id, kind, orjson.loads(vector))
            for name, (kind, vector) in here.items()
            if vector is not None
        ]
        if entities:
            milvus.put(space, entities)
        deleted += milvus.remove(
            space, [name for name, (_, vector) in here.items() if vector is None]
        )
    return deleted


@contextmanager
def _user_lock(user_id: int) -> Iterator[None]:
    """Hold a lock that lets only one process at a time send the user's changes.

    The lock is a session lock, because Milvus is called outside a transaction. Raise
    `ProviderError` (retryable) if another process holds the lock.
    """
    key = _LOCK | user_id
    if not statements.rows("SELECT pg_try_advisory_lock(%s)", [key])[0][0]:
        raise ProviderError("Another process is sending this user's vectors.", retryable=True)
    try:
        yield
    finally:
        with suppress(DatabaseError):
            statements.rows("SELECT pg_advisory_unlock(%s)", [key])


class InMilvus:
    """Milvus, a store outside the database in which forgotten content must be erased as well."""

    name = NAME

    def is_used(self) -> bool:
        return are_changes_recorded()

    def erase_deleted_rows(self, user_id: int, *, then: Callable[[int], object]) -> None:
        send_changes(user_id, then=then)

    def entries_that_exist(
        self, user_id: int | None, gone: Mapping[str, Collection[int]], *, is_gone: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield the name of each checked entry, and whether the entry is residue.

        `gone` maps table names to the keys of erased rows; an entry of such a row is residue if it
        still exists. With `is_gone`, the user was erased, so all entries of the user are residue.
        If `gone` is empty, all entries of the user (of all users if `user_id` is None) are checked,
        and an entry without a vector in PostgreSQL is residue.
        """
        milvus = server()
        names = [name_of(kind, pk) for kind, table in TABLES.items() for pk in gone.get(table, ())]
        for space in sorted(milvus.spaces()):
            held = milvus.held(space, names)
            yield from ((name, name in held) for name in names)
            if user_id is not None and is_gone:
                yield from ((name, True) for name in milvus.some_of(space, user_id))
            if not gone:
                for part in milvus.everything(space, user_id=user_id):
                    yield from _without_vector(space, part)


def _without_vector(space: int, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    there = statements.rows(
        "SELECT target_kind || ':' || target_id FROM memories_vector WHERE space_id = %s"
        " AND target_id = ANY(%s::bigint[])",
        [space, [int(name.partition(":")[2]) for name in names]],
    )
    known = {name for (name,) in there}
    yield from ((name, name not in known) for name in names)


_SEED = """
INSERT INTO memories_vectorchange (user_id, space_id, target_kind, target_id)
SELECT user_id, space_id, target_kind, target_id FROM memories_vector WHERE space_id = %s
"""


def request_move(*, afresh: bool = False, lost: bool = False) -> Operation:
    """Enqueue a move of vector search to the store that the settings name.

    With `afresh`, Milvus is refilled, for example after PostgreSQL was restored from a backup;
    PostgreSQL is searched in the meantime. `lost` means that Milvus is permanently gone, so nothing
    is deleted there.
    """
    with as_system():
        if afresh:
            EmbeddingSpace.objects.update(searched_in=SearchedIn.PGVECTOR)
        return _enqueue_move(settings.VECTOR_STORE, lost=lost)


def enqueue_space_move() -> Operation | None:
    """Enqueue a move of vector search after a switch to another embedding space.

    The move fills Milvus with the vectors of the new space and drops the other spaces there, or
    empties Milvus if the settings name PostgreSQL. Return None if Milvus can't hold any vectors.
    Call this function within `as_system`.
    """
    if not are_changes_recorded():
        return None
    return _enqueue_move(settings.VECTOR_STORE, lost=False)


def _enqueue_move(to: str, *, lost: bool) -> Operation:
    return outbox.enqueue(
        Kind.MOVE_VECTORS,
        subject=None,
        payload={"to": to, "lost": lost},
        priority=Priority.BULK,
        dedupe_key=f"move_vectors:{to}:{lost}",
        serial_key="move_vectors",
    )


@handles(Kind.MOVE_VECTORS, is_long=True)
def move_search(run: Run) -> Mapping[str, int]:
    """Move vector search to Milvus or back to PostgreSQL, depending on the payload.

    Raise `ProviderError` (retryable) if Milvus can't be reached. Safe to run twice: a repeated run
    continues with the changes that Milvus doesn't have yet.
    """
    if run.payload["to"] == SearchedIn.MILVUS:
        return {"moved": _to_milvus(run)}
    return {"moved": _to_pgvector(run)}


def _to_milvus(run: Run) -> int:
    milvus = server()
    while True:
        with as_system():
            space = search_index.active_space()
        if space.searched_in == SearchedIn.PGVECTOR:
            run.step("begin")
            _begin(run, space)
        total = _send_all(run, space)
        with run.applying_as_system():
            here = EmbeddingSpace.objects.filter(pk=space.pk, active=True)
            if here.update(searched_in=SearchedIn.MILVUS):
                break
    for other in milvus.spaces() - {space.pk}:
        run.step("drop")
        milvus.drop(other)
    return total


def _begin(run: Run, space: EmbeddingSpace) -> None:
    """Prepare Milvus to be filled with all vectors of the embedding space.

    First, an empty collection is created; then the recording of changes is enabled; then all
    existing vectors are recorded as changes. In this order, no vector is missed.
    """
    milvus = server()
    if space.pk in milvus.spaces():
        milvus.drop(space.pk)
    milvus.make(space.pk, dimensions=space.dimensions)
    with run.applying_as_system():
        set_recording(True)
    with run.applying_as_system():
        statements.rows(_SEED, [space.pk])
        EmbeddingSpace.objects.filter(pk=space.pk).update(searched_in=SearchedIn.FILLING)


def _send_all(run: Run, space: EmbeddingSpace) -> int:
    """Send the recorded changes of all users; return the number of vectors in the space.

    If there are no changes, return 0.
    """
    last, total = 0, 0
    while (user_id := _next_user(after=last)) is not None or last:
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
            yield_to_forgets(user)
        send_changes(user_id)
    return total


def _next_user(*, after: int) -> int | None:
    with as_system():
        found = VectorChange.objects.filter(user_id__gt=after).order_by("user_id")
        return found.values_list("user_id", flat=True).first()


def _to_pgvector(run: Run) -> int:
    with run.applying_as_system():
        total = Vector.objects.filter(space__active=True).count()
        EmbeddingSpace.objects.update(searched_in=SearchedIn.PGVECTOR)
        if not are_changes_recorded():
            return total
    if not run.payload["lost"]:
        milvus = server()
        for space in milvus.spaces():
            run.step("drop")
            milvus.drop(space)
    with run.applying_as_system():
        set_recording(False)
        statements.rows("DELETE FROM memories_vectorchange")
    return total
