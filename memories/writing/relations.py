"""Relations between memories. A verdict determines the kind, and similarity the strength."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.extraction.arbitration.verdicts import ENDS, SAME_MATTER
from memories.extraction.types import KnownMemory, OtherVerdict, Verdict
from memories.models import Memory, MemoryStatus, Relation, RelationKind, Source
from memories.writing import verdict_effects

# The relation that each verdict implies if both memories are kept.
_IMPLIED = {
    Verdict.REVIEW: RelationKind.CONTRADICTS,
    Verdict.KEEP_BOTH: RelationKind.REFINES,
    Verdict.MERGE: RelationKind.REFINES,
    Verdict.SKIP: RelationKind.SUPPORTS,
}
# A contradiction has at least this strength until the user decides on it; then it gets `SETTLED`.
_LEAST_CONTRADICTION = 0.7
SETTLED = 0.2


def relate(memory: Memory, others: Iterable[tuple[Memory, Verdict, float]]) -> None:
    """Store the relation that each verdict implies between `memory` and another memory.

    `others` holds the other memories, each with the verdict and the similarity, which becomes the
    strength; a contradiction has a minimum strength. Verdicts that imply no relation are skipped.
    Safe to repeat.
    """
    _write([row for one in others if (row := _relation(memory, *one)) is not None])


def support(memory: Memory, supports: Sequence[str], *, known: Sequence[KnownMemory]) -> None:
    """Link a new memory to the memories that support it, with their similarity as the strength.

    Memories from the same message or turn don't count as support, since parts of one message don't
    confirm each other. A memory that has changed since the comparison is skipped. Safe to repeat.
    """
    if not supports:
        return
    compared = {one.id: one for one in known}
    others = Memory.objects.filter(user=memory.user_id, public_id__in=supports)
    apart = others.exclude(pk__in=_with_common_source(memory)).order_by("pk")
    _write(
        [
            Relation(
                user_id=memory.user_id,
                memory=memory,
                other=other,
                kind=RelationKind.SUPPORTS,
                strength=min(1.0, max(0.0, compared[other.public_id].similarity)),
            )
            for other in apart
            if other.content == compared[other.public_id].content and other.pk != memory.pk
        ]
    )


def _with_common_source(memory: Memory) -> QuerySet[Source, int]:
    own = Source.objects.filter(user=memory.user_id, memory=memory)
    turns, messages = own.filter(turn__isnull=False), own.filter(message__isnull=False)
    same = Q(turn__in=turns.values("turn")) | Q(message__in=messages.values("message"))
    return Source.objects.filter(same, user=memory.user_id).values_list("memory", flat=True)


def _relation(
    memory: Memory, other: Memory, verdict: Verdict, similarity: float
) -> Relation | None:
    kind = _IMPLIED.get(verdict)
    if kind is None or memory.pk == other.pk:
        return None
    strength = min(1.0, max(0.0, similarity))
    if kind == RelationKind.CONTRADICTS:
        strength = max(_LEAST_CONTRADICTION, strength)
    elif verdict == Verdict.KEEP_BOTH and strength < SAME_MATTER:
        return None  # the verdict that both are true implies no relation between unlike statements
    return Relation(
        user_id=memory.user_id, memory=memory, other=other, kind=kind, strength=strength
    )


def _write(relations: Sequence[Relation]) -> None:
    Relation.objects.bulk_create(
        relations,
        update_conflicts=True,
        unique_fields=["memory", "other", "kind"],
        update_fields=["strength"],
    )


def apply_other_verdicts(
    memory: Memory, verdicts: Sequence[OtherVerdict], *, known: Sequence[KnownMemory]
) -> tuple[str, ...]:
    """Relate or supersede further memories that a new text affects.

    Return the ids of the superseded memories. A memory that has changed since the comparison is
    skipped. A memory is superseded only if `memory` is active and the other memory is active or
    archived, and not pinned; a text that the user wrote is superseded only by another text of the
    user. If a memory may not be superseded, a contradiction is stored instead. An active memory
    that may have ended together with another memory is still used, and awaits review.
    """
    if not verdicts:
        return ()
    compared = {one.id: one for one in known}
    rows = Memory.objects.select_for_update(of=("self",)).filter(
        user=memory.user_id, public_id__in=[one.id for one in verdicts]
    )
    others = {one.public_id: one for one in rows.order_by("pk")}
    superseded, side_by_side = [], []
    for one in verdicts:
        other = others.get(one.id)
        if other is None or other.content != compared[one.id].content or other.pk == memory.pk:
            continue
        verdict = one.verdict
        if verdict == Verdict.REPLACE and _may_be_superseded(other, by=memory):
            verdict_effects.supersede(other, by=memory)
            superseded.append(other.public_id)
            continue
        if verdict == Verdict.REVIEW and one.reason == ENDS and _may_be_asked_about(other, memory):
            other.removal_asked_at, other.conflicts_with = timezone.now(), memory
            other.save(update_fields=["removal_asked_at", "conflicts_with", "updated_at"])
            continue
        verdict = Verdict.REVIEW if verdict == Verdict.REPLACE else verdict
        side_by_side.append((other, verdict, compared[one.id].similarity))
    relate(memory, side_by_side)
    return tuple(superseded)


def settle_contradiction(memory: Memory, other: Memory) -> None:
    """Lower the strength of a contradiction on which the user has decided."""
    kind = RelationKind.CONTRADICTS
    _write(
        [Relation(user_id=memory.user_id, memory=memory, other=other, kind=kind, strength=SETTLED)]
    )


def reopen_contradiction(memory: Memory, other: Memory) -> None:
    """Remove the settled contradiction between two memories, since the decision is undone."""
    settled = Relation.objects.filter(kind=RelationKind.CONTRADICTS, strength__lte=SETTLED)
    settled.filter(user=memory.user_id, memory=memory, other=other).delete()


def settled_memories(memory: Memory) -> set[str]:
    """Return the public ids of memories whose contradiction with `memory` the user has settled.

    If there are any, the result also contains the id of `memory`.
    """
    rows = Relation.objects.filter(
        Q(memory=memory) | Q(other=memory),
        user=memory.user_id,
        kind=RelationKind.CONTRADICTS,
        strength__lte=SETTLED,
    )
    return {id for pair in rows.values_list("memory__public_id", "other__public_id") for id in pair}


def unsettled_with(memory: Memory) -> Memory | None:
    """Return the newest active memory whose contradiction with `memory` is unsettled, or None."""
    rows = Memory.objects.filter(user=memory.user_id, status=MemoryStatus.ACTIVE)
    others = Relation.objects.filter(
        memory=memory, kind=RelationKind.CONTRADICTS, strength__gt=SETTLED
    )
    return rows.filter(pk__in=others.values("other")).order_by("pk").last()


def _may_be_asked_about(other: Memory, memory: Memory) -> bool:
    return memory.status == other.status == MemoryStatus.ACTIVE and other.removal_asked_at is None


def _may_be_superseded(other: Memory, *, by: Memory) -> bool:
    known = other.status in (MemoryStatus.ACTIVE, MemoryStatus.ARCHIVED)
    in_use = by.status == MemoryStatus.ACTIVE and known
    # The new text is mainly about another memory, so it never replaces a pinned memory.
    return in_use and not (other.pinned or verdict_effects.is_protected(other, origin=by.origin))
