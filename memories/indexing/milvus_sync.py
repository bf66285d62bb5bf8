"""Make Milvus follow PostgreSQL: send inserted, changed and deleted vectors, user by user.

A trigger records changes in the transaction that makes them; it is enabled while Milvus may hold
anything. Sending is safe to repeat: for each changed target, Milvus gets the current vector from
PostgreSQL, or erases its own. Only one process at a time sends changes of a user, so that no late
write restores an erased vector.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DatabaseError

from memcenter.lib.database import statements
from memcenter.lib.errors import ProviderError
from memcenter.providers.breaker import CircuitBreaker
from memories.models.vector import TABLES, SearchedIn
from memories.retrieval.stores.base import VectorStore
from memories.retrieval.stores.milvus import MilvusStore
from memories.retrieval.stores.milvus_server import AT_ONCE, Entity, MilvusServer, name_of
from memories.retrieval.stores.pgvector import PgVectorStore
from ops.access import as_system
from ops.models import Kind, Operation, Priority, Status, User
from ops.queue import outbox

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
    """Return the server.

    Raises `ProviderError` (retryable) if the settings name none, since the setting may be restored.
    """
    if not settings.MILVUS_URI:
        raise ProviderError("MEMCENTER_MILVUS_URI is not set.", retryable=True)
    return MilvusServer(
        uri=settings.MILVUS_URI,
        token=settings.MILVUS_TOKEN,
        prefix=settings.MILVUS_PREFIX,
        timeout=settings.MILVUS_TIMEOUT,
    )


def searched() -> VectorStore:
    """Return the Milvus store, which falls back to PostgreSQL while Milvus doesn't respond."""
    if not settings.MILVUS_URI:
        return PgVectorStore()
    return MilvusStore(server(), _breaker(settings.MILVUS_URI), PgVectorStore())


@cache
def _breaker(uri: str) -> CircuitBreaker:
    return CircuitBreaker(failures=2, rest=5.0)


def are_written_down() -> bool:
    """Whether changes must be recorded, because Milvus may hold anything.

    If no Milvus is configured and no vector was ever moved or is being moved there, the trigger was
    enabled by `pg_restore --disable-triggers`, which enables all triggers afterwards.
    """
    unfinished = [Status.PENDING, Status.RUNNING, Status.FAILED]
    values = [bool(settings.MILVUS_URI), SearchedIn.PGVECTOR, Kind.MOVE_VECTORS, unfinished]
    [(used,)] = statements.rows(_USED, values)
    return bool(used)


def is_on() -> bool:
    """Whether the trigger records changes."""
    return bool(statements.rows(f"SELECT {_ON}")[0][0])


def write_down(wanted: bool) -> None:
    """Enable or disable the trigger, within `as_system`; waits for writers and blocks others."""
    statements.rows("SELECT memcenter_follow_vectors(%s)", [wanted])


def request(user: User) -> Operation:
    """Enqueue sending the user's pending changes, in the transaction that made them."""
    return _enqueue(user.pk, user.subject)


def request_where_waiting() -> int:
    """Enqueue sending for every user with pending changes, within `as_system`; return how many.

    Without Milvus, the trigger is disabled and its records are deleted, however it was enabled.
    """
    if is_on() and not are_written_down():
        write_down(False)
        statements.rows("DELETE FROM memories_vectorchange")
    found = statements.rows(
        "SELECT u.id, u.subject FROM ops_user u"
        " WHERE EXISTS (SELECT 1 FROM memories_vectorchange c WHERE c.user_id = u.id)"
    )
    for user_id, subject in found:
        _enqueue(user_id, subject)
    return len(found)


def _enqueue(user_id: int, subject: UUID) -> Operation:
    return outbox.enqueue(
        Kind.SYNC_VECTORS,
        subject=subject,
        payload={},
        priority=Priority.INDEX,
        dedupe_key=f"sync_vectors:{user_id}",
        serial_key=str(subject),
    )


def tell(user_id: int, *, then: Callable[[int], object] | None = None) -> int:
    """Send all pending changes of a user to Milvus; call it outside any transaction.

    Returns how many vectors Milvus erased. `then` is called with the count of each batch, in the
    transaction that removes the batch from the list. Raises `ProviderError` (retryable); no change
    is lost then.
    """
    erased = 0
    while True:
        with _alone(user_id):
            changes = _waiting(user_id)
            if not changes:
                return erased
            gone = _told(user_id, changes)
            with as_system():
                statements.rows(
                    "DELETE FROM memories_vectorchange WHERE id = ANY(%s::bigint[])",
                    [[one[0] for one in changes]],
                )
                if then is not None:
                    then(gone)
        erased += gone


_Change = tuple[int, int, str, int, str | None]  # its key, the space, the target, the vector


def _waiting(user_id: int) -> Sequence[_Change]:
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


def _told(user_id: int, changes: Sequence[_Change]) -> int:
    """Apply changes to Milvus; those of a space without a collection are dropped."""
    one = server()
    gone = 0
    for space in one.spaces() & {change[1] for change in changes}:
        here = {name_of(kind, pk): (kind, v) for _, at, kind, pk, v in changes if at == space}
        entities = [
            Entity(name, user_id, kind, orjson.loads(vector))
            for name, (kind, vector) in here.items()
            if vector is not None
        ]
        if entities:
            one.put(space, entities)
        gone += one.remove(space, [name for name, (_, vector) in here.items() if vector is None])
    return gone


@contextmanager
def _alone(user_id: int) -> Iterator[None]:
    """Hold a session lock rather than a transaction's, as Milvus is called while it is held."""
    key = _LOCK | user_id
    if not statements.rows("SELECT pg_try_advisory_lock(%s)", [key])[0][0]:
        raise ProviderError("Milvus is being told of this person already.", retryable=True)
    try:
        yield
    finally:
        with suppress(DatabaseError):
            statements.rows("SELECT pg_advisory_unlock(%s)", [key])


class InMilvus:
    """Milvus for the residue scan and for every forget (a `known_places.ExternalStore`)."""

    name = NAME

    def is_used(self) -> bool:
        return are_written_down()

    def follow(self, user_id: int, *, then: Callable[[int], object]) -> None:
        tell(user_id, then=then)

    def look(
        self, user_id: int | None, gone: Mapping[str, Collection[int]], *, is_gone: bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield each name that was looked for, and whether it is still there.

        Without `gone`, everything in Milvus is checked; an entry without a vector in PostgreSQL
        counts as left over.
        """
        one = server()
        names = [name_of(kind, pk) for kind, table in TABLES.items() for pk in gone.get(table, ())]
        for space in sorted(one.spaces()):
            held = one.held(space, names)
            yield from ((name, name in held) for name in names)
            if user_id is not None and is_gone:
                yield from ((name, True) for name in one.some_of(space, user_id))
            if not gone:
                for part in one.everything(space, user_id=user_id):
                    yield from _without_vector(space, part)


def _without_vector(space: int, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    there = statements.rows(
        "SELECT target_kind || ':' || target_id FROM memories_vector WHERE space_id = %s"
        " AND target_id = ANY(%s::bigint[])",
        [space, [int(name.partition(":")[2]) for name in names]],
    )
    known = {name for (name,) in there}
    yield from ((name, name not in known) for name in names)
