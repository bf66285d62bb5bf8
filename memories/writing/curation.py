"""Actions of users on their own memories: edit, pin, disable, tag, rate, delete, restore."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.models import Rating
from foundation.errors import Conflict, Invalid
from memories.extraction import masking
from memories.extraction.masking import masked
from memories.extraction.wording.languages import ANSWERS, twin_of, without_twins
from memories.models import Change, Memory, MemoryStatus, Origin
from memories.writing import (
    archive,
    direct_writes,
    memory_writes,
    relations,
    verdict_effects,
    verdict_writes,
)
from memories.writing.direct_writes import MAX_TAG, MAX_TAGS, MemoryInput, Prepared
from memories.writing.memory_writes import SourceInput
from ops import audit_log, ledger
from ops.models import User
from ops.queue import webhook_events
from ops.queue.webhook_events import Event

_PLAIN = (
    "tags",
    "importance",
    "confidence",
    "data",
    "occurred_at",
    "valid_from",
    "valid_until",
    "summary",
    "metadata",
)
_MASKED = ("tags", "data", "summary", "metadata")  # fields besides the text that may hold secrets
BULK_LIMIT = 1000


@dataclass(frozen=True)
class Edit:
    """A checked change of a memory. `text` is set only if the text changes."""

    changes: Mapping[str, Any]
    text: Prepared | None


def prepare_edit(changes: Mapping[str, Any], *, memory: Memory, actor: Origin) -> Edit:
    """Check the changes, mask secrets in them, and embed the text. Call it outside a transaction.

    Raise `Invalid` if a value is invalid.
    """
    values = {
        name: changes[name] for name in (*_PLAIN, "kind") if name in changes and name != "summary"
    }
    text = str(changes.get("content", memory.content))
    merged = {
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "data": memory.data,
        "metadata": memory.metadata,
        **values,
    }
    prepared = direct_writes.prepare(
        MemoryInput(content=text, **merged), origin=actor, describes=False
    )
    rewritten = prepared.draft.content != memory.content
    screened = {
        name: masking.masked_values(value) if name in _MASKED else value
        for name, value in changes.items()
    }
    return Edit(screened, prepared if rewritten else None)


def edit(edit: Edit, *, user: User, memory: Memory, actor: Origin = Origin.USER) -> Memory:
    """Apply a checked change. A new text becomes a new version whose only source is this edit.

    If the new text contradicts another memory, a relation between the memories is stored. If a
    program wrote such a text, the memory awaits the user's review. Raise `NotFound` if the memory
    no longer exists, `Invalid` if the new kind or status is invalid, and `Conflict` if the status
    can't be changed because the memory is a candidate or superseded.
    """
    memory = memory_writes.lock(memory, user=user)
    changes = dict(edit.changes)
    kind = memory_writes.check_kind(changes.pop("kind")) if "kind" in changes else memory.kind
    if edit.text is not None:
        draft = replace(edit.text.draft, project=memory.project, kind=kind)
        source = SourceInput(origin=actor)
        memory_writes.rewrite(memory, draft, source=source, change=Change.EDITED)
        memory.origin = actor
    memory.kind = kind
    if "tags" in changes:
        _update_standing(memory, changes["tags"])
    for name in _PLAIN:
        if name in changes:
            value = changes[name]
            setattr(memory, name, list(value) if name == "tags" else value)
    if "pinned" in changes:
        memory.pinned = changes["pinned"]
    if "status" in changes:
        _switch(memory, changes["status"])
    elif edit.text is not None and memory.archived_at is not None:
        archive.unarchive(memory)
    memory.save()
    if edit.text is None:
        memory_writes.announce_change(memory)
    else:
        other = verdict_writes.relate_contradicted(memory, near=edit.text.vector)
        if other is not None and actor != Origin.USER:
            verdict_effects.hold_for_review(memory, against=other)
    details = {"fields": sorted(edit.changes)}
    audit_log.record(
        "memory.edited", subject=user.subject, target=memory.public_id, details=details
    )
    return memory


def _update_standing(memory: Memory, tags: Iterable[str]) -> None:
    before, after = (not ANSWERS.isdisjoint(names) for names in (memory.tags, tags))
    if before != after:
        memory.standing = after


def enable(*, user: User, memory: Memory) -> Memory:
    """Use the memory again. If another memory superseded it, both memories are used from now on."""
    if memory.status == MemoryStatus.SUPERSEDED:
        return _audit("enabled", _reinstate(user, memory))
    return _audit("enabled", _set(user, memory, status=MemoryStatus.ACTIVE))


def _reinstate(user: User, memory: Memory) -> Memory:
    memory = memory_writes.lock(memory, user=user)
    if memory.status != MemoryStatus.SUPERSEDED:
        return memory
    if memory.superseded_by is not None:
        relations.settle_contradiction(memory, memory.superseded_by)
    memory.status, memory.superseded_by = MemoryStatus.ACTIVE, None
    memory.save(update_fields=["status", "superseded_by", "updated_at"])
    memory_writes.announce_change(memory)
    return memory


def disable(*, user: User, memory: Memory) -> Memory:
    """Stop using the memory, but keep it. `enable` reverses this."""
    return _audit("disabled", _set(user, memory, status=MemoryStatus.DISABLED))


def pin(*, user: User, memory: Memory) -> Memory:
    return _audit("pinned", _set(user, memory, pinned=True))


def unpin(*, user: User, memory: Memory) -> Memory:
    return _audit("unpinned", _set(user, memory, pinned=False))


def recycle(*, user: User, memory: Memory, kept_for: timedelta | None = None) -> Memory:
    """Move the memory to the recycle bin, from which it is forgotten after `RECYCLE_DAYS`.

    `kept_for` replaces `RECYCLE_DAYS`. Does nothing to a memory that is already in the recycle bin.
    """
    found = memory_writes.lock(memory, user=user, with_bin=True)
    return found if found.deleted_at else _audit("deleted", _recycle(found, kept_for=kept_for))


def restore_from_bin(*, user: User, memory: Memory) -> Memory:
    """Restore the memory from the recycle bin. Does nothing if it isn't in the bin."""
    found = memory_writes.lock(memory, user=user, with_bin=True)
    return _audit("restored", _take_back(found)) if found.deleted_at else found


