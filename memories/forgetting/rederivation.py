"""Hide texts that depend on forgotten sources, then erase them or derive them again.

A text is derived again if it also has other sources. `memories.forgetting.forget_plan` computes the
new texts; this module reads its input and writes its result. Every hidden source counts as
forgotten, no matter which operation will erase it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from foundation.database import cascades
from memories.files import daily_notes
from memories.forgetting import forget_plan, memory_erasure, tombstones
from memories.forgetting.dependencies import Graph, current_text, read
from memories.forgetting.forget_plan import Text, VersionOutcome
from memories.indexing import search_index
from memories.models import (
    Arbitration,
    Change,
    Memory,
    MemoryVersion,
    Origin,
    Source,
    VersionInput,
)
from memories.writing import memory_writes
from ops.models import User
from ops.queue import webhook_events
from ops.queue.webhook_events import Event

# Values of `Source.comment` for the source that replaces the erased sources of a kept memory.
KEPT = "kept when its conversation was deleted"
KEPT_ALONE = "kept when its message was forgotten"
KEPT_COMMENTS = (KEPT, KEPT_ALONE)


@dataclass(frozen=True)
class DerivationResult:
    """The result of one round of `derive`.

    `erased` counts the erased rows by type. `more` is True if another round is needed.
    """

    erased: Counter[str]
    more: bool


@dataclass(frozen=True)
class _HiddenTexts:
    graph: Graph
    outcomes: Mapping[int, VersionOutcome]
    memories: Sequence[Memory]


def hide(*, user: User, lost_sources: Q, gone: Collection[int] = ()) -> list[int]:
    """Hide the sources that will be erased, the memories in `gone`, and all texts based on them.

    `lost_sources` selects the sources. Return the keys of the hidden memories. Safe to repeat.
    """
    if not _hide_sources(user, lost_sources, gone) and not gone:
        # The operation that hid the sources has also hidden the texts that depend on them.
        return []
    found = _hide(user=user, lost_sources=lost_sources, gone=gone, leaving=gone, newly=True)
    return [one.pk for one in found.memories] if found else []


def _hide_sources(user: User, lost_sources: Q, gone: Collection[int]) -> int:
    sources = Source.everything.filter(lost_sources | Q(memory__in=gone), user=user)
    return sources.filter(hidden_at__isnull=True).update(hidden_at=timezone.now())


def _hide(
    *, user: User, lost_sources: Q, gone: Collection[int], leaving: Collection[int], newly: bool
) -> _HiddenTexts | None:
    sources = Source.everything.filter(lost_sources | Q(memory__in=gone), user=user)
    touched = {*sources.values_list("memory", flat=True).distinct(), *gone}
    if not touched:
        return None
    graph = read(user, touched)
    outcomes = forget_plan.plan(graph.texts, gone=leaving)
    versions = [graph.versions[pk] for pk, outcome in outcomes.items() if outcome.changed]
    memories = [
        one
        for one in graph.memories
        if one.pk in leaving or outcomes[current_text(graph, one).id].changed
    ]
    found = _HiddenTexts(graph, outcomes, memories)
    shown = [one.pk for one in versions if one.hidden_at is None]
    if newly or shown or any(one.hidden_at is None for one in memories):
        _hide_rows(user, found, versions, leaving=leaving)
    return found


def _hide_rows(
    user: User,
    found: _HiddenTexts,
    versions: Sequence[MemoryVersion],
    *,
    leaving: Collection[int],
) -> None:
    now = timezone.now()
    MemoryVersion.everything.filter(
        user=user, pk__in=[one.pk for one in versions], hidden_at__isnull=True
    ).update(hidden_at=now)
    shown = [one for one in found.memories if one.hidden_at is None]
    Memory.everything.filter(user=user, pk__in=[one.pk for one in shown]).update(hidden_at=now)
    announced = [one.public_id for one in shown if one.deleted_at is None]
    webhook_events.memories(Event.MEMORY_DELETED, user_id=user.pk, ids=announced)
    memory_erasure.erase_lines(user=user, public_ids=[one.public_id for one in found.memories])
    memory_erasure.hide_notes(user=user, texts=memory_erasure.texts_of(versions), at=now)
    graph, outcomes = found.graph, found.outcomes
    hidden = {one.pk for one in found.memories}
    going = {pk for pk in hidden if pk in leaving or not has_remaining_version(graph, outcomes, pk)}
    erased = [one.pk for one in versions if outcomes[one.pk].erased or one.memory_id in going]
    tombstones.create_tombstones(user=user, version_ids=erased)
    daily_notes.hide_cited_lines(user=user, memories=going, at=now)
    named = [memory.public_id for memory in graph.memories if memory.pk in going]
    memory_erasure.blank_questions(user=user, public_ids=named)


def derive(
    *, user: User, lost_sources: Q, gone: Sequence[int] = (), limit: int = 200
) -> DerivationResult:
    """Erase or derive again up to `limit` memories, and all memories that were made from them.

    The memories are those in `gone`, and those with a source that matches `lost_sources`. Memories
    in `gone` and memories with no remaining text are erased; all others are shown again with their
    remaining text. A repeated run continues where the last run stopped.
    """
    left = set(Memory.everything.filter(user=user, pk__in=gone).values_list("pk", flat=True))
    sources = Source.everything.filter(lost_sources | Q(memory__in=left), user=user)
    touched = sorted({*sources.values_list("memory", flat=True).distinct(), *left})
    if not touched:
        return DerivationResult(Counter(), more=False)
    now = touched[:limit]
    about, going = lost_sources & Q(memory__in=now), left.intersection(now)
    newly = bool(_hide_sources(user, about, going))
    found = _hide(user=user, lost_sources=about, gone=going, leaving=left, newly=newly)
    erased = _apply_outcomes(user, found.graph, found.outcomes, gone=left) if found else Counter()
    return DerivationResult(erased, more=len(touched) > limit)


def keep_as_own(*, user: User, lost_sources: Q, comment: str = KEPT) -> int:
    """Erase the sources that match `lost_sources`, but keep the memories that have these sources.

    The memories count as written by the user; only a memory that also has other turns as sources
    still counts as learned. In each version, the erased sources are replaced by a single source
    that has `comment` but no ids or quote. Return the number of memories. Safe to repeat.
    """
    sources = Source.everything.filter(lost_sources, user=user)
    rows = list(sources.values_list("version", "memory").distinct())
    now = timezone.now()
    Source.everything.bulk_create(
        Source(
            user=user,
            memory_id=memory,
            version_id=version,
            origin=Origin.USER,
            comment=comment,
            created_at=now,
        )
        for version, memory in rows
    )
    sources.delete()
    versions = [version for version, _ in rows]
    MemoryVersion.everything.filter(user=user, pk__in=versions).update(actor=Origin.USER)
    still_learned = Source.everything.filter(user=user, turn__isnull=False).values("memory")
    Memory.everything.filter(user=user, pk__in=[memory for _, memory in rows]).exclude(
        pk__in=still_learned
    ).update(origin=Origin.USER)
    return len({memory for _, memory in rows})


def _apply_outcomes(
    user: User, graph: Graph, outcomes: Mapping[int, VersionOutcome], *, gone: Collection[int]
) -> Counter[str]:
    memory_ids = [memory.pk for memory in graph.memories]
    changed = {
        pk: outcomes[pk]
        for pk, version in graph.versions.items()
        if outcomes[pk].changed and version.memory_id in memory_ids
    }
    emptied = [pk for pk, outcome in changed.items() if outcome.erased]
    lost = [
        one
        for one in graph.memories
        if one.pk in gone or not has_remaining_version(graph, outcomes, one.pk)
    ]
    lost_ids = {one.pk for one in lost}
    texts = memory_erasure.texts_of(
        one for pk, one in graph.versions.items() if pk in changed or one.memory_id in lost_ids
    )
    erased = memory_erasure.erase_memories(user=user, memories=lost)
    kept = [one for one in graph.memories if one.pk not in lost_ids]
    if kept:
        erased += _derive_kept(user, graph, changed, emptied, [one.pk for one in kept])
    for memory in kept:
        _show_again(graph, outcomes, memory)
    return erased + memory_erasure.erase_resembling(user=user, texts=texts)


def _derive_kept(
    user: User,
    graph: Graph,
    changed: Mapping[int, VersionOutcome],
    emptied: Sequence[int],
    kept: Sequence[int],
) -> Counter[str]:
    of_kept = {pk: one for pk, one in changed.items() if graph.versions[pk].memory_id in kept}
    left = [pk for pk in emptied if pk in of_kept]
    tombstones.create_tombstones(user=user, version_ids=left)
    erased = _mark_versions(user, of_kept, kept)
    erased["memories_memoryversion"] += len(left)
    return erased


def has_remaining_version(
    graph: Graph, outcomes: Mapping[int, VersionOutcome], memory: int
) -> bool:
    return any(
        not outcomes[one.id].erased and _is_open(graph, outcomes, one)
        for one in graph.by_memory[memory]
    )


def _is_open(graph: Graph, outcomes: Mapping[int, VersionOutcome], text: Text) -> bool:
    return outcomes[text.id].changed or graph.versions[text.id].hidden_at is None


def _mark_versions(
    user: User, changed: Mapping[int, VersionOutcome], memory_ids: Sequence[int]
) -> Counter[str]:
    now = timezone.now()
    erased = memory_erasure.erase_earlier_texts(user=user, version_ids=changed)
    erased += memory_erasure.erase_phrases(user=user, version_ids=changed)
    emptied = [pk for pk, outcome in changed.items() if outcome.erased]
    versions = MemoryVersion.everything.filter(user=user)
    if emptied:
        versions.filter(pk__in=emptied).update(
            content="", summary="", candidate_text="", reason="", erased_at=now, hidden_at=None
        )
    for pk, outcome in changed.items():
        if not outcome.erased:
            versions.filter(pk=pk).update(
                content=outcome.content,
                candidate_text=outcome.candidate,
                summary="",
                reason="",
                change=Change.DERIVED,
                hidden_at=None,
            )
    links = VersionInput.objects.filter(Q(output__in=emptied) | Q(input__in=emptied), user=user)
    forgotten = Q(memory__in=memory_ids, hidden_at__isnull=False) | Q(version__in=emptied)
    sources = Source.everything.filter(forgotten, user=user)
    return erased + cascades.delete(sources) + cascades.delete(links)


def _show_again(graph: Graph, outcomes: Mapping[int, VersionOutcome], memory: Memory) -> None:
    own = graph.by_memory[memory.pk]
    if not any(outcomes[one.id].changed for one in own):
        return
    if memory.origin == Origin.EXTRACTED:
        # These fields may come from an erased turn or describe an erased text.
        memory.tags, memory.data, memory.metadata, memory.feedback_reason = [], {}, {}, ""
    Arbitration.objects.filter(user=memory.user_id, target=memory).update(target_text="")
    current = current_text(graph, memory)
    if outcomes[current.id].changed:
        standing = [
            graph.versions[one.id]
            for one in own
            if not outcomes[one.id].erased and _is_open(graph, outcomes, one)
        ]
        newest = max(standing, key=lambda version: version.number)
        newest.refresh_from_db()
        if newest.number != memory.current_version:
            newest = _restore_version(memory, newest)
        memory.content, memory.kind, memory.summary = newest.content, newest.kind, newest.summary
        memory.content_hash = memory_writes.content_hash(newest.content)
        memory.current_version, memory.origin = newest.number, newest.actor
        memory.tags, memory.data, memory.feedback, memory.feedback_reason = [], {}, "", ""
        memory.confidence_unrated = None
        memory.hidden_at = memory.indexed_at = None
        memory.chunk_count = 0
        memory.save()
        search_index.index_words(memory)
    else:
        memory.save(update_fields=["tags", "data", "metadata", "feedback_reason", "updated_at"])
    memory_writes.announce_change(memory)


def _restore_version(memory: Memory, version: MemoryVersion) -> MemoryVersion:
    numbers = MemoryVersion.everything.filter(memory=memory).values_list("number", flat=True)
    made = MemoryVersion.objects.create(
        user_id=memory.user_id,
        memory=memory,
        number=max(numbers) + 1,
        kind=version.kind,
        content=version.content,
        summary=version.summary,
        change=Change.DERIVED,
        actor=version.actor,
        created_at=timezone.now(),
    )
    VersionInput.objects.create(user_id=memory.user_id, output=made, input=version)
    for source in Source.objects.filter(version=version).order_by("pk"):
        source.pk, source.version = None, made
        source.save(force_insert=True)
    return made
