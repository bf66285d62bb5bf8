"""The review inbox: carry out the user's decisions on memories that await review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from foundation.errors import Conflict, Invalid, NotFound
from memories.forgetting import memory_forgets
from memories.models import Memory, MemoryStatus
from memories.writing import curation, memory_writes, relations, verdict_effects, verdict_writes
from memories.writing.direct_writes import check_on
from ops import audit_log
from ops.accounts import users
from ops.models import User

DECISIONS = ("accept", "reject", "keep_new", "keep_old", "keep_both", "keep_neither")
_REFUSING = ("reject", "keep_old", "keep_neither")
_REJECTED_KEPT = timedelta(days=1)  # time in the recycle bin


@dataclass(frozen=True)
class ReviewInput:
    id: str
    decision: str
    valid_from: datetime | None = None
    old_until: datetime | None = None


@dataclass(frozen=True)
class ReviewState:
    """The state before a decision, as JSON values, from which `undo` restores it."""

    candidate: str
    valid_from: str | None
    is_removal: bool
    other: str = ""
    other_until: str | None = None


@dataclass(frozen=True)
class ReviewResult:
    """The outcome of a decision.

    `result` is accepted, rejected or not_found; `memory_id` is the id of the memory now in use, or
    None.
    """

    id: str
    result: str
    memory_id: str | None


def confirm(
    *, user: User, decisions: Sequence[ReviewInput], undoable: bool = False
) -> list[ReviewResult]:
    """Carry out the user's decision on each memory that awaits review.

    `keep_new` replaces the contradicted memory. `keep_both` keeps both memories; if a date is
    given, the old memory is valid until that date (or until `old_until`) and the new memory from
    that date. `reject` and `keep_old` forget the new memory; with `undoable`, they move it to the
    recycle bin, from which it is forgotten after a day. `keep_neither` does the same, and moves the
    contradicted memory to the recycle bin. Accepting a memory settles its contradiction, so that it
    isn't raised again. If the memory contradicts yet another memory, both are used, and a relation
    links them. If a memory in use already has the same text, an accepted memory without a
    contradiction moves to the recycle bin, from which it is forgotten after a day.

    If a memory is in the inbox because its line was removed from a memory file, or because it may
    have ended together with another memory, `accept`, `keep_new` and `keep_neither` move the memory
    to the recycle bin, and any other decision keeps it.

    Raise `Invalid`, before any change, if a decision is unknown. Raise `Conflict` if the user is
    being forgotten (`being_forgotten`), or if a memory is accepted while long-term memory is off
    (`memory_off`).
    """
    if any(one.decision not in DECISIONS for one in decisions):
        raise Invalid.field(
            "decisions",
            "Must be one of accept, reject, keep_new, keep_old, keep_both or keep_neither.",
        )
    users.check_not_deleted(user)
    if any(one.decision not in _REFUSING for one in decisions):
        check_on(user)
    reviewed = [_decide(user, one, undoable=undoable) for one in decisions]
    found = {one.id for one in reviewed if one.result != "not_found"}
    decided = {one.id: one.decision for one in decisions if one.id in found}
    audit_log.record("memory.confirmed", subject=user.subject, details={"decisions": decided})
    return reviewed


def undecided(user: User, public_id: str) -> ReviewState | None:
    """Return the state that `undo` needs, or None if the memory doesn't await review."""
    candidate = _lock(user, public_id)
    if candidate is None:
        return None
    other = _other_side(candidate)
    return ReviewState(
        candidate.public_id,
        _text(candidate.valid_from),
        candidate.status != MemoryStatus.CANDIDATE,
        other.public_id if other else "",
        _text(other.valid_until) if other else None,
    )


