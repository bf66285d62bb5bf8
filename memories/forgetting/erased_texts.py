"""The texts that a forget is about to erase, collected beforehand for the scan that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from memcenter.lib.text.shingles import Resemblance
from memories.forgetting import derivation, rederivation
from memories.forgetting.dependencies import current_text, read
from memories.forgetting.derivation import Outcome
from memories.forgetting.memory_erasure import texts_of
from memories.models import (
    Arbitration,
    Change,
    Fragment,
    Memory,
    MemoryVersion,
    Origin,
    Source,
)
from ops.models import User
from ops.residue import string_values
from ops.residue.erased_hashes import is_long

WRITTEN = (Change.CREATED, Change.EDITED, Change.REPLACED)


@dataclass(frozen=True)
class ErasedTexts:
    """The texts and rows to be erased; `staying` are texts of the same memories that remain.

    `along` has the keys of the memories that deriving decides about. Of these, deriving clears all
    side texts (tags, data, metadata, remarks) of the `emptied` ones, and all but the metadata of
    the `renewed` ones.
    """

    texts: Sequence[str] = ()
    rows: Sequence[QuerySet[Any]] = ()
    staying: Sequence[str] = ()
    along: Collection[int] = ()
    emptied: Collection[int] = ()
    renewed: Collection[int] = ()


def collect(*, user: User, resting: Q, gone: Collection[int] = ()) -> ErasedTexts:
    """Collect what is erased with the matching sources and with the memories in `gone`.

    It follows the same plan as deriving. The sources and memories must be hidden already.
    """
    sources = Source.everything.filter(resting | Q(memory__in=gone), user=user)
    present = Memory.everything.filter(user=user, pk__in=gone).values_list("pk", flat=True)
    touched = {*sources.values_list("memory", flat=True).distinct(), *present}
    if not touched:
        return ErasedTexts()
    graph = read(user, touched)
    outcomes = derivation.plan(graph.texts, gone=gone)
    changed = [graph.versions[pk] for pk, outcome in outcomes.items() if outcome.changed]
    lost = [
        one
        for one in graph.memories
        if one.pk in gone or not rederivation.stands(graph, outcomes, one.pk)
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
    return ErasedTexts(
        texts=texts,
        rows=(
            memories,
            MemoryVersion.everything.filter(user=user, memory__in=lost_ids),
            Fragment.objects.filter(
                Q(memory__in=lost_ids) | Q(version__in=[one.pk for one in changed]), user=user
            ),
        ),
        staying=[
            *_still_said(outcomes.values()),
            *_said_by_others(user, texts, without=along),
        ],
        along=along,
        emptied={*lost_ids, *(one.memory_id for one in changed if one.memory_id in learned)},
        renewed=[one.pk for one in anew],
    )


def collect_none(*, user: User, resting: Q) -> ErasedTexts:
    """Return only the memories that rest on the sources, for a forget that keeps memories."""
    sources = Source.everything.filter(resting, user=user)
    touched = set(sources.values_list("memory", flat=True).distinct())
    return ErasedTexts(along=[one.pk for one in read(user, touched).memories] if touched else ())


def said_elsewhere(*, user: User, texts: Sequence[str], without: Collection[int]) -> list[str]:
    """Return surviving versions that resemble the texts, as answers repeat them."""
    wanted = Resemblance(texts)
    versions = MemoryVersion.objects.filter(user=user, memory__origin=Origin.EXTRACTED)
    others = versions.exclude(memory__in=without).order_by().values_list("content", flat=True)
    return [content for content in others.distinct().iterator() if wanted.held_by(content)]


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Yield texts that a user or client wrote or kept, and texts told or learned since then.

    The content being forgotten became unreadable when the forget was requested, so anything learned
    later was said elsewhere. Texts made by deriving don't count.
    """
    told = Q(change__in=WRITTEN) | Q(sources__comment=rederivation.KEPT)
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
    """Yield memories that resemble the texts but rest on nothing erased: learned elsewhere.

    Call it before anything is derived again, so that it never vouches for a derived text.
    """
    wanted = Resemblance(texts)
    there = Memory.everything.filter(user=user, hidden_at__isnull=True)  # includes the bin
    others = there.filter(origin=Origin.EXTRACTED).exclude(pk__in=without)
    for content in others.order_by().values_list("content", flat=True).iterator():
        if wanted.held_by(content):
            yield content


def _texts(memories: Iterable[Memory]) -> Iterator[str]:
    """Yield the texts of the memories; side texts only if they are distinctively long."""
    for one in memories:
        yield from filter(None, (one.content, one.summary, one.feedback_reason))
        yield from (
            text for text in string_values.strings_in([one.data, one.metadata]) if is_long(text)
        )
