"""The effects that a verdict has on known memories; all modules that apply verdicts use them.

The memories that are changed must be locked. Each change is recorded in the audit log and announced
to webhooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.utils import timezone

from conversations.models import Turn
from memories.extraction.types import KnownMemory, Verdict
from memories.indexing import earlier_texts
from memories.models import Arbitration, Memory, MemoryStatus, MemoryVersion, Origin, TargetKind
from ops import audit_log
from ops.models import User
from ops.queue import webhook_events
from ops.queue.webhook_events import Event


def is_protected(
    target: Memory, *, origin: str, is_meant: bool = False, is_named: bool = False
) -> bool:
    """Return True if a new text with this origin may not overwrite or replace the memory.

    A text that the user wrote, or a pinned memory, is replaced only by another text of the user,
    unless the user clearly wanted it. `is_meant` is True if the new text is a correction or an
    explicit statement. A pinned memory requires more, because it was pinned for a reason:
    `is_named` is True if the new text is explicit or names the text that it corrects.
    """
    if origin == Origin.USER:
        return False
    return (target.origin == Origin.USER and not is_meant) or (target.pinned and not is_named)


def supersede(loser: Memory, *, by: Memory) -> None:
    """Mark `loser` as replaced by the memory `by`; a search for its text then finds `by`."""
    version = MemoryVersion.objects.filter(memory=loser, number=loser.current_version).first()
    if version is not None:
        earlier_texts.index_earlier_text(by, version, of=(TargetKind.MEMORY, loser.pk))
    _retire([loser], MemoryStatus.SUPERSEDED, user=by.user, successor=by)


def fold(memories: Sequence[Memory], *, into: Memory) -> None:
    """Archive memories whose texts are inputs of the current version of the memory `into`.

    `archived_at` isn't set, so that search finds only the memory `into`.
    """
    _retire(memories, MemoryStatus.ARCHIVED, user=into.user, successor=into)


def archive(memories: Sequence[Memory], *, user: User, at: datetime | None) -> None:
    """Archive memories. `at` is stored as the time; if it is None, search doesn't find them."""
    _retire(memories, MemoryStatus.ARCHIVED, user=user, at=at)


def _retire(
    memories: Sequence[Memory],
    status: MemoryStatus,
    *,
    user: User,
    successor: Memory | None = None,
    at: datetime | None = None,
) -> None:
    for one in memories:
        one.status, one.archived_at = status, at
        one.superseded_by = successor
        audit_log.record_together(f"memory.{status}", subject=user.subject, target=one.public_id)
        webhook_events.write_at_commit(
            Event.MEMORY_UPDATED, user_id=user.pk, memory_id=one.public_id
        )
    pks = [one.pk for one in memories]
    Memory.objects.filter(user=user, pk__in=pks).update(
        status=status, archived_at=at, superseded_by=successor, updated_at=timezone.now()
    )
    if successor is not None:  # the review inbox must not ask about a memory that is out of use
        contesting = Memory.objects.filter(user=user, conflicts_with__in=pks)
        contesting.exclude(pk=successor.pk).update(conflicts_with=successor)


def hold_for_review(memory: Memory, *, against: Memory) -> None:
    """Take a memory out of use until the user decides between it and the memory `against`.

    The caller must call `memory_writes.announce_change`.
    """
    memory.status, memory.conflicts_with = MemoryStatus.CANDIDATE, against
    memory.save(update_fields=["status", "conflicts_with", "updated_at"])
    subject = memory.user.subject
    audit_log.record_together("memory.contested", subject=subject, target=memory.public_id)


def new_log_entry(
    verdict: Verdict,
    *,
    user: User,
    candidate_text: str,
    decided_by: str,
    reasons: Iterable[str] = (),
    turn: Turn | None = None,
    memory: Memory | None = None,
    target: Memory | None = None,
    known: KnownMemory | None = None,
) -> Arbitration:
    """Return an unsaved log entry of a verdict.

    `known` is the memory with which the candidate was compared. `target` is its current row, or
    None if the memory has changed since the comparison.
    """
    return Arbitration(
        user=user,
        turn=turn,
        memory=memory,
        target=target,
        verdict=verdict,
        candidate_text=candidate_text,
        target_text=known.content if known and target else "",
        similarity=known.similarity if known else None,
        decided_by=decided_by,
        reasons=[reason[:60] for reason in reasons],
    )