def apply_to_many(
    *, user: User, ids: Sequence[str], action: str, tag_name: str = ""
) -> list[tuple[str, str]]:
    """Apply an action to many memories; return each id with "done" or "not_found".

    Only "recycle" and "restore" find memories that are in the recycle bin. Raise `Invalid` if the
    action is unknown, the tag is invalid or there are more than `BULK_LIMIT` ids, and `Conflict` if
    a memory can't be enabled or disabled.
    """
    acts: dict[str, Callable[[Memory], Memory]] = {
        "enable": lambda one: _set(user, one, status=MemoryStatus.ACTIVE),
        "disable": lambda one: _set(user, one, status=MemoryStatus.DISABLED),
        "pin": lambda one: _set(user, one, pinned=True),
        "unpin": lambda one: _set(user, one, pinned=False),
        "tag": lambda one: _tag(user, one, tag_name),
        "untag": lambda one: _untag(user, one, tag_name),
        "recycle": lambda one: _recycle(memory_writes.lock(one, user=user, with_bin=True)),
        "restore": lambda one: _take_back(memory_writes.lock(one, user=user, with_bin=True)),
    }
    if action not in acts:
        raise Invalid.field(
            "action",
            "Must be one of enable, disable, pin, unpin, tag, untag, recycle, restore or forget.",
        )
    if len(ids) > BULK_LIMIT:
        raise Invalid.field("ids", "That is too many at once: at most 1,000.")
    rows = Memory.visible if action in ("recycle", "restore") else Memory.objects
    found = {
        one.public_id: one for one in rows.filter(user=user, public_id__in=list(ids)).order_by("pk")
    }
    results = []
    for public_id in dict.fromkeys(ids):
        memory = found.get(public_id)
        if memory is not None:
            acts[action](memory)
        results.append((public_id, "done" if memory else "not_found"))
    details = {"action": action, "memories": list(found)}
    audit_log.record("memory.bulk", subject=user.subject, details=details)
    return results


def _audit(action: str, memory: Memory) -> Memory:
    audit_log.record(f"memory.{action}", subject=memory.user.subject, target=memory.public_id)
    return memory


def _recycle(memory: Memory, *, kept_for: timedelta | None = None) -> Memory:
    if memory.deleted_at is None:
        now = timezone.now()
        memory.deleted_at = now
        memory.purge_at = now + (kept_for or timedelta(days=settings.RECYCLE_DAYS))
        memory.removal_asked_at = None
        memory.save(update_fields=["deleted_at", "purge_at", "removal_asked_at", "updated_at"])
        ledger.record_decision("memory", memory.public_id, recycled=True)
        webhook_events.memories(
            Event.MEMORY_DELETED, user_id=memory.user_id, ids=[memory.public_id]
        )
    return memory


