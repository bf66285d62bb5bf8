"""The review inbox: what the person decides about candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memcenter.lib.errors import Invalid
from memories.models import Memory, MemoryStatus, Relation, RelationKind
from memories.services import forgetting
from memories.services.remembering import check_on
from ops.models import User

DECISIONS = ("accept", "reject", "keep_new", "keep_old", "keep_both")


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

    keep_new supersedes the memory that it contradicts; keep_both keeps both, related and, where
    given, dated; reject and keep_old forget the candidate.
    """
    if unknown := [one.decision for one in decisions if one.decision not in DECISIONS]:
        raise Invalid.field("decisions", f"{unknown[0]!r} is not one of {', '.join(DECISIONS)}.")
    check_on(user)
    return [_decide(user, one) for one in decisions]


def _decide(user: User, given: ReviewInput) -> Reviewed:
    candidate = (
        Memory.objects.select_for_update(of=("self",))
        .select_related("conflicts_with")
        .filter(user=user, public_id=given.id, status=MemoryStatus.CANDIDATE)
        .first()
    )
    if candidate is None:
        return Reviewed(given.id, "not_found", None)
    other = candidate.conflicts_with
    if given.decision in ("reject", "keep_old"):
        forgetting.forget_memory(user=user, memory=candidate)
        return Reviewed(given.id, "rejected", other.public_id if other else None)
    if given.decision == "keep_new" and other is not None:
        other.status, other.superseded_by = MemoryStatus.SUPERSEDED, candidate
        other.save(update_fields=["status", "superseded_by", "updated_at"])
    if given.decision == "keep_both" and other is not None:
        Relation.objects.get_or_create(
            user=user, memory=candidate, other=other, kind=RelationKind.CONTRADICTS
        )
    candidate.status, candidate.conflicts_with = MemoryStatus.ACTIVE, None
    candidate.valid_from = given.valid_from or candidate.valid_from
    candidate.save(update_fields=["status", "conflicts_with", "valid_from", "updated_at"])
    return Reviewed(given.id, "accepted", candidate.public_id)
