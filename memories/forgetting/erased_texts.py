"""Collect the texts that will be erased, before anything is erased.

After the erasure, the residue scan checks that none of these texts is left anywhere. The scan must
not report texts that legitimately remain, so these texts are collected too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from conversations.models import Conversation, Turn
from foundation.text.shingles import Resemblance
from memories.forgetting import forget_plan, rederivation
from memories.forgetting.dependencies import current_text, read
from memories.forgetting.memory_erasure import texts_of
from memories.models import (
    Arbitration,
    Change,
    Fragment,
    Memory,
    MemoryVersion,
    Origin,
    PortraitPhrase,
    Project,
    Source,
)
from ops.models import User
from ops.residue import fingerprints
from ops.residue.erased_hashes import is_long

WRITTEN = (Change.CREATED, Change.EDITED, Change.REPLACED)


@dataclass(frozen=True)
class ErasedTexts:
    """The texts and rows to be erased, and similar texts that legitimately remain (`staying`).

    `memory_ids` holds the keys of all memories that are forgotten or depend on forgotten sources,
    even if they keep their text. The side texts of a memory are its tags, data, metadata and
    feedback reason. The erasure clears all side texts of the memories in `emptied`, and all except
    the metadata of the memories in `renewed`.
    """

    texts: Sequence[str] = ()
    rows: Sequence[QuerySet[Any]] = ()
    staying: Sequence[str] = ()
    memory_ids: Collection[int] = ()
    emptied: Collection[int] = ()
    renewed: Collection[int] = ()


def collect(*, user: User, lost_sources: Q, gone: Collection[int] = ()) -> ErasedTexts:
    """Return the texts and rows to erase when sources and memories are forgotten.

    The forgotten memories are those in `gone`. The forgotten sources are the sources of these
    memories and the sources that match `lost_sources`. All these rows must already be hidden. The
    result is computed with the same plan as the erasure itself.
    """
    sources = Source.everything.filter(lost_sources | Q(memory__in=gone), user=user)
    present = Memory.everything.filter(user=user, pk__in=gone).values_list("pk", flat=True)
    touched = {*sources.values_list("memory", flat=True).distinct(), *present}
    if not touched:
        return ErasedTexts()
    graph = read(user, touched)
    outcomes = forget_plan.plan(graph.texts, gone=gone)
    changed = [graph.versions[pk] for pk, outcome in outcomes.items() if outcome.changed]
    lost = [
        one
        for one in graph.memories
        if one.pk in gone or not rederivation.has_remaining_version(graph, outcomes, one.pk)
    ]
    lost_ids = [one.pk for one in lost]
    rederived = [
        one
        for one in graph.memories
        if one.pk not in lost_ids and outcomes[current_text(graph, one).id].changed
    ]
    memories = Memory.everything.filter(user=user, pk__in=lost_ids)
    learned = {one.pk for one in graph.memories if one.origin == Origin.EXTRACTED}
    memory_ids = [one.pk for one in graph.memories]
    of_changed = Q(version__in=[one.pk for one in changed])
    phrases = PortraitPhrase.objects.filter(of_changed | Q(version__memory__in=lost_ids), user=user)
    wordings = phrases.exclude(text="").values_list("text", flat=True)
    texts = [*texts_of(changed), *_texts(lost), *(one.content for one in rederived), *wordings]
    return ErasedTexts(
        texts=texts,
        rows=(
            memories,
            MemoryVersion.everything.filter(user=user, memory__in=lost_ids),
            phrases,
            Fragment.objects.filter(of_changed | Q(memory__in=lost_ids), user=user),
        ),
        staying=[
            *filter(
                None, (text for one in outcomes.values() for text in (one.content, one.candidate))
            ),
            *_texts_of_other_memories(user, texts, without=memory_ids),
        ],
        memory_ids=memory_ids,
        emptied={*lost_ids, *(one.memory_id for one in changed if one.memory_id in learned)},
        renewed=[one.pk for one in rederived],
    )


def dependent_memory_pks(*, user: User, lost_sources: Q) -> ErasedTexts:
    """Return an `ErasedTexts` that contains only `memory_ids`.

    These are the keys of the memories that depend on the sources that `lost_sources` selects.
    Callers use this function if messages are forgotten but the memories learned from them are kept.
    """
    sources = Source.everything.filter(lost_sources, user=user)
    touched = set(sources.values_list("memory", flat=True).distinct())
    return ErasedTexts(
        memory_ids=[one.pk for one in read(user, touched).memories] if touched else ()
    )


def resembling_texts(*, user: User, texts: Sequence[str], without: Collection[int]) -> list[str]:
    """Return the texts of kept learned memories that resemble `texts`.

    `without` holds the keys of the memories that aren't kept. The texts of kept memories aren't
    residue, even in answers that repeat them.
    """
    wanted = Resemblance(texts)
    versions = MemoryVersion.objects.filter(user=user, memory__origin=Origin.EXTRACTED)
    others = versions.exclude(memory__in=without).order_by().values_list("content", flat=True)
    return [content for content in others.distinct().iterator() if wanted.occurs_in(content)]


def independent_texts(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Yield texts that a user or client wrote or confirmed, and texts newer than `since`.

    The residue scan doesn't report these texts. `since` is the time of the request to forget: from
    then on, the forgotten content was unreadable, so a later message or memory with such a text
    must have another source. Texts that were derived again are left out.
    """
    written = Q(change__in=WRITTEN) | Q(sources__comment__in=rederivation.KEPT_COMMENTS)
    independent = written & ~Q(actor=Origin.EXTRACTED)
    own = MemoryVersion.objects.filter(user=user_id).order_by()
    if since is not None:
        independent |= Q(sources__turn__user_message__recorded_at__gt=since)
        independent |= Q(change__in=WRITTEN, created_at__gt=since)
        merged = own.filter(created_at__gt=since).exclude(change=Change.DERIVED)
        decided = Arbitration.objects.filter(user=user_id, created_at__gt=since).order_by()
        for rows in (merged, decided):
            yield from rows.values_list("candidate_text", flat=True).distinct().iterator()
    for row in own.filter(independent).values_list("content", "summary").distinct().iterator():
        yield from filter(None, row)


