"""Making content findable: segmented words and vectors, one active embedding space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from django.db import IntegrityError, transaction
from django.utils import timezone

from memcenter.lib import segment, tokens
from memcenter.providers.base import Embedder, Vectors
from memcenter.providers.bundled import BundledEmbedder
from memories.models import (
    EmbeddingSpace,
    Fragment,
    LexicalEntry,
    Memory,
    TargetKind,
    Vector,
)
from ops.models import Kind, Priority, User
from ops.services import outbox

FRAGMENT_TOKENS = 500
FRAGMENT_OVERLAP = 50


@dataclass(frozen=True)
class Entry:
    """One target to be found by its words and its vector."""

    kind: TargetKind
    target_id: int
    text: str
    conversation_id: int | None = None


@cache
def embedder() -> Embedder:
    return BundledEmbedder()


def embed(texts: Sequence[str]) -> Vectors:
    """Unit vectors of the texts. Never call it inside a transaction: it may be far away."""
    return embedder().embed(texts)


def active_space() -> EmbeddingSpace:
    """The space that is searched and written; made on first use."""
    found = EmbeddingSpace.objects.filter(active=True).first()
    return found or _first_space()


def _first_space() -> EmbeddingSpace:
    one = embedder()
    try:
        with transaction.atomic():
            return EmbeddingSpace.objects.create(
                embedder=one.name,
                model=one.model,
                dimensions=one.dimensions,
                version=one.version,
                active=True,
            )
    except IntegrityError:
        return EmbeddingSpace.objects.get(active=True)


def store(*, user: User, entries: Sequence[Entry], vectors: Vectors) -> None:
    """Write words and vectors of `entries`; `vectors` has a row for each. Safe to repeat."""
    store_words(user=user, entries=entries)
    space = active_space()
    Vector.objects.bulk_create(
        [
            Vector(
                space=space,
                user=user,
                target_kind=entry.kind,
                target_id=entry.target_id,
                conversation_id=entry.conversation_id,
                embedding=vector.tolist(),
            )
            for entry, vector in zip(entries, vectors, strict=True)
        ],
        update_conflicts=True,
        unique_fields=["user", "space", "target_kind", "target_id"],
        update_fields=["embedding", "conversation"],
    )


def store_words(*, user: User, entries: Iterable[Entry]) -> None:
    LexicalEntry.objects.bulk_create(
        [_lexical(user, entry) for entry in entries],
        update_conflicts=True,
        unique_fields=["user", "target_kind", "target_id"],
        update_fields=["terms", "length", "conversation"],
    )


def _lexical(user: User, entry: Entry) -> LexicalEntry:
    terms = segment.terms(entry.text)
    return LexicalEntry(
        user=user,
        target_kind=entry.kind,
        target_id=entry.target_id,
        conversation_id=entry.conversation_id,
        terms=terms,
        length=len(terms),
    )


def erase(*, user_id: int, kind: TargetKind, target_ids: Sequence[int]) -> int:
    """Erase words and vectors of these targets in every space; gives how many rows went."""
    target = {"user_id": user_id, "target_kind": kind, "target_id__in": target_ids}
    words, _ = LexicalEntry.objects.filter(**target).delete()
    vectors, _ = Vector.objects.filter(**target).delete()
    return words + vectors


def is_long(text: str) -> bool:
    return tokens.count(text) > FRAGMENT_TOKENS


def split(text: str) -> list[str]:
    return tokens.split(text, size=FRAGMENT_TOKENS, overlap=FRAGMENT_OVERLAP)


def embed_memory(content: str) -> tuple[Vectors, list[str]]:
    """The memory's own vector first, then one for each fragment when it is long.

    A long memory's own vector is the mean of its fragments', scaled to length one.
    """
    if not is_long(content):
        return embed([content]), []
    pieces = split(content)
    vectors = embed(pieces)
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean)) or 1.0
    return np.vstack([mean / norm, vectors]), pieces


def index_later(memory: Memory) -> None:
    """Words at once; vectors by an operation, for the embedder may be far away."""
    user = memory.user
    old = list(Fragment.objects.filter(memory=memory).values_list("pk", flat=True))
    erase(user_id=user.pk, kind=TargetKind.FRAGMENT, target_ids=old)
    Fragment.objects.filter(pk__in=old).delete()
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


def store_memory(*, memory: Memory, vectors: Vectors, pieces: Sequence[str]) -> None:
    """Make the memory findable as it reads now; what was stored of it before is replaced."""
    user = memory.user
    old = list(Fragment.objects.filter(memory=memory).values_list("pk", flat=True))
    erase(user_id=user.pk, kind=TargetKind.FRAGMENT, target_ids=old)
    Fragment.objects.filter(pk__in=old).delete()
    fragments = Fragment.objects.bulk_create(
        [
            Fragment(
                user=user, memory=memory, number=n, text=piece, token_count=tokens.count(piece)
            )
            for n, piece in enumerate(pieces, start=1)
        ]
    )
    entries = [Entry(TargetKind.MEMORY, memory.pk, memory.content)]
    entries += [Entry(TargetKind.FRAGMENT, one.pk, one.text) for one in fragments]
    store(user=user, entries=entries, vectors=vectors)
    memory.chunk_count = len(fragments)
    memory.indexed_at = timezone.now()
    memory.save(update_fields=["chunk_count", "indexed_at"])
