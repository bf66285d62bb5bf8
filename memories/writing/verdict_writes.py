"""Apply an arbiter's verdict on a candidate (a new statement) and log it, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from conversations.models import Turn
from foundation.database import statements
from foundation.database.statements import Batch
from foundation.providers.base import Vectors
from memories import language_steps
from memories.extraction.types import Arbiter, Candidate, Decision, KnownMemory, Verdict
from memories.indexing import search_index
from memories.indexing.search_index import HeldSpace
from memories.models import (
    Arbitration,
    Change,
    Memory,
    MemoryStatus,
    Origin,
    Project,
)
from memories.writing import (
    archive,
    memory_writes,
    model_revision,
    relations,
    similar_memories,
    verdict_effects,
)
from memories.writing.memory_writes import Draft, SourceInput
from ops.models import User

_INTO_TARGET = (Verdict.SKIP, Verdict.REPLACE, Verdict.MERGE)  # verdicts that create no new memory
_WORDS_OF = 8_000  # only words in this many first characters of a text are searched for


@dataclass(frozen=True)
class Arbitrated:
    """A candidate, the known memories it was compared with, and the arbiter's decision."""

    candidate: Candidate
    known: Sequence[KnownMemory]
    decision: Decision
    decided_by: str

    @property
    def target(self) -> KnownMemory | None:
        return next((one for one in self.known if one.id == self.decision.target_id), None)


@dataclass(frozen=True)
class AppliedVerdict:
    """The outcome of a verdict. `result` is created, updated or skipped.

    If the text was skipped, `memory` is the known memory that already states it. `superseded` holds
    the public ids of further memories that the new text replaced.
    """

    memory: Memory
    result: str
    verdict: Verdict
    superseded: tuple[str, ...] = ()


def arbitrate(
    candidate: Candidate,
    *,
    known: Sequence[KnownMemory],
    arbiter: Arbiter,
    now: datetime | None = None,
) -> Arbitrated:
    """Let the arbiter compare a candidate with the known memories, and return its decision.

    `now` is the time of the statement, if it isn't the current time. If the arbiter uses a chat
    model, call this function outside a transaction. Raise `ProviderError` if the model call fails.
    """
    if not known:
        decision = Decision(Verdict.ADD, reasons=("nothing_like_it",))
        return Arbitrated(candidate, known, decision, "rule")
    decision = arbiter.arbitrate(candidate, known, now=now or timezone.now())
    return Arbitrated(candidate, known, decision, arbiter.name)


def apply(
    arbitrated: Arbitrated,
    draft: Draft,
    *,
    user: User,
    source: SourceInput,
    turn: Turn | None = None,
    always_review: bool = False,
    merged: Draft | None = None,
    space: HeldSpace | None = None,
) -> AppliedVerdict:
    """Apply the arbiter's decision: create, update or skip a memory.

    `merged` is the draft with the combined text if the verdict is MERGE. `space` is the embedding
    space to write to, if the caller has already locked it. If the target has changed or no longer
    exists, the verdict becomes ADD. An extracted text replaces a text that the user wrote, or a
    pinned memory, only if the user clearly wanted this; otherwise the verdict becomes REVIEW. With
    REVIEW, the new memory awaits review, unless the user wrote the text. It also awaits review if
    its confidence is below `CONFIDENCE_FLOOR` or `always_review` is True. A memory in the review
    inbox is accepted if a text that the user writes repeats or changes it.
    """
    verdict, target = _checked(arbitrated, user=user, origin=draft.origin)
    if target is not None and target.archived_at is not None and verdict != Verdict.KEEP_BOTH:
        archive.unarchive(target)  # a repetition counts as a use
        target.save(update_fields=["status", "archived_at", "last_accessed_at", "updated_at"])
    if target is not None and draft.origin == Origin.USER and verdict in _INTO_TARGET:
        _accept(target)
    log = verdict_effects.new_log_entry(
        verdict,
        user=user,
        candidate_text=arbitrated.candidate.content,
        decided_by=arbitrated.decided_by,
        reasons=arbitrated.decision.reasons,
        turn=turn,
        target=target,
        known=arbitrated.target,
    )
    if verdict == Verdict.SKIP and target is not None:
        told = replace(source, quote=source.quote or draft.content)
        memory, result = memory_writes.reinforce(target, source=told), "skipped"
    elif verdict in (Verdict.REPLACE, Verdict.MERGE) and target is not None and not always_review:
        memory, result = _rewrite(verdict, target, draft, merged, source, arbitrated), "updated"
    else:
        memory = _create(log, draft, target, source, always_review, _reason(arbitrated), space)
        supports = arbitrated.decision.supports
        if target is not None and arbitrated.target and target.public_id not in supports:
            relations.relate(memory, [(target, verdict, arbitrated.target.similarity)])
        relations.support(memory, supports, known=arbitrated.known)
        result = "created"
    if result != "created":
        log.memory = memory
        statements.insert([log])
    superseded: tuple[str, ...] = ()
    if verdict != Verdict.SKIP:
        decision = arbitrated.decision
        others = [one for one in decision.others if one.id not in decision.supports]
        superseded = relations.apply_other_verdicts(memory, others, known=arbitrated.known)
    return AppliedVerdict(memory, result, verdict, superseded)


