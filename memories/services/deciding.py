"""Applying the arbiter's verdict on one candidate, in one transaction, with its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import timezone

from conversations.models import Turn
from memcenter.lib import statements
from memcenter.providers.base import Vectors
from memories.extraction.types import Arbiter, Candidate, Decision, Known, Verdict
from memories.models import (
    Arbitration,
    Change,
    Memory,
    MemoryStatus,
    Origin,
)
from memories.services import indexing, providers, relating, revising, similar, writing
from memories.services.writing import Draft, SourceInput
from ops.models import User

_WORDS_OF = 8_000  # characters whose words are looked for among what is known


@dataclass(frozen=True)
class Meeting:
    """A candidate beside the memories it met, and what was decided."""

    candidate: Candidate
    known: Sequence[Known]
    decision: Decision
    decided_by: str

    @property
    def met(self) -> Known | None:
        return next((one for one in self.known if one.id == self.decision.target_id), None)


@dataclass(frozen=True)
class Decided:
    """What came of it: `result` is created, updated or skipped.

    `superseded` are the further memories that the one new text replaces, by public id.
    """

    memory: Memory
    result: str
    verdict: Verdict
    superseded: tuple[str, ...] = ()


def meet(candidate: Candidate, *, known: Sequence[Known], arbiter: Arbiter) -> Meeting:
    """Ask the arbiter; never inside a transaction, for it may be a model."""
    if not known:
        decision = Decision(Verdict.ADD, reasons=("nothing_like_it",))
        return Meeting(candidate, known, decision, "rule")
    decision = arbiter.arbitrate(candidate, known, now=timezone.now())
    return Meeting(candidate, known, decision, arbiter.name)


def apply(
    meeting: Meeting,
    draft: Draft,
    *,
    user: User,
    source: SourceInput,
    turn: Turn | None = None,
    always_review: bool = False,
    merged: Draft | None = None,
) -> Decided:
    """Write what was decided. `merged` is the draft of a MERGE's combined text.

    A target that changed or went meanwhile makes it an ADD; a person's own text is never
    overwritten by what was merely overheard.
    """
    verdict, target = _checked(meeting, user=user, origin=draft.origin)
    if verdict == Verdict.SKIP and target is not None:
        memory, result = writing.reinforce(target, source=source), "skipped"
    elif verdict in (Verdict.REPLACE, Verdict.MERGE) and target is not None and not always_review:
        memory, result = _rewritten(verdict, target, draft, merged, source, meeting), "updated"
    else:
        similarity = meeting.met.similarity if meeting.met else 0.0
        memory = _created(
            verdict, draft, target, user, source, always_review, similarity, _because(meeting)
        )
        result = "created"
    _log(meeting, memory=memory, target=target, verdict=verdict, user=user, turn=turn)
    superseded: tuple[str, ...] = ()
    if verdict != Verdict.SKIP:
        superseded = relating.settle_beside(memory, meeting.decision.beside, known=meeting.known)
    return Decided(memory, result, verdict, superseded)


def at_once(
    candidate: Candidate,
    draft: Draft,
    near: Vectors,
    *,
    user: User,
    source: SourceInput,
    turn: Turn | None = None,
    always_review: bool = False,
) -> Decided:
    """Decide and write in the caller's transaction: by the pair head; a model looks at it later.

    `near` is what it is held against others by.
    """
    known = similar.similar_to(
        near, user=user, content=draft.content[:_WORDS_OF], project=draft.project
    )
    meeting = meet(candidate, known=known, arbiter=providers.bundled_arbiter())
    decided = apply(
        meeting,
        draft,
        user=user,
        source=source,
        turn=turn,
        always_review=always_review,
        merged=_merged_later(meeting, draft),
    )
    revising.ask_later(decided.memory, verdict=decided.verdict)
    return decided


def _checked(meeting: Meeting, *, user: User, origin: str) -> tuple[Verdict, Memory | None]:
    decision, met = meeting.decision, meeting.met
    if met is None:
        return (Verdict.ADD, None)
    target = (
        Memory.objects.select_for_update(of=("self",)).filter(user=user, public_id=met.id).first()
    )
    if target is None or target.content != met.content:
        return (Verdict.ADD, None)
    overheard = origin == Origin.EXTRACTED and target.origin == Origin.USER
    meant = meeting.candidate.corrects or meeting.candidate.explicit
    if overheard and not meant and decision.verdict in (Verdict.REPLACE, Verdict.MERGE):
        return (Verdict.REVIEW, target)
    return (decision.verdict, target)


def _rewritten(
    verdict: Verdict,
    target: Memory,
    draft: Draft,
    merged: Draft | None,
    source: SourceInput,
    meeting: Meeting,
) -> Memory:
    is_merge = verdict == Verdict.MERGE and merged is not None
    return writing.rewrite(
        target,
        merged if is_merge and merged is not None else draft,
        source=source,
        change=Change.MERGED if is_merge else Change.REPLACED,
        candidate_text=meeting.candidate.content,
        reason=_because(meeting),
        keep_tags="newer_edition" not in meeting.decision.reasons,
    )


def _because(meeting: Meeting) -> str:
    """Codes: why it was decided so, then how the candidate was heard."""
    return ", ".join(dict.fromkeys((*meeting.decision.reasons, *meeting.candidate.reasons)))


def _created(
    verdict: Verdict,
    draft: Draft,
    target: Memory | None,
    user: User,
    source: SourceInput,
    always_review: bool,
    similarity: float,
    reason: str,
) -> Memory:
    contested = verdict == Verdict.REVIEW
    overruled = verdict in (Verdict.REPLACE, Verdict.MERGE)
    doubtful = draft.confidence < settings.CONFIDENCE_FLOOR
    waits = contested or doubtful or always_review
    memory = writing.create(
        draft,
        user=user,
        source=source,
        status=MemoryStatus.CANDIDATE if waits else MemoryStatus.ACTIVE,
        conflicts_with=target if contested or (overruled and waits) else None,
        reason=reason,
    )
    if target is not None:
        relating.relate(memory, [(target, verdict, similarity)])
    return memory


def _log(
    meeting: Meeting,
    *,
    memory: Memory,
    target: Memory | None,
    verdict: Verdict,
    user: User,
    turn: Turn | None,
) -> None:
    met = meeting.met
    logged = Arbitration(
        user=user,
        turn=turn,
        memory=memory,
        target=target,
        verdict=verdict,
        candidate_text=meeting.candidate.content,
        target_text=met.content if met and target else "",
        similarity=met.similarity if met else None,
        decided_by=meeting.decided_by,
        reasons=[reason[:60] for reason in meeting.decision.reasons],
    )
    statements.insert([logged])


def saying(draft: Draft, *, content: str, kind: str | None = None) -> Draft:
    """The same draft with another text, embedded; not to be called inside a transaction."""
    vectors, pieces = indexing.embed_memory(content)
    return replace(draft, content=content, kind=kind or draft.kind, vectors=vectors, pieces=pieces)


def _merged_later(meeting: Meeting, draft: Draft) -> Draft | None:
    """Like `merged_draft`, inside a transaction: an operation embeds the combined text."""
    decision = meeting.decision
    if decision.verdict != Verdict.MERGE or not decision.content:
        return None
    return replace(
        draft, content=decision.content, kind=decision.kind or draft.kind, vectors=None, pieces=()
    )


def merged_draft(meeting: Meeting, draft: Draft) -> Draft | None:
    """The draft of a MERGE's combined text, or None for any other verdict."""
    decision = meeting.decision
    if decision.verdict != Verdict.MERGE or not decision.content:
        return None
    return saying(draft, content=decision.content, kind=decision.kind)
