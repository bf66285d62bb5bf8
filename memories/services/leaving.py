"""What of what is known leaves with a forget, told before it goes: for the scan that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from memcenter.lib.shingles import Resemblance
from memories import derivation
from memories.derivation import Outcome
from memories.models import (
    Arbitration,
    Change,
    Fragment,
    Memory,
    MemoryVersion,
    Origin,
    Source,
)
from memories.services import deriving
from memories.services.erasing import texts_of
from memories.services.resting import current_text, read
from ops.models import User
from ops.services import leaves
from ops.services.remembering import is_long

WRITTEN = (Change.CREATED, Change.EDITED, Change.REPLACED)


@dataclass(frozen=True)
class Leaving:
    """Texts and rows that go; `staying` are texts that rightly remain of the same memories.

    `along` are the memories that deriving decides about, by key. Of these deriving takes away what
    is beside the `emptied` ones, and beside the `renewed` all but the metadata.
    """

    texts: Sequence[str] = ()
    rows: Sequence[QuerySet[Any]] = ()
    staying: Sequence[str] = ()
    along: Collection[int] = ()
    emptied: Collection[int] = ()
    renewed: Collection[int] = ()


def of(*, user: User, resting: Q, gone: Collection[int] = ()) -> Leaving:
    """What leaves with the sources that match and with the memories in `gone`: by the plan that
    deriving follows. They must be hidden already."""
    sources = Source.everything.filter(resting | Q(memory__in=gone), user=user)
    present = Memory.everything.filter(user=user, pk__in=gone).values_list("pk", flat=True)
    touched = {*sources.values_list("memory", flat=True).distinct(), *present}
    if not touched:
        return Leaving()
    graph = read(user, touched)
    outcomes = derivation.plan(graph.texts, gone=gone)
    changed = [graph.versions[pk] for pk, outcome in outcomes.items() if outcome.changed]
    lost = [
        one
        for one in graph.memories
        if one.pk in gone or not deriving.stands(graph, outcomes, one.pk)
    ]
    lost_ids = [one.pk for one in lost]
    anew = [
        one
        for one in graph.memories
        if one.pk not in lost_ids and outcomes[current_text(graph, one).id].changed
    ]
    memories = Memory.everything.filter(user=user, pk__in=lost_ids)
    learned = {one.pk for one in graph.memories if one.origin == Origin.EXTRACTED}
    along = [one.pk for one in graph.memories]
    texts = [*texts_of(changed), *_texts(lost), *(one.content for one in anew)]
    return Leaving(
        texts=texts,
        rows=(
            memories,
            MemoryVersion.everything.filter(user=user, memory__in=lost_ids),
            Fragment.objects.filter(user=user, memory__in=lost_ids),
        ),
        staying=[
            *_still_said(outcomes.values()),
            *_said_by_others(user, texts, without=along),
        ],
        along=along,
        emptied={*lost_ids, *(one.memory_id for one in changed if one.memory_id in learned)},
        renewed=[one.pk for one in anew],
    )


def nothing(*, user: User, resting: Q) -> Leaving:
    """Where memories are kept: only which of them rest on what goes."""
    sources = Source.everything.filter(resting, user=user)
    touched = set(sources.values_list("memory", flat=True).distinct())
    return Leaving(along=[one.pk for one in read(user, touched).memories] if touched else ())


def said_elsewhere(*, user: User, texts: Sequence[str], without: Collection[int]) -> list[str]:
    """What versions from elsewhere say as these texts do: an answer repeats what is remembered.

    Of the memories in `without`, nothing: what becomes of them is for deriving.
    """
    wanted = Resemblance(texts)
    versions = MemoryVersion.objects.filter(user=user, memory__origin=Origin.EXTRACTED)
    others = versions.exclude(memory__in=without).order_by().values_list("content", flat=True)
    return [content for content in others.distinct().iterator() if wanted.held_by(content)]


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """What a person or client wrote or chose to keep; what was told anew or learned since.

    What is being forgotten can't be read any more since it was asked for: what was learned from
    then on was said elsewhere. What deriving makes of what was there speaks for nothing.
    """
    told = Q(change__in=WRITTEN) | Q(sources__comment=deriving.KEPT)
    meant = told & ~Q(actor=Origin.EXTRACTED)
    own = MemoryVersion.objects.filter(user=user_id).order_by()
    if since is not None:
        meant |= Q(sources__turn__user_message__recorded_at__gt=since)
        meant |= Q(change__in=WRITTEN, created_at__gt=since)
        merged = own.filter(created_at__gt=since).exclude(change=Change.DERIVED)
        decided = Arbitration.objects.filter(user=user_id, created_at__gt=since).order_by()
        for rows in (merged, decided):
            yield from rows.values_list("candidate_text", flat=True).distinct().iterator()
    for row in own.filter(meant).values_list("content", "summary").distinct().iterator():
        yield from filter(None, row)


def _still_said(outcomes: Iterable[Outcome]) -> Iterator[str]:
    for one in outcomes:
        yield from filter(None, (one.content, one.candidate))


def _said_by_others(user: User, texts: Sequence[str], *, without: Collection[int]) -> Iterator[str]:
    """What memories say like this that rest on nothing that goes: they were learned elsewhere.

    Told before anything is derived again, so that it never speaks for what deriving leaves behind.
    """
    wanted = Resemblance(texts)
    there = Memory.everything.filter(user=user, hidden_at__isnull=True)  # those in the bin as well
    others = there.filter(origin=Origin.EXTRACTED).exclude(pk__in=without)
    for content in others.order_by().values_list("content", flat=True).iterator():
        if wanted.held_by(content):
            yield content


def _texts(memories: Iterable[Memory]) -> Iterator[str]:
    """Of what is beside the text only what is long enough to be told from anything else."""
    for one in memories:
        yield from filter(None, (one.content, one.summary, one.feedback_reason))
        yield from (text for text in leaves.of([one.data, one.metadata]) if is_long(text))