def add_known_query(
    batch: Batch, near: Vectors, *, user: User, content: str, project: Project | None
) -> Callable[[], list[KnownMemory]]:
    """Add the SQL statement for similar memories to a batch.

    Return a function that gets the result. `near` is the vector to compare with.
    """
    return similar_memories.add_similar_query(
        batch, near, user=user, content=content[:_WORDS_OF], project=project
    )


def decide_and_apply(
    candidate: Candidate,
    draft: Draft,
    near: Vectors,
    *,
    user: User,
    source: SourceInput,
    turn: Turn | None = None,
    always_review: bool = False,
    known: Sequence[KnownMemory] | None = None,
    space: HeldSpace | None = None,
) -> AppliedVerdict:
    """Let the bundled arbiter decide on the candidate, and apply the decision.

    Everything happens in the caller's transaction. A chat model may revise the decision later.
    `near` is the vector to compare with; `known` are the similar memories, if the caller already
    has them (`add_known_query`).
    """
    if known is None:
        known = add_known_query(
            Batch(), near, user=user, content=draft.content, project=draft.project
        )()
    arbitrated = arbitrate(candidate, known=known, arbiter=language_steps.quick_arbiter())
    decided = apply(
        arbitrated,
        draft,
        user=user,
        source=source,
        turn=turn,
        always_review=always_review,
        merged=merged_draft(arbitrated, draft, embeds=False),
        space=space,
    )
    model_revision.request_revision(decided.memory, verdict=decided.verdict)
    return decided


def propose_replacement(
    draft: Draft, near: Vectors, *, user: User, of: Memory | None, source: SourceInput
) -> Memory:
    """Store a text that awaits the user's decision on whether it replaces the memory `of`.

    No arbiter is asked, because the caller knows which memory the text is about. `of` is None if
    that memory no longer exists.
    """
    known: list[KnownMemory] = []
    decision = Decision(Verdict.ADD)
    if of is not None:
        stored = search_index.stored_vector(of)
        similarity = 0.0 if stored is None else min(1.0, max(0.0, float(near @ stored)))
        known = [
            KnownMemory(
                of.public_id, of.kind, of.content, similarity, status=of.status, origin=of.origin
            )
        ]
        decision = Decision(Verdict.REVIEW, of.public_id)
    arbitrated = Arbitrated(model_revision.candidate_of(draft), known, decision, "rule")
    return apply(arbitrated, draft, user=user, source=source, always_review=True).memory


def relate_contradicted(memory: Memory, *, near: Vectors | None = None) -> Memory | None:
    """Relate `memory` to an active memory that it contradicts; return that memory, or None.

    Call this function with the row of `memory` locked, after its text was written or accepted. Both
    memories are still active afterwards, and conflicts that the user has settled aren't raised
    again. `near` is the vector of `memory`; without it, the stored vector is used.
    """
    near = search_index.stored_vector(memory) if near is None else near
    if memory.status != MemoryStatus.ACTIVE or near is None:
        return None
    found = similar_memories.similar_to(
        near, user=memory.user, content=memory.content[:_WORDS_OF], project=memory.project
    )
    settled = relations.settled_memories(memory)
    apart = (memory.public_id, *settled)
    known = [one for one in found if one.status == MemoryStatus.ACTIVE and one.id not in apart]
    comparisons = language_steps.bundled_arbiter().compare(
        model_revision.candidate_of(memory), known
    )
    one = next((one for one in comparisons if one.finding.is_conflict), None)
    if one is None:
        return None
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=memory.user_id)
    other = rows.filter(public_id=one.memory.id, content=one.memory.content).first()
    if other is not None:
        relations.relate(memory, [(other, Verdict.REVIEW, one.memory.similarity)])
    return other


