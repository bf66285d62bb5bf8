"""Create and change memories. Every text is stored as a version with its sources."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from redis.exceptions import RedisError

from conversations.models import Message, Turn
from foundation.database import statements
from foundation.database.statements import Batch
from foundation.errors import Conflict, Invalid, NotFound
from foundation.providers.base import Vectors
from memories import language_steps
from memories.extraction import masking
from memories.extraction.types import RefusedSecret
from memories.extraction.wording.languages import ANSWERS, without_twins
from memories.indexing import earlier_texts, search_index
from memories.indexing.search_index import HeldSpace
from memories.models import (
    Arbitration,
    Change,
    Kind,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    Project,
    Refusal,
    Source,
    TargetKind,
    VersionInput,
)
from memories.writing import portrait_phrases
from ops import audit_log
from ops.models import User
from ops.queue import webhook_events
from ops.queue.webhook_events import Event

MAX_TAG = 50  # characters
# The API also accepts the names that kinds have in the reference documents.
_OTHER_NAMES = {"PROFILE": "preference", "TASK": "task", "FACT": "fact", "EPISODIC": "event"}
KIND_NAMES = (*Kind.values, *_OTHER_NAMES)


@dataclass(frozen=True)
class SourceInput:
    """The source of a text: a quoted part of a turn or message, or a `reference`.

    A reference is the id of a call, a file line or an import.
    """

    origin: Origin
    turn: Turn | None = None
    message: Message | None = None
    quote: str = ""
    quote_start: int = 0
    reference: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Draft:
    """The content and the fields of a memory to write.

    `vectors` starts with the vector of the whole text, followed by the vectors of its fragments. If
    `vectors` is None, search finds the memory by words at once, and an operation computes the
    vectors later.
    """

    content: str
    kind: str
    vectors: Vectors | None
    pieces: Sequence[str] = ()
    importance: float = 0.5
    confidence: float = 0.8
    summary: str = ""
    standing: bool | None = None  # whether the memory states how to answer; None: detect it
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
    """Return a hash of the text that is independent of case and of the amount of whitespace.

    An import uses it to find existing memories with the same text.
    """
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
    verdict: Arbitration | None = None,
    space: HeldSpace | None = None,
) -> Memory:
    """Create a memory with its first version, source and index entries, and log the `verdict`.

    A memory consolidated from `inputs` gets copies of their sources. `space` is the embedding space
    to write to, if the caller has already locked it. The returned memory has its source in
    `shown_sources`, like a memory from `selectors.memory_of`.
    """
    memory = _new_memory(draft)
    memory.user, memory.status, memory.conflicts_with = user, status, conflicts_with
    change = Change.CONSOLIDATED if inputs else Change.CREATED
    version = new_version(memory, change=change, actor=draft.origin, reason=reason)
    sources = [] if source is None else [new_source(version, source)]
    for made in sources:
        made.memory = memory
    rows: list[Model] = [memory, version, *sources]
    if verdict is not None:
        verdict.memory = memory
        rows.append(verdict)
    if draft.vectors is not None and not draft.pieces:
        held = space or search_index.hold_space(Batch())()
        memory.indexed_at = memory.created_at
        rows += search_index.new_memory_rows(memory, vector=draft.vectors[0], held=held)
    statements.insert_together(rows)
    for before in inputs:
        _add_input(before, version)
    if draft.vectors is None or draft.pieces:
        _index(memory, draft)
    memory.shown_sources = sources
    audit_log.record_together("memory.created", subject=user.subject, target=memory.public_id)
    webhook_events.write_at_commit(
        Event.MEMORY_CREATED, user_id=user.pk, memory_id=memory.public_id
    )
    portrait_phrases.request_for(memory)
    return memory


def _new_memory(draft: Draft) -> Memory:
    return Memory(
        project=draft.project,
        kind=draft.kind,
        content=draft.content,
        summary=masking.masked(draft.summary),
        data=masking.masked_values(draft.data),
        tags=_tags(draft),
        standing=_is_standing(draft),
        importance=draft.importance,
        confidence=draft.confidence,
        origin=draft.origin,
        content_hash=content_hash(draft.content),
        occurred_at=draft.occurred_at,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        agent_id=draft.agent_id,
        app_id=draft.app_id,
        run_id=draft.run_id,
        metadata=masking.masked_values(draft.metadata),
        created_at=timezone.now(),
    )


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
    """Replace the memory's text. The memory keeps its id, and the old text remains as a version.

    The draft's tags are added to the old tags; if `keep_tags` is False, they replace the old tags.
    `inputs` are versions of other memories that become inputs of the new version; for a merge, the
    old version becomes an input as well. The new version gets copies of its inputs' sources.
    """
    before = current_version(memory)
    if change == Change.REPLACED and before.content != draft.content:
        earlier_texts.index_earlier_text(memory, before, of=(TargetKind.MEMORY, memory.pk))
    memory.content, memory.kind = draft.content, draft.kind
    memory.summary = masking.masked(draft.summary)
    memory.content_hash = content_hash(draft.content)
    memory.importance = max(memory.importance, draft.importance)
    if change == Change.MERGED:
        memory.confidence = (memory.confidence + draft.confidence) / 2
    else:  # the feedback referred to the old text
        memory.confidence, memory.confidence_unrated = draft.confidence, None
        memory.feedback, memory.feedback_reason = "", ""
    memory.tags = sorted(without_twins([*(memory.tags if keep_tags else ()), *_tags(draft)]))
    memory.standing = _is_standing(draft)
    memory.data = {**memory.data, **masking.masked_values(draft.data)}
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
        _add_input(one, after)
    _index(memory, draft)
    if change != Change.EDITED:  # an edit writes its own audit entry with the changed fields
        audit_log.record_together(
            "memory.updated", subject=memory.user.subject, target=memory.public_id
        )
    announce_change(memory)
    return memory


def _is_standing(draft: Draft) -> bool:
    if draft.standing is not None:
        return draft.standing
    if not ANSWERS.isdisjoint(draft.tags):
        return True
    return language_steps.bundled_extractor().says_how_to_answer(draft.content, kind=draft.kind)


def _tags(draft: Draft) -> list[str]:
    return [masking.masked(tag)[:MAX_TAG] for tag in draft.tags]


def announce_change(memory: Memory) -> None:
    """Notify webhooks that the memory has changed, and request a new phrase for the portrait."""
    webhook_events.write_at_commit(
        Event.MEMORY_UPDATED, user_id=memory.user_id, memory_id=memory.public_id
    )
    portrait_phrases.request_for(memory)


def reinforce(memory: Memory, *, source: SourceInput) -> Memory:
    """Record that a statement was repeated.

    The source is added, and importance and confidence rise a little. Nothing is changed if the
    current version already has this source.
    """
    version = current_version(memory)
    same = Source.objects.filter(version=version, turn=source.turn, reference=source.reference)
    if source.turn is None:
        same = same.filter(message=source.message)
    if same.exists():
        return memory
    add_repetition(memory, version, source=source)
    memory.importance = min(1.0, memory.importance + 0.05)
    memory.confidence = 1.0 - (1.0 - memory.confidence) * 0.8
    memory.save(update_fields=["importance", "confidence", "updated_at"])
    return memory


def add_repetition(memory: Memory, version: MemoryVersion, *, source: SourceInput) -> None:
    add_source(version, source=source)
    audit_log.record_together(
        "memory.reinforced", subject=memory.user.subject, target=memory.public_id
    )


def restore_version(
    memory: Memory, *, number: int, text: str, vectors: Vectors, pieces: Sequence[str]
) -> Memory:
    """Lock the memory, and restore an old version's text as a new version.

    `text` is the text from which the vectors were computed; it is compared with the version's text,
    so that content forgotten in the meantime doesn't get into the index. Raise `NotFound` if the
    memory no longer exists, `Invalid` if it has no such version and `Conflict` if the version was
    forgotten or has changed.
    """
    memory = lock(memory, user=memory.user_id)
    old = MemoryVersion.objects.filter(memory=memory, number=number).first()
    if old is None:
        raise Invalid.field("version", "This version doesn’t exist.")
    if old.erased_at is not None:
        raise Conflict("This version was forgotten and can’t be restored.")
    if old.content != text:
        raise Conflict("This version has changed. Please check again.")
    memory.content, memory.kind, memory.summary = old.content, old.kind, old.summary
    memory.content_hash = content_hash(old.content)
    memory.standing = language_steps.bundled_extractor().says_how_to_answer(
        old.content, kind=old.kind
    )
    memory.current_version = _next_number(memory)
    memory.save()
    restored = _version(memory, change=Change.RESTORED, actor=Origin.USER)
    _add_input(old, restored)
    search_index.store_memory(memory=memory, vectors=vectors, pieces=pieces)
    details = {"version": number}
    subject = memory.user.subject
    audit_log.record("memory.reverted", subject=subject, target=memory.public_id, details=details)
    announce_change(memory)
    return memory


def lock(memory: Memory, *, user: User | int, with_bin: bool = False) -> Memory:
    """Return the memory's current row, locked until the transaction ends.

    `user` is the owner of the memory, or the owner's primary key. With `with_bin`, a memory in the
    recycle bin is found too. Raise `NotFound` if the user has no such memory. The lock keeps two
    writers from giving versions the same number.
    """
    visible = Memory.visible if with_bin else Memory.objects
    rows = visible.select_for_update(of=("self",)).select_related("user", "project")
    found = rows.filter(user=user, pk=memory.pk).first()
    if found is None:
        raise NotFound("This memory doesn’t exist.")
    return found


def _index(memory: Memory, draft: Draft) -> None:
    if draft.vectors is None:
        search_index.index_words(memory)
    else:
        search_index.store_memory(memory=memory, vectors=draft.vectors, pieces=draft.pieces)


def add_source(version: MemoryVersion, *, source: SourceInput) -> Source:
    made = new_source(version, source)
    statements.insert([made])
    return made


def new_source(version: MemoryVersion, source: SourceInput) -> Source:
    return Source(
        user_id=version.user_id,
        memory_id=version.memory_id,
        version=version,
        origin=source.origin,
        turn=source.turn,
        message=source.message,
        quote=masking.masked(source.quote),
        quote_start=source.quote_start,
        reference=source.reference,
        comment=masking.masked(source.comment),
        created_at=timezone.now(),
    )


def join_sources(memory: Memory, *, turn: Turn, others: Sequence[Turn]) -> None:
    """Make the memory's current version depend on `turn` and on each turn in `others`.

    If any of these turns is forgotten, the version is erased. If `others` is empty, nothing is
    changed.
    """
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
    """Return the memory kind for `value`, which may be another name for the kind.

    For example, PROFILE is another name for preference. Raise `Invalid` if the kind is unknown.
    """
    kind = _OTHER_NAMES.get(value, value)
    if kind not in Kind.values:
        raise Invalid.field("kind", f"Must be one of {', '.join(Kind.values)}.")
    return kind


def _version(
    memory: Memory, *, change: Change, actor: str, reason: str = "", candidate_text: str = ""
) -> MemoryVersion:
    made = new_version(
        memory, change=change, actor=actor, reason=reason, candidate_text=candidate_text
    )
    statements.insert([made])
    return made


def new_version(
    memory: Memory,
    *,
    change: Change,
    actor: str,
    reason: str = "",
    candidate_text: str = "",
    at: datetime | None = None,
) -> MemoryVersion:
    """Return an unsaved version with the memory's current text."""
    return MemoryVersion(
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
        created_at=at or timezone.now(),
    )