def _texts_of_other_memories(
    user: User, texts: Sequence[str], *, without: Collection[int]
) -> Iterator[str]:
    """Yield the contents of other learned memories that resemble the texts.

    `without` holds the keys of memories that depend on an erased source. Call this function before
    any text is derived again, so that a derived text isn't mistaken for the content of another
    memory.
    """
    wanted = Resemblance(texts)
    there = Memory.everything.filter(user=user, hidden_at__isnull=True)  # includes the recycle bin
    others = there.filter(origin=Origin.EXTRACTED).exclude(pk__in=without)
    for content in others.order_by().values_list("content", flat=True).iterator():
        if wanted.occurs_in(content):
            yield content


def _texts(memories: Iterable[Memory]) -> Iterator[str]:
    for one in memories:
        yield from filter(None, (one.content, one.summary, one.feedback_reason))
        yield from (
            text for text in fingerprints.strings_in([one.data, one.metadata]) if is_long(text)
        )


def remaining_texts(
    *, user: User, texts: Sequence[str], leaving: ErasedTexts, conversations: Collection[int] = ()
) -> list[str]:
    """Return tags, titles and other side texts that remain and resemble `texts`.

    Call this function before any row is erased. Rows to be erased must already be hidden. Memories
    are searched even if they are hidden, since some of them are shown again later. Side texts that
    the erasure will clear are left out, and so are the titles of `conversations`, which lose
    messages.
    """
    wanted = Resemblance(texts)
    if not wanted:
        return []
    kept = ~Q(pk__in=[*leaving.emptied, *leaving.renewed])
    written = _side_texts(user.pk, memories=kept, conversations=~Q(pk__in=conversations))
    renewed = Memory.everything.filter(user=user, pk__in=set(leaving.renewed) - {*leaving.emptied})
    labels = renewed.order_by().values_list("metadata")
    return list(filter(wanted.occurs_in, (*written, *fingerprints.strings_in(list(labels)))))


def texts_written_since(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Yield side texts (tags, titles, labels) that were written after `since`.

    `since` is the time of the request to forget. From then on, the forgotten content was
    unreadable, so these texts have another source.
    """
    if since is None:
        return
    made, told = Q(created_at__gt=since), Q(user_message__recorded_at__gt=since)
    yield from _side_texts(user_id, memories=made, turns=told, conversations=made, projects=made)
    # Only later turns count, since earlier turns lose the key of a forgotten project.
    yield from Turn.objects.filter(told, user=user_id).values_list("project_key", flat=True)


_ALL = Q()


def _side_texts(
    user_id: int,
    *,
    memories: Q = _ALL,
    turns: Q = _ALL,
    conversations: Q = _ALL,
    projects: Q = _ALL,
) -> Iterator[str]:
    own = {"user": user_id}
    plain = {"tags": [], "data": {}, "metadata": {}, "feedback_reason": ""}
    marked = Memory.everything.filter(memories, **own).exclude(**plain)
    labelled = Turn.objects.filter(turns, **own).exclude(labels={}, tools=[])
    for rows in (
        marked.values_list(*plain),
        labelled.values_list("labels", "tools"),
        Conversation.objects.filter(conversations, **own).exclude(title="").values_list("title"),
        Project.objects.filter(projects, **own).values_list("key", "name", "path", "machines"),
    ):
        for row in rows.order_by().iterator(chunk_size=2_000):
            yield from filter(None, fingerprints.strings_in(row))
