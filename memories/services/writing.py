"""Changing memories: every text keeps its version and its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from conversations.models import Message, Turn
from memcenter.lib import statements
from memcenter.lib.errors import Conflict, Invalid, NotFound
from memcenter.providers.base import Vectors
from memories.extraction import sensitive
from memories.models import (
    Change,
    Kind,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    Project,
    Source,
    VersionInput,
)
from memories.services import hot_cache, indexing
from ops.models import User
from ops.services import audit, events
from ops.services.events import Event

MAX_TAG = 50  # characters


@dataclass(frozen=True)
class SourceInput:
    """What a text rests on: a turn with the quoted span, or a call, line or import by id."""

    origin: Origin
    turn: Turn | None = None
    message: Message | None = None
    quote: str = ""
    quote_start: int = 0
    reference: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Draft:
    """What a memory will say. `vectors` has its own vector first, then its fragments'.

    Without `vectors` it is found by its words at once and by an operation given its vectors.
    """

    content: str
    kind: str
    vectors: Vectors | None
    pieces: Sequence[str] = ()
    importance: float = 0.5
    confidence: float = 0.8
    summary: str = ""
    tags: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    project: Project | None = None
    origin: Origin = Origin.EXTRACTED
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def content_hash(content: str) -> str:
    """For tracing and for telling a retry; never to decide what contradicts what."""
    return hashlib.sha256(" ".join(content.casefold().split()).encode()).hexdigest()


def create(
    draft: Draft,
    *,
    user: User,
    source: SourceInput | None,
    status: MemoryStatus = MemoryStatus.ACTIVE,
    conflicts_with: Memory | None = None,
    reason: str = "",
    inputs: Sequence[MemoryVersion] = (),
) -> Memory:
    """A new memory with its first version, its source, its words and its vectors.

    One that is consolidated from `inputs` has their sources instead of one of its own.
    """
    memory = Memory(
        user=user,
        project=draft.project,
        kind=draft.kind,
        content=draft.content,
        summary=sensitive.masked(draft.summary),
        data=sensitive.masked_values(draft.data),
        tags=_tags(draft),
        importance=draft.importance,
        confidence=draft.confidence,
        status=status,
        origin=draft.origin,
        content_hash=content_hash(draft.content),
        occurred_at=draft.occurred_at,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        agent_id=draft.agent_id,
        app_id=draft.app_id,
        run_id=draft.run_id,
        metadata=sensitive.masked_values(draft.metadata),
        conflicts_with=conflicts_with,
        created_at=timezone.now(),
    )
    statements.insert([memory])
    change = Change.CONSOLIDATED if inputs else Change.CREATED
    version = _version(memory, change=change, actor=draft.origin, reason=reason)
    if source is not None:
        add_source(version, source=source)
    for one in inputs:
        _keep_inputs(one, version)
    _index(memory, draft)
    audit.gather("memory.created", subject=user.subject, target=memory.public_id)
    events.memories(Event.MEMORY_CREATED, user_id=user.pk, ids=[memory.public_id])
    return memory


def rewrite(
    memory: Memory,
    draft: Draft,
    *,
    source: SourceInput | None,
    change: Change,
    candidate_text: str = "",
    reason: str = "",
    inputs: Sequence[MemoryVersion] = (),
    keep_tags: bool = True,
) -> Memory:
    """Give the memory another text; it keeps its id, the old text becomes a version.

    Without `keep_tags` it gets the tags of the draft alone. A MERGE rests on what the old version
    rested on as well: that version is its input, and the sources of both are kept. So are those
    of `inputs`, versions of other memories.
    """
    before = current_version(memory)
    memory.content, memory.kind = draft.content, draft.kind
    memory.summary = sensitive.masked(draft.summary)
    memory.content_hash = content_hash(draft.content)
    memory.importance = max(memory.importance, draft.importance)
    memory.confidence = _confidence_after(change, memory, draft)
    memory.tags = sorted({*(memory.tags if keep_tags else ()), *_tags(draft)})
    memory.data = {**memory.data, **sensitive.masked_values(draft.data)}
    memory.occurred_at = draft.occurred_at or memory.occurred_at
    memory.current_version = _next_number(memory)
    memory.indexed_at = None
    memory.save()
    after = _version(
        memory, change=change, actor=draft.origin, reason=reason, candidate_text=candidate_text
    )
    if source is not None:
        add_source(after, source=source)
    for one in (before, *inputs) if change == Change.MERGED else inputs:
        _keep_inputs(one, after)
    _index(memory, draft)
    if change != Change.EDITED:  # who edits says which fields
        audit.gather("memory.updated", subject=memory.user.subject, target=memory.public_id)
    changed(memory)
    return memory


def _tags(draft: Draft) -> list[str]:
    return [sensitive.masked(tag)[:MAX_TAG] for tag in draft.tags]


def changed(memory: Memory) -> None:
    """Tell whoever listens that the memory is no longer as it was."""
    hot_cache.drop_texts(memory.user_id)
    events.memories(Event.MEMORY_UPDATED, user_id=memory.user_id, ids=[memory.public_id])


def reinforce(memory: Memory, *, source: SourceInput) -> Memory:
    """Said again: the source is added, importance and confidence grow a little."""
    version = current_version(memory)
    same = Source.objects.filter(version=version, turn=source.turn, reference=source.reference)
    if source.turn is None:
        same = same.filter(message=source.message)
    if same.exists():
        return memory
    add_source(version, source=source)
    memory.importance = min(1.0, memory.importance + 0.05)
    memory.confidence = 1.0 - (1.0 - memory.confidence) * 0.8
    memory.save(update_fields=["importance", "confidence", "updated_at"])
    audit.gather("memory.reinforced", subject=memory.user.subject, target=memory.public_id)
    return memory


def restore_version(
    memory: Memory, *, number: int, text: str, vectors: Vectors, pieces: Sequence[str]
) -> Memory:
    """Make an old version's text the present one, as a new version, under the memory's lock.

    `text` is what the vectors were made of: what was forgotten meanwhile must not come back in
    them. Raises `NotFound` when the memory went, `Invalid` when it has no such version and
    `Conflict` when that was forgotten or changed.
    """
    memory = _locked(memory)
    old = MemoryVersion.objects.filter(memory=memory, number=number).first()
    if old is None:
        raise Invalid.field("version", "There is no such version.")
    if old.erased_at is not None:
        raise Conflict("This version was forgotten and can't be restored.")
    if old.content != text:
        raise Conflict("This version changed meanwhile. Please look again.")
    memory.content, memory.kind, memory.summary = old.content, old.kind, old.summary
    memory.content_hash = content_hash(old.content)
    memory.current_version = _next_number(memory)
    memory.save()
    restored = _version(memory, change=Change.RESTORED, actor=Origin.USER)
    _keep_inputs(old, restored)
    indexing.store_memory(memory=memory, vectors=vectors, pieces=pieces)
    details = {"version": number}
    subject = memory.user.subject
    audit.record("memory.reverted", subject=subject, target=memory.public_id, details=details)
    changed(memory)
    return memory


def _locked(memory: Memory) -> Memory:
    """The memory as it is now, held until the transaction ends; versions get dense numbers."""
    rows = Memory.objects.select_for_update(of=("self",)).select_related("user", "project")
    found = rows.filter(user=memory.user_id, pk=memory.pk).first()
    if found is None:
        raise NotFound("There is no such memory.")
    return found


def _index(memory: Memory, draft: Draft) -> None:
    if draft.vectors is None:
        indexing.index_later(memory)
    else:
        indexing.store_memory(memory=memory, vectors=draft.vectors, pieces=draft.pieces)


def add_source(version: MemoryVersion, *, source: SourceInput) -> Source:
    made = Source(
        user_id=version.user_id,
        memory_id=version.memory_id,
        version=version,
        origin=source.origin,
        turn=source.turn,
        message=source.message,
        quote=sensitive.masked(source.quote),
        quote_start=source.quote_start,
        reference=source.reference,
        comment=sensitive.masked(source.comment),
        created_at=timezone.now(),
    )
    statements.insert([made])
    return made


def join_sources(memory: Memory, *, turn: Turn, others: Sequence[Turn]) -> None:
    """Let the present text rest on `turn` and the `others` together: it goes with any of them."""
    if not others:
        return
    version = current_version(memory)
    Source.objects.filter(version=version, turn=turn).update(joint=True)
    for other in others:
        message = other.user_message
        given = SourceInput(
            origin=Origin.EXTRACTED, turn=other, message=message, quote=message.content[:200]
        )
        source = add_source(version, source=given)
        source.joint = True
        source.save(update_fields=["joint"])


def current_version(memory: Memory) -> MemoryVersion:
    return MemoryVersion.objects.get(memory=memory, number=memory.current_version)


def check_kind(value: str) -> str:
    """One of our kinds; the reference documents' words are translated. Raises `Invalid`."""
    words = {"PROFILE": "preference", "TASK": "task", "FACT": "fact", "EPISODIC": "event"}
    kind = words.get(value, value)
    if kind not in Kind.values:
        raise Invalid.field("kind", f"Must be one of {', '.join(Kind.values)}.")
    return kind


def _version(
    memory: Memory, *, change: Change, actor: str, reason: str = "", candidate_text: str = ""
) -> MemoryVersion:
    made = MemoryVersion(
        user_id=memory.user_id,
        memory=memory,
        number=memory.current_version,
        kind=memory.kind,
        content=memory.content,
        summary=memory.summary,
        candidate_text=candidate_text,
        change=change,
        actor=actor,
        reason=reason[:300],
        created_at=timezone.now(),
    )
    statements.insert([made])
    return made


def _next_number(memory: Memory) -> int:
    newest = MemoryVersion.everything.filter(memory=memory).order_by("-number").first()
    return newest.number + 1 if newest else 1


def _confidence_after(change: Change, memory: Memory, draft: Draft) -> float:
    if change == Change.MERGED:
        return (memory.confidence + draft.confidence) / 2
    return draft.confidence


def _keep_inputs(before: MemoryVersion, after: MemoryVersion) -> None:
    VersionInput.objects.create(user_id=after.user_id, output=after, input=before)
    for source in Source.objects.filter(version=before):
        source.pk = None
        source.version, source.memory_id = after, after.memory_id
        source._state.adding = True
        source.save(force_insert=True)
