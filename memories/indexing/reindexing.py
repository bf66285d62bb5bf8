"""Change the embedder: fill a new embedding space in the background, then switch search to it.

An embedding space holds the vectors of one embedder. Every target with words in the index needs a
vector in the new space. Writing a text deletes its vectors from the other spaces
(`search_index.store`), so that the next pass embeds it again. The switch waits for all writers,
checks again that no vector is missing, and then runs a single statement. Forgetting erases a text's
words together with its vectors in every space; a text without words isn't embedded again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.db.models import Exists, Model, OuterRef, QuerySet

from conversations.models import Episode, Message, Summary
from foundation.providers.base import Embedder, Vectors
from memories.extraction import masking
from memories.indexing import milvus_sync, search_index
from memories.indexing.conversation_texts import WITH_TURN, masked_message, masked_turn, turn_text
from memories.indexing.search_index import identity_of
from memories.models import (
    DailyNote,
    EmbeddingSpace,
    Fragment,
    LexicalEntry,
    Memory,
    TargetKind,
    Vector,
)
from memories.retrieval.stores import pgvector
from ops.access import as_system, as_user
from ops.models import Kind, Operation, Priority, User
from ops.queue import outbox
from ops.queue.run import Run
from ops.registry import handles
from ops.transfer.exports import yield_to_forgets

CHUNK = 64


@dataclass(frozen=True)
class _Piece:
    """A target to embed, with its current text."""

    entry_id: int
    kind: str
    target_id: int
    conversation_id: int | None
    text: str


def request() -> Operation:
    """Enqueue an operation that fills the embedding space of the configured embedder.

    The operation then switches search to this space. If the space is already active, only missing
    vectors are filled in.
    """
    wanted = identity_of(search_index.configured_embedder())
    with as_system():
        space, _ = EmbeddingSpace.objects.get_or_create(**wanted._asdict())
        return outbox.enqueue(
            Kind.REINDEX,
            subject=None,
            payload={"space": space.pk},
            priority=Priority.BULK,
            dedupe_key=f"reindex:{space.pk}",
            serial_key="reindex",
        )


@handles(Kind.REINDEX, is_long=True)
def fill_and_switch(run: Run) -> Mapping[str, int]:
    """Embed all missing vectors of all users, then switch search to the new embedding space.

    Each chunk is committed separately. Safe to run twice: a repeated run embeds only texts whose
    vectors are still missing, and then safely repeats the other steps.
    """
    with as_system():
        space = EmbeddingSpace.objects.get(pk=run.payload["space"])
    embedder = search_index.embedder_of(search_index.identity(space))
    filled = 0
    while True:
        filled += _fill(run, space, embedder)
        if _switched(run, space):
            search_index.reset_embedder()
            with as_system():
                request_user_indexes()
                milvus_sync.enqueue_space_move()
            _drop_other_spaces(run, space)
            return {"embedded": filled}


def _fill(run: Run, space: EmbeddingSpace, embedder: Embedder) -> int:
    filled, last = 0, 0
    while (user := _next_user(space, after=last)) is not None:
        last = user.pk
        while pieces := _missing_of(user, space):
            run.step("embed", done=filled)
            yield_to_forgets(user)
            vectors = list(embedder.embed([piece.text for piece in pieces]))
            for place, piece in enumerate(pieces):
                if piece.kind == TargetKind.MEMORY and search_index.is_long(piece.text):
                    vectors[place] = search_index.embed_whole(piece.text, embedder=embedder)[0]
            with run.applying(user):
                filled += _store(pieces, vectors, user=user, space=space)
    return filled


def _missing(space: EmbeddingSpace) -> QuerySet[LexicalEntry]:
    there = Vector.objects.filter(
        user=OuterRef("user"),
        space=space,
        target_kind=OuterRef("target_kind"),
        target_id=OuterRef("target_id"),
    )
    return LexicalEntry.objects.filter(~Exists(there))


def _next_user(space: EmbeddingSpace, *, after: int) -> User | None:
    """Return the next user with missing vectors, skipping users who are being forgotten."""
    with as_system():
        waiting = _missing(space).filter(user__hidden_at__isnull=True)
        row = waiting.filter(user__gt=after).order_by("user").select_related("user").first()
    return row.user if row is not None else None


def _missing_of(user: User, space: EmbeddingSpace) -> list[_Piece]:
    with as_user(user):
        entries = list(_missing(space).filter(user=user).order_by("pk")[:CHUNK])
        return _read(entries)


def _read(entries: Sequence[LexicalEntry]) -> list[_Piece]:
    """Load the current texts of the entries, and delete entries whose text no longer exists."""
    texts: dict[tuple[str, int], str] = {}
    for kind in {entry.target_kind for entry in entries}:
        ids = [entry.target_id for entry in entries if entry.target_kind == kind]
        texts |= {(kind, pk): text for pk, text in TEXTS[kind](ids).items()}
    orphans = [e.pk for e in entries if (e.target_kind, e.target_id) not in texts]
    LexicalEntry.objects.filter(pk__in=orphans).delete()
    return [
        _Piece(
            *(entry.pk, entry.target_kind, entry.target_id, entry.conversation_id),
            text=texts[entry.target_kind, entry.target_id],
        )
        for entry in entries
        if (entry.target_kind, entry.target_id) in texts
    ]


def _store(
    pieces: Sequence[_Piece], vectors: Sequence[Vectors], *, user: User, space: EmbeddingSpace
) -> int:
    """Store the vectors of texts that haven't changed since they were read; return their number.

    The lexical entries are locked so that no text changes meanwhile; writers lock them as well.
    """
    entries = LexicalEntry.objects.select_for_update().filter(
        user=user, pk__in=[piece.entry_id for piece in pieces]
    )
    now = {piece.entry_id: piece for piece in _read(list(entries.order_by("pk")))}
    rows = [
        Vector(
            space=space,
            user=user,
            target_kind=piece.kind,
            target_id=piece.target_id,
            conversation_id=piece.conversation_id,
            embedding=vector.tolist(),
        )
        for piece, vector in zip(pieces, vectors, strict=True)
        if now.get(piece.entry_id) == piece
    ]
    Vector.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


_SWITCH = """
WITH before AS (UPDATE memories_embeddingspace SET active = false
                 WHERE active AND id <> %(space)s RETURNING id)
