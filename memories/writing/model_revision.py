"""Let a chat model check texts that were stored at once by the bundled arbiter.

The bundled arbiter decides while the caller waits; the chat model may revise its decision
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings

from foundation.database import statements
from foundation.providers.base import Vectors
from memories import language_steps
from memories.extraction.types import Candidate, Decision, KnownMemory, Verdict
from memories.indexing import search_index
from memories.models import Change, Memory, MemoryStatus, Origin
from memories.writing import memory_writes, relations, similar_memories, verdict_effects
from memories.writing.memory_writes import Draft
from ops.accounts import users
from ops.models import Kind, Priority, User
from ops.queue import outbox
from ops.queue.run import Run

_BOTH_STAY = (Verdict.ADD, Verdict.KEEP_BOTH)
_FOLDED = (Verdict.SKIP, Verdict.REPLACE, Verdict.MERGE)


@dataclass(frozen=True)
class RevisionInput:
    """A stored memory as it was loaded, and the similar memories with which to compare it."""

    memory: Memory
    candidate: Candidate
    known: Sequence[KnownMemory]


def request_revision(memory: Memory, *, verdict: Verdict) -> None:
    """Enqueue the chat model's check of a memory that was stored without changing other memories.

    Does nothing if the memory isn't active, `verdict` is neither ADD nor KEEP_BOTH, or no chat
    model is configured.
    """
    if settings.LANGUAGE_METHOD != "model" or verdict not in _BOTH_STAY:
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


def candidate_of(written: Draft | Memory) -> Candidate:
    """Convert an explicitly written text to a candidate for an arbiter."""
    return Candidate(
        kind=written.kind,
        content=written.content,
        importance=written.importance,
        confidence=written.confidence,
        quote=written.content,
        explicit=True,
        corrects=written.origin == Origin.USER,
    )


def find(user: User, *, memory_id: int, version: int) -> Memory | None:
    """Return the memory if it is active and `version` is still its current version.

    Otherwise, and while long-term memory is off, return None.
    """
    found = Memory.objects.filter(
        user=user, pk=memory_id, current_version=version, status=MemoryStatus.ACTIVE
    )
    return found.first() if users.settings_of(user).longterm_enabled else None


def collect_similar(user: User, memory: Memory, vector: Vectors) -> RevisionInput:
    """Return the memory together with the older active memories that are similar to it."""
    known = similar_memories.similar_to(
        vector, user=user, content=memory.content, project=memory.project
    )
    older = Memory.objects.filter(user=user, pk__lt=memory.pk, status=MemoryStatus.ACTIVE)
    before = set(
        older.values_list("public_id", flat=True).filter(public_id__in=[one.id for one in known])
    )
    return RevisionInput(memory, candidate_of(memory), [one for one in known if one.id in before])


def revise(run: Run, user: User, written: RevisionInput, decision: Decision) -> bool:
    """Apply and log the model's decision; return True if a memory changed.

    The memory is merged into the similar memory that the decision names (the target), and archived;
    the target's new version has the sources of both memories. If the decision is REVIEW or would
    overwrite a protected target, the memory awaits review instead. Does nothing if either memory
    has changed or the memory was pinned since the comparison, or while long-term memory is off. A
    repeated run finds the memory archived or awaiting review, and does nothing.
    """
    similar = next((one for one in written.known if one.id == decision.target_id), None)
    if similar is None or decision.verdict in _BOTH_STAY:
        return False
    text = similar.content if decision.verdict == Verdict.SKIP else decision.content
    draft = _draft(written.memory, text or written.memory.content)
    kind = similar.kind if decision.verdict == Verdict.SKIP else decision.kind or draft.kind
    draft = replace(draft, kind=kind)
    with run.applying(user):
        rows = Memory.objects.select_for_update(of=("self",)).select_related("user")
        ids = (written.memory.public_id, similar.id)
        found = rows.filter(user=user, public_id__in=ids).order_by("pk")
        memory, target = map({one.public_id: one for one in found}.get, ids)
        if memory is None or target is None or not _unchanged(memory, target, written, similar):
            return False
        if not users.settings_held(user).longterm_enabled:
            return False
        is_kept = decision.verdict != Verdict.SKIP and verdict_effects.is_protected(
            target, origin=memory.origin
        )
        if decision.verdict in _FOLDED and not is_kept:
            memory_writes.rewrite(
                target,
                draft,
                source=None,
                change=Change.REPLACED if decision.verdict == Verdict.REPLACE else Change.MERGED,
                reason=", ".join(decision.reasons),
                inputs=[memory_writes.current_version(memory)],
            )
            verdict_effects.fold([memory], into=target)
        else:
            verdict_effects.hold_for_review(memory, against=target)
            memory_writes.announce_change(memory)
            relations.relate(memory, [(target, Verdict.REVIEW, similar.similarity)])
        log = verdict_effects.new_log_entry(
            decision.verdict,
            user=memory.user,
            candidate_text=memory.content,
            decided_by=language_steps.arbiter().name,
            reasons=(*decision.reasons, "revised"),
            memory=memory,
            target=target,
            known=similar,
        )
        statements.insert([log])
    return True


def _unchanged(
    memory: Memory, target: Memory, written: RevisionInput, similar: KnownMemory
) -> bool:
    same = memory.content == written.memory.content and target.content == similar.content
    in_use = memory.status == target.status == MemoryStatus.ACTIVE
    return same and in_use and not memory.pinned  # the user has pinned it since it was stored


def _draft(memory: Memory, text: str) -> Draft:
    vectors, pieces = search_index.embed_memory(text)
    return Draft(
        content=text,
        kind=memory.kind,
        vectors=vectors,
        pieces=pieces,
        importance=memory.importance,
        confidence=memory.confidence,
        tags=tuple(memory.tags),
        data=memory.data,
        origin=Origin(memory.origin),
        occurred_at=memory.occurred_at,
    )