def _take_back(memory: Memory) -> Memory:
    if memory.deleted_at is None:
        return memory
    memory.deleted_at = memory.purge_at = None
    memory.save(update_fields=["deleted_at", "purge_at", "updated_at"])
    ledger.record_decision("memory", memory.public_id, recycled=False)
    webhook_events.memories(Event.MEMORY_CREATED, user_id=memory.user_id, ids=[memory.public_id])
    return memory


def _tag(user: User, memory: Memory, tag: str) -> Memory:
    tag = masking.masked(tag.strip())
    if not 1 <= len(tag) <= MAX_TAG:
        raise Invalid.field("tag", "A tag must have 1 to 50 characters.")
    tags = without_twins([*memory.tags, tag])
    if len(tags) > MAX_TAGS:
        raise Invalid.field("tag", "A memory can’t have more than 20 tags.")
    return _set(user, memory, tags=tags)


def _untag(user: User, memory: Memory, tag: str) -> Memory:
    removed = (tag.strip(), twin_of(tag.strip()))
    return _set(user, memory, tags=[one for one in memory.tags if one not in removed])


def _set(user: User, memory: Memory, **fields: Any) -> Memory:
    memory = memory_writes.lock(memory, user=user)
    changed = [*fields, "updated_at"]
    if "status" in fields:
        _switch(memory, fields.pop("status"))
        changed += ["archived_at", "last_accessed_at"]
    for name, value in fields.items():
        setattr(memory, name, value)
    memory.save(update_fields=changed)
    memory_writes.announce_change(memory)
    return memory


def _switch(memory: Memory, status: str) -> None:
    """Set the status to active or disabled.

    Raise `Invalid` for any other status, and `Conflict` for candidates and replaced memories.
    """
    switchable = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED, MemoryStatus.ARCHIVED)
    if status not in (MemoryStatus.ACTIVE, MemoryStatus.DISABLED):
        raise Invalid.field("status", "Must be active or disabled.")
    if memory.status not in switchable:
        raise Conflict("This memory is waiting for your review or is outdated; decide on it first.")
    if memory.archived_at is not None:
        archive.unarchive(memory)
    memory.status = status


# A negative rating multiplies the confidence by a factor. A positive rating reduces the doubt
# (1 - confidence) by a fifth, as a repetition does.
_FACTORS = {Rating.NEGATIVE: 0.6, Rating.VERY_NEGATIVE: 0.3}
_DOUBT_LEFT = 0.8


def rate_memory(*, user: User, memory: Memory, rating: str | None, comment: str = "") -> Memory:
    """Set, change or remove (None) the user's rating of a memory, and adjust its confidence.

    The confidence is always computed from the value before the first rating. Removing the rating
    restores that value, unless the confidence has been changed otherwise in the meantime. The
    rating also affects the memory's rank in a recall (`retrieval/evidence.py`). Raise `NotFound` if
    the memory doesn't exist.
    """
    found = memory_writes.lock(memory, user=user, with_bin=True)
    before = _unrated(found)
    found.feedback = rating or ""
    found.feedback_reason = masked(comment) if rating else ""
    found.confidence = confidence_after(before, found.feedback)
    found.confidence_unrated = before if rating else None
    rated_fields = ["feedback", "feedback_reason", "confidence", "confidence_unrated"]
    found.save(update_fields=rated_fields)
    memory_writes.announce_change(found)
    audit_log.record("memory.rated", subject=user.subject, target=found.public_id)
    return found


def asks_to_forget(rating: str | None) -> bool:
    """Return True if this rating leads to an offer to forget the memory."""
    return rating == Rating.VERY_NEGATIVE


def confidence_after(confidence: float, rating: str) -> float:
    if rating == Rating.POSITIVE:
        return 1.0 - (1.0 - confidence) * _DOUBT_LEFT
    return confidence * _FACTORS.get(Rating(rating), 1.0) if rating else confidence


def _unrated(memory: Memory) -> float:
    before = memory.confidence_unrated
    if before is None or memory.confidence != confidence_after(before, memory.feedback):
        return memory.confidence
    return before