UPDATE memories_embeddingspace SET active = true
 WHERE id = %(space)s AND (SELECT count(*) FROM before) >= 0
"""


def _switched(run: Run, space: EmbeddingSpace) -> bool:
    """Make the embedding space active and return True; return False if it still lacks vectors."""
    with run.applying_as_system(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [search_index.SPACE_LOCK])
        if _missing(space).filter(user__hidden_at__isnull=True).exists():
            return False
        cursor.execute(_SWITCH, {"space": space.pk})
    return True


def _drop_other_spaces(run: Run, space: EmbeddingSpace) -> None:
    """Delete all other embedding spaces and their vectors.

    A search that began while an old space was in use may then find texts only by keywords.
    """
    while True:
        run.step("drop")
        with run.applying_as_system():
            old = Vector.objects.exclude(space=space).order_by("pk").values("pk")[:5_000]
            if not Vector.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()[0]:
                EmbeddingSpace.objects.exclude(pk=space.pk).delete()
                return


def _column(model: type[Model], name: str) -> Callable[[Sequence[int]], dict[int, str]]:
    def read(ids: Sequence[int]) -> dict[int, str]:
        rows = model._base_manager.filter(pk__in=ids)
        return dict(rows.values_list("pk", name))

    return read


def _messages(ids: Sequence[int]) -> dict[int, str]:
    rows = Message._base_manager.filter(pk__in=ids).select_related(*WITH_TURN)
    return {row.pk: masked_message(row) for row in rows}


def _summaries(ids: Sequence[int]) -> dict[int, str]:
    texts = _column(Summary, "text")(ids)
    return {pk: masking.masked(text) for pk, text in texts.items()}


def _episodes(ids: Sequence[int]) -> dict[int, str]:
    rows = Episode._base_manager.filter(pk__in=ids)
    turns = rows.select_related("turn__user_message", "turn__assistant_message")
    return {row.pk: turn_text(*masked_turn(row.turn)) for row in turns}


TEXTS: Mapping[str, Callable[[Sequence[int]], dict[int, str]]] = {
    TargetKind.MEMORY: _column(Memory, "content"),
    TargetKind.FRAGMENT: _column(Fragment, "text"),
    TargetKind.MESSAGE: _messages,
    TargetKind.EPISODE: _episodes,
    TargetKind.SUMMARY: _summaries,
    TargetKind.NOTE: _column(DailyNote, "text"),
}


def request_user_indexes() -> Operation | None:
    """Enqueue an operation that builds and drops per-user vector indexes, if this is necessary."""
    state = pgvector.index_state(at_least=settings.OWN_INDEX_FROM)
    if not settings.OWNER_DATABASE_URL or (state.wanted == state.built and not state.broken):
        return None
    return _enqueue_user_indexes()


def drop_user_index(user_id: int) -> Operation | None:
    """Enqueue an operation that drops the user's own vector index, if it exists.

    Call it after the user's vectors were erased.
    """
    if not settings.OWNER_DATABASE_URL or not pgvector.list_indexes(user_id):
        return None
    return _enqueue_user_indexes()


def _enqueue_user_indexes() -> Operation:
    return outbox.enqueue(
        Kind.BUILD_INDEX,
        subject=None,
        payload={},
        priority=Priority.BULK,
        dedupe_key="own-indexes",
        serial_key="own-indexes",
    )


@handles(Kind.BUILD_INDEX, is_long=True)
def build_user_indexes(run: Run) -> Mapping[str, int]:
    """Build missing per-user vector indexes, and drop surplus indexes.

    Users with very many memories have such an index. Return the numbers of built and dropped
    indexes. Safe to run twice: only missing indexes are built, and the remains of an interrupted
    build are dropped.
    """
    with as_system():
        state = pgvector.index_state(at_least=settings.OWN_INDEX_FROM)
    missing = sorted(state.wanted - state.built)
    surplus = sorted((state.built - state.wanted) | state.broken)
    with pgvector.as_owner(settings.OWNER_DATABASE_URL) as connection:
        for index in surplus:
            run.step("drop")
            pgvector.drop_index(connection, index)
        for done, index in enumerate(missing):
            run.step("build", done=done, total=len(missing))
            pgvector.build_index(connection, index)
    return {"built": len(missing), "dropped": len(surplus)}
