"""Hiding, and deriving again, what rests on something that is being forgotten.

`memories.derivation` decides; this reads what it needs and writes what it says. A source that is
hidden is forgotten, whichever operation will come to erase it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from memories import derivation
from memories.derivation import Outcome, Text
from memories.models import (
    Arbitration,
    Change,
    Memory,
    MemoryVersion,
    Origin,
    Source,
    VersionInput,
)
from memories.services import erasing, indexing, tombstones, writing
from memories.services.resting import Graph, current_text, read
from ops.models import User
from ops.services import events
from ops.services.events import Event

KEPT = "kept when its conversation was deleted"


@dataclass(frozen=True)
class Derived:
    """What one round erased, and whether there is more to do."""

    erased: Counter[str]
    more: bool


def hide(*, user: User, resting: Q, gone: Collection[int] = ()) -> list[int]:
    """Hide the sources that match, the memories in `gone`, and what must be derived again.

    Gives the memories that are hidden for it. Safe to repeat.
    """
    now = timezone.now()
    sources = Source.everything.filter(resting | Q(memory__in=gone), user=user)
    sources.filter(hidden_at__isnull=True).update(hidden_at=now)
    touched = {*sources.values_list("memory", flat=True).distinct(), *gone}
    if not touched:
        return []
    graph = read(user, touched)
    outcomes = derivation.plan(graph.texts, gone=gone)
    changed = {one for one, outcome in outcomes.items() if outcome.changed}
    versions = MemoryVersion.everything.filter(user=user, pk__in=changed, hidden_at__isnull=True)
    texts = erasing.texts_of(MemoryVersion.everything.filter(user=user, pk__in=changed))
    versions.update(hidden_at=now)
    hidden = [
        memory.pk
        for memory in graph.memories
        if memory.pk in gone or current_text(graph, memory).id in changed
    ]
    memories = Memory.everything.filter(user=user, pk__in=hidden)
    leaving = memories.filter(hidden_at__isnull=True)
    told = list(leaving.filter(deleted_at__isnull=True).values_list("public_id", flat=True))
    leaving.update(hidden_at=now)
    events.memories(Event.MEMORY_DELETED, user_id=user.pk, ids=told)
    lines = list(memories.values_list("public_id", flat=True))
    erasing.erase_lines(user=user, public_ids=lines)
    erasing.hide_notes(user=user, texts=texts, at=now)
    going = {pk for pk in hidden if pk in gone or not stands(graph, outcomes, pk)}
    named = [memory.public_id for memory in graph.memories if memory.pk in going]
    erasing.blank_questions(user=user, public_ids=named)
    return hidden


def derive(*, user: User, resting: Q, gone: Sequence[int] = (), limit: int = 200) -> Derived:
    """Erase or derive again up to `limit` memories that rest on what matches, or are in `gone`.

    Those in `gone` and those that nothing holds any longer go; the others are shown again with
    what remains of them. Running it again goes on where it stopped.
    """
    left = set(Memory.everything.filter(user=user, pk__in=gone).values_list("pk", flat=True))
    sources = Source.everything.filter(resting | Q(memory__in=left), user=user)
    touched = sorted({*sources.values_list("memory", flat=True).distinct(), *left})
    if not touched:
        return Derived(Counter(), more=False)
    now = touched[:limit]
    hide(user=user, resting=resting & Q(memory__in=now), gone=left.intersection(now))
    graph = read(user, now)
    outcomes = derivation.plan(graph.texts, gone=left)
    erased = _apply(user, graph, outcomes, gone=left)
    return Derived(erased, more=len(touched) > limit)


def keep(*, user: User, resting: Q) -> None:
    """Let memories stay whose source goes: they count as written by the person from now on.

    Each version's sources that match become one without ids or quote. Safe to repeat.
    """
    sources = Source.everything.filter(resting, user=user)
    rows = list(sources.values_list("version", "memory").distinct())
    now = timezone.now()
    Source.everything.bulk_create(
        Source(
            user=user,
            memory_id=memory,
            version_id=version,
            origin=Origin.USER,
            comment=KEPT,
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


def _apply(
    user: User, graph: Graph, outcomes: Mapping[int, Outcome], *, gone: Collection[int]
) -> Counter[str]:
    memory_ids = [memory.pk for memory in graph.memories]
    changed = {
        pk: outcomes[pk]
        for pk, version in graph.versions.items()
        if outcomes[pk].changed and version.memory_id in memory_ids
    }
    texts = erasing.texts_of(MemoryVersion.everything.filter(user=user, pk__in=changed))
    emptied = [pk for pk, outcome in changed.items() if outcome.erased]
    lost = [one for one in memory_ids if one in gone or not stands(graph, outcomes, one)]
    erased = erasing.erase_memories(user=user, memory_ids=lost)
    left = [pk for pk in emptied if graph.versions[pk].memory_id not in lost]
    tombstones.leave(user=user, version_ids=left)
    erased += _mark_versions(user, changed, memory_ids)
    erased["memories_memoryversion"] += len(left)
    for memory in graph.memories:
        if memory.pk not in lost:
            _show_again(graph, outcomes, memory)
    return erased + erasing.erase_resembling(user=user, texts=texts)


def stands(graph: Graph, outcomes: Mapping[int, Outcome], memory: int) -> bool:
    return any(
        not outcomes[one.id].erased and _is_open(graph, outcomes, one)
        for one in graph.by_memory[memory]
    )


def _is_open(graph: Graph, outcomes: Mapping[int, Outcome], text: Text) -> bool:
    """Not hidden by another operation that will erase it."""
    return outcomes[text.id].changed or graph.versions[text.id].hidden_at is None


def _mark_versions(
    user: User, changed: Mapping[int, Outcome], memory_ids: Sequence[int]
) -> Counter[str]:
    """Write the outcomes into the versions; the forgotten sources and the links to nothing go."""
    now = timezone.now()
    emptied = [pk for pk, outcome in changed.items() if outcome.erased]
    versions = MemoryVersion.everything.filter(user=user)
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
    return erasing.by_table(sources.delete()) + erasing.by_table(links.delete())


def _show_again(graph: Graph, outcomes: Mapping[int, Outcome], memory: Memory) -> None:
    """Give a memory the newest text that still holds, and make it findable by that."""
    own = graph.by_memory[memory.pk]
    if not any(outcomes[one.id].changed for one in own):
        return
    if memory.origin == Origin.EXTRACTED:
        memory.data, memory.metadata = {}, {}  # labels of a turn that may be gone
    Arbitration.objects.filter(user=memory.user_id, target=memory).update(target_text="")
    current = current_text(graph, memory)
    if outcomes[current.id].changed:
        _give_text(graph, outcomes, memory, own)
    else:
        memory.save(update_fields=["data", "metadata", "updated_at"])
    writing.changed(memory)


def _give_text(
    graph: Graph, outcomes: Mapping[int, Outcome], memory: Memory, own: Sequence[Text]
) -> None:
    standing = [
        graph.versions[one.id]
        for one in own
        if not outcomes[one.id].erased and _is_open(graph, outcomes, one)
    ]
    newest = max(standing, key=lambda version: version.number)
    newest.refresh_from_db()
    if newest.number != memory.current_version:
        newest = _go_back(memory, newest)
    memory.content, memory.kind, memory.summary = newest.content, newest.kind, newest.summary
    memory.content_hash = writing.content_hash(newest.content)
    memory.current_version, memory.origin = newest.number, newest.actor
    memory.tags, memory.data, memory.feedback, memory.feedback_reason = [], {}, "", ""
    memory.hidden_at = memory.indexed_at = None
    memory.chunk_count = 0
    memory.save()
    indexing.index_later(memory)


def _go_back(memory: Memory, version: MemoryVersion) -> MemoryVersion:
    """A new version with an older one's text and its sources."""
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