def _next_number(memory: Memory) -> int:
    newest = MemoryVersion.everything.filter(memory=memory).order_by("-number").first()
    return newest.number + 1 if newest else 1


def _add_input(before: MemoryVersion, after: MemoryVersion) -> None:
    VersionInput.objects.create(user_id=after.user_id, output=after, input=before)
    for source in Source.objects.filter(version=before):
        source.pk = None
        source.version, source.memory_id = after, after.memory_id
        source._state.adding = True
        source.save(force_insert=True)


logger = logging.getLogger(__name__)


def facet_key(user_id: int) -> str:
    return f"survey:{user_id}"


def drop_cached_counts(user_id: int) -> None:
    """Drop the cached counts of the user's memory list when the current transaction is committed.

    If Redis is unreachable, only a warning is logged; the cached counts expire by themselves.
    """

    def drop() -> None:
        try:
            cache.delete(facet_key(user_id))
        except RedisError:
            logger.warning("The cache of user %s can't be reached.", user_id)

    transaction.on_commit(drop)


def record_refusals(
    refused: Sequence[RefusedSecret], *, user_id: int, turn: Turn | None = None
) -> None:
    """Record that secrets were refused.

    Call it in the transaction that marks the text as processed. `turn` is the turn that contained
    the secrets, or None if they were in another text.
    """
    if refused:
        statements.insert(
            [
                Refusal(user_id=user_id, turn=turn, category=one.category, redacted=one.redacted)
                for one in refused
            ]
        )