def undo(*, user: User, before: ReviewState) -> Memory:
    """Undo a decision: the memory awaits review again, and the memory it contradicts is restored.

    Raise `NotFound` if the memory was forgotten, and `Conflict` if the memory has been disabled,
    archived or replaced since.
    """
    rows = Memory.visible.select_for_update(of=("self",)).filter(user=user)
    memory = rows.filter(public_id=before.candidate).first()
    if memory is None:
        raise NotFound("This memory doesn’t exist.")
    if memory.status not in (MemoryStatus.ACTIVE, MemoryStatus.CANDIDATE):
        raise Conflict("This memory is waiting for your review or is outdated; decide on it first.")
    memory = curation.restore_from_bin(user=user, memory=memory)
    other = rows.filter(public_id=before.other).first() if before.other else None
    if before.is_removal:
        memory.removal_asked_at, memory.conflicts_with = timezone.now(), other
    else:
        memory.status, memory.conflicts_with = MemoryStatus.CANDIDATE, other
        memory.valid_from = _moment(before.valid_from)
        if other is not None:
            other = curation.restore_from_bin(user=user, memory=other)
            relations.reopen_contradiction(memory, other)
            if other.superseded_by_id == memory.pk:
                other.status, other.superseded_by = MemoryStatus.ACTIVE, None
                contesting = Memory.objects.filter(user=other.user_id, conflicts_with=memory)
                contesting.update(conflicts_with=other)
            other.valid_until = _moment(before.other_until)
            other.save(update_fields=["status", "superseded_by", "valid_until", "updated_at"])
            memory_writes.announce_change(other)
    memory.save(
        update_fields=["status", "conflicts_with", "valid_from", "removal_asked_at", "updated_at"]
    )
    memory_writes.announce_change(memory)
    audit_log.record("memory.undecided", subject=user.subject, target=memory.public_id)
    return memory


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _decide(user: User, given: ReviewInput, *, undoable: bool) -> ReviewResult:
    candidate = _lock(user, given.id)
    if candidate is None:
        return ReviewResult(given.id, "not_found", None)
    if candidate.status != MemoryStatus.CANDIDATE:
        candidate.removal_asked_at = candidate.conflicts_with = None
        candidate.save(update_fields=["removal_asked_at", "conflicts_with", "updated_at"])
        if given.decision in ("accept", "keep_new", "keep_neither"):
            curation.recycle(user=user, memory=candidate)
            return ReviewResult(given.id, "accepted", None)
        return ReviewResult(given.id, "rejected", candidate.public_id)
    other = _other_side(candidate)
    if given.decision in _REFUSING:
        return _refuse(user, given, candidate, other, undoable=undoable)
    if other is None and (same := _same_in_use(candidate)):
        curation.recycle(user=user, memory=candidate, kept_for=_REJECTED_KEPT)
        return ReviewResult(given.id, "accepted", same.public_id)
    candidate.status, candidate.conflicts_with = MemoryStatus.ACTIVE, None
    candidate.valid_from = given.valid_from or candidate.valid_from
    if other is not None:
        relations.settle_contradiction(candidate, other)
        if given.decision == "keep_new":
            verdict_effects.supersede(other, by=candidate)
        elif given.decision == "keep_both" and given.valid_from is not None:
            _end(other, at=given.old_until or given.valid_from)
    candidate.save(update_fields=["status", "conflicts_with", "valid_from", "updated_at"])
    verdict_writes.relate_contradicted(candidate)
    memory_writes.announce_change(candidate)
    return ReviewResult(given.id, "accepted", candidate.public_id)


def _refuse(
    user: User, given: ReviewInput, candidate: Memory, other: Memory | None, *, undoable: bool
) -> ReviewResult:
    if undoable:
        curation.recycle(user=user, memory=candidate, kept_for=_REJECTED_KEPT)
    else:
        memory_forgets.forget_memory(user=user, memory=candidate)
    if given.decision == "keep_neither" and other is not None:
        curation.recycle(user=user, memory=other)
        other = None
    return ReviewResult(given.id, "rejected", other.public_id if other else None)


def _lock(user: User, public_id: str) -> Memory | None:
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=user)
    asked = Q(status=MemoryStatus.CANDIDATE) | Q(removal_asked_at__isnull=False)
    return rows.filter(asked, public_id=public_id).first()


def _same_in_use(candidate: Memory) -> Memory | None:
    """Return a memory in use with the same text, which the user may have written meanwhile."""
    rows = Memory.objects.filter(user=candidate.user_id, status=MemoryStatus.ACTIVE)
    same = rows.filter(content=candidate.content, project=candidate.project_id)
    return same.filter(deleted_at=None).first()


def _other_side(candidate: Memory) -> Memory | None:
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=candidate.user_id)
    return rows.filter(contested_by=candidate.pk).first()


def _end(other: Memory, *, at: datetime) -> None:
    """End the validity of the memory `other` at the time `at`.

    Does nothing if the validity begins later or already ends earlier.
    """
    if other.valid_from is not None and other.valid_from > at:
        return
    if other.valid_until is None or other.valid_until > at:
        other.valid_until = at
        other.save(update_fields=["valid_until", "updated_at"])
