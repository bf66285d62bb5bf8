"""The review inbox: what the person decides about candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from memcenter.lib.errors import Invalid
from memories.models import Memory, MemoryStatus
from memories.services import curating, forgetting, relating, writing
from memories.services.remembering import check_on
from ops.models import User
from ops.services import audit, users

DECISIONS = ("accept", "reject", "keep_new", "keep_old", "keep_both")
_REFUSING = ("reject", "keep_old")


@dataclass(frozen=True)
class ReviewInput:
    id: str
    decision: str
    valid_from: datetime | None = None


@dataclass(frozen=True)
class Reviewed:
    """`result` is accepted, rejected or not_found; `memory_id` is what is in use now."""

    id: str
    result: str
    memory_id: str | None


def confirm(*, user: User, decisions: Sequence[ReviewInput]) -> list[Reviewed]:
    """Decide on each candidate. Raises `Invalid` before anything is done.

    keep_new supersedes the memory that it contradicts; keep_both keeps both, and where a day is
    given the old one holds until then and the new one from then on; reject and keep_old forget
    the candidate. The contradiction counts as settled. Where a memory file left a memory out,
    accept and keep_new move it to the recycle bin, anything else keeps it. Raises `Conflict`
    (`memory_off`) where one is accepted while long-term memory is off.
    """
    if unknown := [one.decision for one in decisions if one.decision not in DECISIONS]:
        raise Invalid.field("decisions", f"{unknown[0]!r} is not one of {', '.join(DECISIONS)}.")
    users.check_not_being_forgotten(User.objects.get(pk=user.pk))
    if any(one.decision not in _REFUSING for one in decisions):
        check_on(user)
    reviewed = [_decide(user, one) for one in decisions]
    found = {one.id for one in reviewed if one.result != "not_found"}
    told = {one.id: one.decision for one in decisions if one.id in found}
    audit.record("memory.confirmed", subject=user.subject, details={"decisions": told})
    return reviewed


def _decide(user: User, given: ReviewInput) -> Reviewed:
    candidate = _locked(user, given.id)
    if candidate is None:
        return Reviewed(given.id, "not_found", None)
    if candidate.status != MemoryStatus.CANDIDATE:
        return _decide_on_removal(user, candidate, given)
    other = _other_side(candidate)
    if given.decision in ("reject", "keep_old"):
        forgetting.forget_memory(user=user, memory=candidate)
        return Reviewed(given.id, "rejected", other.public_id if other else None)
    candidate.status, candidate.conflicts_with = MemoryStatus.ACTIVE, None
    candidate.valid_from = given.valid_from or candidate.valid_from
    if other is not None:
        _settle(candidate, other, given)
    candidate.save(update_fields=["status", "conflicts_with", "valid_from", "updated_at"])
    writing.changed(candidate)
    return Reviewed(given.id, "accepted", candidate.public_id)


def _decide_on_removal(user: User, memory: Memory, given: ReviewInput) -> Reviewed:
    memory.removal_asked_at = None
    memory.save(update_fields=["removal_asked_at", "updated_at"])
    if given.decision in ("accept", "keep_new"):
        curating.recycle(user=user, memory=memory)
        return Reviewed(given.id, "accepted", None)
    return Reviewed(given.id, "rejected", memory.public_id)


def _locked(user: User, public_id: str) -> Memory | None:
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=user)
    asked = Q(status=MemoryStatus.CANDIDATE) | Q(removal_asked_at__isnull=False)
    return rows.filter(asked, public_id=public_id).first()


def _other_side(candidate: Memory) -> Memory | None:
    """What it is held against, unless that went to the bin or is being forgotten."""
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=candidate.user_id)
    return rows.filter(contested_by=candidate.pk).first()


def _settle(candidate: Memory, other: Memory, given: ReviewInput) -> None:
    relating.settle(candidate, other)
    if given.decision == "keep_new":
        relating.supersede(other, by=candidate)
    elif given.decision == "keep_both" and given.valid_from is not None:
        _end(other, at=given.valid_from)


def _end(other: Memory, *, at: datetime) -> None:
    """The old one held until the new one began; one that began later keeps its own dates."""
    if other.valid_from is not None and other.valid_from > at:
        return
    if other.valid_until is None or other.valid_until > at:
        other.valid_until = at
        other.save(update_fields=["valid_until", "updated_at"])
