"""A model's second look at what was written through an API, which the pair head decided at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings

from memcenter.lib import segment
from memcenter.providers.base import Vectors
from memories.extraction.types import Candidate, Decision, Known, Verdict
from memories.models import Arbitration, Change, Memory, MemoryStatus, Origin
from memories.services import indexing, providers, relating, similar, writing
from memories.services.writing import Draft
from ops.models import Kind, Priority, User
from ops.services import outbox, users
from ops.services.worker import Run

_KEPT_BESIDE = (Verdict.ADD, Verdict.KEEP_BOTH)
_FOLDED = (Verdict.SKIP, Verdict.REPLACE, Verdict.MERGE)


@dataclass(frozen=True)
class Written:
    """A written memory as it was read, and what it may have to do with."""

    memory: Memory
    candidate: Candidate
    known: Sequence[Known]


def ask_later(memory: Memory, *, verdict: Verdict) -> None:
    """Enqueue the model's look at a text that the pair head put beside what is known."""
    if settings.LANGUAGE_METHOD != "model" or verdict not in _KEPT_BESIDE:
        return
    if memory.status != MemoryStatus.ACTIVE:
        return
    outbox.enqueue(
        Kind.REVISE_MEMORY,
        subject=memory.user.subject,
        payload={"memory": memory.pk, "version": memory.current_version},
        priority=Priority.INDEX,
        dedupe_key=f"revise_memory:{memory.pk}",
        serial_key=str(memory.user.subject),
    )


def as_candidate(one: Draft | Memory) -> Candidate:
    """What was written on purpose, as an arbiter is asked about it."""
    return Candidate(
        kind=one.kind,
        content=one.content,
        importance=one.importance,
        confidence=one.confidence,
        quote=one.content,
        explicit=True,
        corrects=one.origin == Origin.USER,
        language=segment.language(one.content),
    )


def find(user: User, *, memory_id: int, version: int) -> Memory | None:
    """The memory, while it still says what was written; None when there is nothing to revise."""
    found = Memory.objects.filter(
        user=user, pk=memory_id, current_version=version, status=MemoryStatus.ACTIVE
    )
    return found.first() if users.settings_of(user).longterm_enabled else None


def look(user: User, memory: Memory, vector: Vectors) -> Written:
    """What it is held against: the memories like it that are in use and were known before it."""
    known = similar.similar_to(vector, user=user, content=memory.content, project=memory.project)
    older = Memory.objects.filter(user=user, pk__lt=memory.pk, status=MemoryStatus.ACTIVE)
    before = set(
        older.values_list("public_id", flat=True).filter(public_id__in=[one.id for one in known])
    )
    return Written(memory, as_candidate(memory), [one for one in known if one.id in before])


def decide(written: Written) -> Decision:
    """Ask the arbiter of the settings; outside any transaction. Raises `ProviderError`."""
    return providers.arbiter().arbitrate(
        written.candidate, written.known, now=written.memory.created_at
    )


def revise(run: Run, user: User, written: Written, decision: Decision) -> bool:
    """Apply what the model says, and log it; give whether anything changed.

    What is folded into another memory is archived as an input of that one's new version, which
    has the sources of both. Running it again finds the memory archived or waiting.
    """
    met = next((one for one in written.known if one.id == decision.target_id), None)
    if met is None or decision.verdict in _KEPT_BESIDE:
        return False
    text = met.content if decision.verdict == Verdict.SKIP else decision.content
    draft = _draft(written, text or written.memory.content, decision)
    with run.applying(user):
        rows = Memory.objects.select_for_update(of=("self",)).select_related("user")
        pair = {one.public_id: one for one in rows.filter(user=user).filter(
            public_id__in=[written.memory.public_id, met.id]).order_by("pk")}  # fmt: skip
        memory, target = pair.get(written.memory.public_id), pair.get(met.id)
        if memory is None or target is None or not _unchanged(memory, target, written, met):
            return False
        if decision.verdict in _FOLDED and not _protected(target, memory, decision):
            _fold(memory, target, draft, decision)
        else:
            _for_review(memory, target, similarity=met.similarity)
        _log(memory, target, met, decision)
    return True


def _unchanged(memory: Memory, target: Memory, written: Written, met: Known) -> bool:
    same = memory.content == written.memory.content and target.content == met.content
    return same and memory.status == target.status == MemoryStatus.ACTIVE


def _protected(target: Memory, memory: Memory, decision: Decision) -> bool:
    """The person's own words are not overwritten by what a program wrote."""
    by_person = target.origin == Origin.USER and memory.origin != Origin.USER
    return by_person and decision.verdict != Verdict.SKIP


def _fold(memory: Memory, target: Memory, draft: Draft, decision: Decision) -> None:
    change = Change.REPLACED if decision.verdict == Verdict.REPLACE else Change.MERGED
    writing.rewrite(
        target, draft, source=None, inputs=[writing.current_version(memory)], change=change,
        reason=", ".join(decision.reasons),
    )  # fmt: skip
    memory.status, memory.superseded_by = MemoryStatus.ARCHIVED, target
    memory.save(update_fields=["status", "superseded_by", "updated_at"])


def _for_review(memory: Memory, target: Memory, *, similarity: float) -> None:
    memory.status, memory.conflicts_with = MemoryStatus.CANDIDATE, target
    memory.save(update_fields=["status", "conflicts_with", "updated_at"])
    relating.relate(memory, [(target, Verdict.REVIEW, similarity)])


def _log(memory: Memory, target: Memory, met: Known, decision: Decision) -> None:
    Arbitration.objects.create(
        user_id=memory.user_id,
        memory=memory,
        target=target,
        verdict=decision.verdict,
        candidate_text=memory.content,
        target_text=met.content,
        similarity=met.similarity,
        decided_by=providers.arbiter().name,
        reasons=[reason[:60] for reason in (*decision.reasons, "revised")],
    )


def _draft(written: Written, text: str, decision: Decision) -> Draft:
    """Embedded; not to be called inside a transaction."""
    memory = written.memory
    vectors, pieces = indexing.embed_memory(text)
    draft = Draft(
        content=text,
        kind=decision.kind or memory.kind,
        vectors=vectors,
        pieces=pieces,
        importance=memory.importance,
        confidence=memory.confidence,
        tags=tuple(memory.tags),
        data=memory.data,
        origin=Origin(memory.origin),
        occurred_at=memory.occurred_at,
    )
    kind = next(one.kind for one in written.known if one.id == decision.target_id)
    return replace(draft, kind=kind) if decision.verdict == Verdict.SKIP else draft
