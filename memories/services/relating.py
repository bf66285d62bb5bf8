"""How memories bear on one another: what a verdict says of them, with its strength."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memories.extraction.arbitrate import SAME_MATTER
from memories.extraction.types import Beside, Known, Verdict
from memories.models import Memory, MemoryStatus, Origin, Relation, RelationKind
from ops.services import audit, events
from ops.services.events import Event

# What each verdict says of two memories that stay side by side.
_SAYS = {
    Verdict.REVIEW: RelationKind.CONTRADICTS,
    Verdict.KEEP_BOTH: RelationKind.REFINES,
    Verdict.MERGE: RelationKind.REFINES,
    Verdict.SKIP: RelationKind.SUPPORTS,
}
# A contradiction weighs until a person settles it; then both stand, one beside the other.
_LEAST_CONTRADICTION = 0.7
SETTLED = 0.2


def relate(memory: Memory, others: Iterable[tuple[Memory, Verdict, float]]) -> None:
    """Write what each verdict implies of a memory and another, by their similarity.

    Nothing where it implies nothing. Safe to repeat.
    """
    _write([row for one in others if (row := _relation(memory, *one)) is not None])


def _relation(
    memory: Memory, other: Memory, verdict: Verdict, similarity: float
) -> Relation | None:
    kind = _SAYS.get(verdict)
    if kind is None or memory.pk == other.pk:
        return None
    strength = min(1.0, max(0.0, similarity))
    if kind == RelationKind.CONTRADICTS:
        strength = max(_LEAST_CONTRADICTION, strength)
    elif verdict == Verdict.KEEP_BOTH and strength < SAME_MATTER:
        return None  # that two merely hold side by side tells nobody anything
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


def settle_beside(
    memory: Memory, beside: Sequence[Beside], *, known: Sequence[Known]
) -> tuple[str, ...]:
    """Deal with the further memories that a new text touches; give those that it replaces.

    They are superseded only while the new text is in use and they are as they were when they
    were compared; what the person wrote themselves stays and is shown as contradicting.
    """
    if not beside:
        return ()
    met = {one.id: one for one in known}
    rows = Memory.objects.select_for_update(of=("self",)).filter(
        user=memory.user_id, public_id__in=[one.id for one in beside]
    )
    others = {one.public_id: one for one in rows.order_by("pk")}
    superseded, side_by_side = [], []
    for one in beside:
        other = others.get(one.id)
        if other is None or other.content != met[one.id].content or other.pk == memory.pk:
            continue
        verdict = one.verdict
        if verdict == Verdict.REPLACE and _gives_way(other, to=memory):
            supersede(other, by=memory)
            superseded.append(other.public_id)
            continue
        verdict = Verdict.REVIEW if verdict == Verdict.REPLACE else verdict
        side_by_side.append((other, verdict, met[one.id].similarity))
    relate(memory, side_by_side)
    return tuple(superseded)


def supersede(loser: Memory, *, by: Memory) -> None:
    """The winner takes the loser's place, also where others are held against the loser."""
    loser.status, loser.superseded_by = MemoryStatus.SUPERSEDED, by
    loser.save(update_fields=["status", "superseded_by", "updated_at"])
    audit.gather("memory.superseded", subject=by.user.subject, target=loser.public_id)
    events.memories(Event.MEMORY_UPDATED, user_id=by.user_id, ids=[loser.public_id])
    Memory.objects.filter(user=by.user_id, conflicts_with=loser).exclude(pk=by.pk).update(
        conflicts_with=by
    )


def settle(memory: Memory, other: Memory) -> None:
    """A person has decided on the two: the contradiction no longer weighs."""
    kind = RelationKind.CONTRADICTS
    _write(
        [Relation(user_id=memory.user_id, memory=memory, other=other, kind=kind, strength=SETTLED)]
    )


def _gives_way(other: Memory, *, to: Memory) -> bool:
    in_use = to.status == MemoryStatus.ACTIVE and other.status == MemoryStatus.ACTIVE
    return in_use and not other.pinned and (other.origin != Origin.USER or to.origin == Origin.USER)