def _checked(arbitrated: Arbitrated, *, user: User, origin: str) -> tuple[Verdict, Memory | None]:
    decision, known = arbitrated.decision, arbitrated.target
    if known is None:
        return (Verdict.ADD, None)
    target = (
        Memory.objects.select_for_update(of=("self",)).filter(user=user, public_id=known.id).first()
    )
    if target is None or target.content != known.content:
        return (Verdict.ADD, None)
    if decision.verdict in _INTO_TARGET and _is_out_of_use(target, decision.verdict):
        return (Verdict.ADD, None)
    candidate = arbitrated.candidate
    is_protected = verdict_effects.is_protected(
        target,
        origin=origin,
        is_meant=candidate.corrects or candidate.explicit,
        is_named=bool(candidate.overrules) or candidate.explicit,
    )
    if is_protected and decision.verdict in (Verdict.REPLACE, Verdict.MERGE):
        return (Verdict.REVIEW, target)
    return (decision.verdict, target)


def _is_out_of_use(target: Memory, verdict: Verdict) -> bool:
    """Return True if the verdict must not be applied to the target, because it is out of use.

    SKIP may be applied to a disabled memory: the repetition isn't stored as another memory.
    """
    if target.status == MemoryStatus.DISABLED:
        return verdict != Verdict.SKIP
    is_archived = target.status == MemoryStatus.ARCHIVED and target.archived_at is None
    return is_archived or target.status == MemoryStatus.SUPERSEDED


def _accept(target: Memory) -> None:
    if target.status == MemoryStatus.CANDIDATE:
        target.status, target.conflicts_with = MemoryStatus.ACTIVE, None
        target.save(update_fields=["status", "conflicts_with", "updated_at"])


def _rewrite(
    verdict: Verdict,
    target: Memory,
    draft: Draft,
    merged: Draft | None,
    source: SourceInput,
    arbitrated: Arbitrated,
) -> Memory:
    is_merge = verdict == Verdict.MERGE and merged is not None
    return memory_writes.rewrite(
        target,
        merged if is_merge and merged is not None else draft,
        source=source,
        change=Change.MERGED if is_merge else Change.REPLACED,
        candidate_text=arbitrated.candidate.content,
        reason=_reason(arbitrated),
        keep_tags="newer_edition" not in arbitrated.decision.reasons,
    )


def _reason(arbitrated: Arbitrated) -> str:
    return ", ".join(dict.fromkeys((*arbitrated.decision.reasons, *arbitrated.candidate.reasons)))


def _create(
    log: Arbitration,
    draft: Draft,
    target: Memory | None,
    source: SourceInput,
    always_review: bool,
    reason: str,
    space: HeldSpace | None,
) -> Memory:
    contested = log.verdict == Verdict.REVIEW and draft.origin != Origin.USER
    overruled = log.verdict in (Verdict.REPLACE, Verdict.MERGE)
    doubtful = draft.confidence < settings.CONFIDENCE_FLOOR
    waits = contested or doubtful or always_review
    return memory_writes.create(
        draft,
        user=log.user,
        source=source,
        status=MemoryStatus.CANDIDATE if waits else MemoryStatus.ACTIVE,
        conflicts_with=target if contested or (overruled and waits) else None,
        reason=reason,
        verdict=log,
        space=space,
    )


def replace_text(draft: Draft, *, content: str, kind: str | None = None) -> Draft:
    """Return the draft with another text and its vectors. Call it outside a transaction."""
    vectors, pieces = search_index.embed_memory(content)
    return replace(draft, content=content, kind=kind or draft.kind, vectors=vectors, pieces=pieces)


def merged_draft(arbitrated: Arbitrated, draft: Draft, *, embeds: bool = True) -> Draft | None:
    """Return the draft with the combined text if the verdict is MERGE, otherwise None.

    The text is embedded, so call this function outside a transaction. In a transaction, pass
    `embeds=False`: then an operation embeds the text later.
    """
    content, kind = arbitrated.decision.content, arbitrated.decision.kind
    if arbitrated.decision.verdict != Verdict.MERGE or not content:
        return None
    if embeds:
        return replace_text(draft, content=content, kind=kind)
    return replace(draft, content=content, kind=kind or draft.kind, vectors=None, pieces=())
