"""What can be searched of a person, by type, under their switches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations.models import Conversation, Episode, Message, Summary, Turn
from memories.models import DailyNote, Memory, MemoryStatus, Project, TargetKind
from memories.retrieval.units import Unit
from memories.services.pool import NEAREST, Shelf
from ops.models import User, UserSettings

Rows = TypeVar("Rows", bound=QuerySet[Any])
TYPES = ("memory", "message", "episode", "summary", "note")


@dataclass(frozen=True)
class Filters:
    """What a search is narrowed to. `kind`, `tag`, `status` and `project` concern memories."""

    conversation: Conversation | None = None
    project: Project | None = None
    kinds: Sequence[str] = ()
    tag: str = ""
    status: str = MemoryStatus.ACTIVE
    since: datetime | None = None
    until: datetime | None = None


def usable_memories(user: User, *, filters: Filters) -> QuerySet[Memory]:
    """Memories that may be recalled now: of this status, in the time that they hold for."""
    now = timezone.now()
    found = Memory.objects.filter(
        Q(valid_from__isnull=True) | Q(valid_from__lte=now),
        Q(valid_until__isnull=True) | Q(valid_until__gt=now),
        user=user,
        status=filters.status,
    )
    if filters.kinds:
        found = found.filter(kind__in=filters.kinds)
    if filters.tag:
        found = found.filter(tags__contains=[filters.tag])
    if filters.project is not None:
        found = found.filter(project=filters.project)
    return _within(found, filters).select_related("project")


def shelves(
    types: Sequence[str], *, user: User, own: UserSettings, filters: Filters
) -> list[Shelf]:
    """One shelf a type; a layer that is switched off has none."""
    off = {
        "memory": not own.longterm_enabled,
        "note": not own.longterm_enabled,
        "episode": not own.episodic_enabled,
        "summary": not own.summary_enabled,
        "message": False,
    }
    build = {
        "memory": _memories,
        "note": _notes,
        "episode": _episodes,
        "summary": _summaries,
        "message": _messages,
    }
    return [build[one](user, filters) for one in types if not off[one]]


def memory_shelf(eligible: QuerySet[Memory], *, nearest: int = NEAREST) -> Shelf:
    return Shelf(TargetKind.MEMORY, eligible, _memory_unit, nearest=nearest)


def episode_shelf(user: User, *, conversation: Conversation) -> Shelf:
    return _episodes(user, Filters(conversation=conversation))


def _memories(user: User, filters: Filters) -> Shelf:
    return memory_shelf(usable_memories(user, filters=filters))


def _memory_unit(row: Memory, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="memory",
        id=row.public_id,
        text=row.content,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.occurred_at or row.created_at,
    )


def _messages(user: User, filters: Filters) -> Shelf:
    rows = Message.objects.filter(user=user, conversation__hidden_at__isnull=True)
    rows = _within(rows, filters, of_conversation=True).select_related("conversation")
    return Shelf(
        TargetKind.MESSAGE, rows, _message_unit, whole=True, neighbours=_neighbours_in(rows)
    )


def _neighbours_in(rows: QuerySet[Message]) -> Callable[[Iterable[int]], set[int]]:
    def neighbours(ids: Iterable[int]) -> set[int]:
        places = Message.objects.filter(pk__in=list(ids)).values_list("conversation", "number")
        wanted = Q(pk__in=[])
        for conversation, number in places:
            wanted |= Q(conversation=conversation, number__in=(number - 1, number + 1))
        return set(rows.filter(wanted).values_list("pk", flat=True))

    return neighbours


def _message_unit(row: Message, terms: list[str], cosine: float | None, length: int) -> Unit:
    conversation = row.conversation.public_id
    return Unit(
        type="message",
        id=row.public_id,
        text=row.content,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
        conversation=conversation,
        position=row.number,
        session=f"{conversation} {row.created_at.date()}",
        speaker=row.speaker,
    )


def _episodes(user: User, filters: Filters) -> Shelf:
    rows = Episode.objects.filter(user=user, turn__hidden_at__isnull=True)
    rows = _within(rows, filters, of_conversation=True).select_related(
        "conversation", "turn__user_message", "turn__assistant_message"
    )
    return Shelf(TargetKind.EPISODE, rows, _episode_unit, whole=True)


def _episode_unit(row: Episode, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="episode",
        id=row.public_id,
        text=episode_text(row.turn),
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
        conversation=row.conversation.public_id,
        # Turns follow each other every two messages: close enough to know the neighbours by.
        position=row.turn.assistant_message.number // 2,
        session=f"{row.conversation.public_id} {row.created_at.date()}",
        speaker=row.turn.user_message.speaker,
    )


def episode_text(turn: Turn) -> str:
    """A turn as one text, to be shown and to be indexed."""
    return f"{turn.user_message.content}\n{turn.assistant_message.content}"


def _summaries(user: User, filters: Filters) -> Shelf:
    rows = Summary.objects.filter(user=user)
    rows = _within(rows, filters, of_conversation=True).select_related("conversation")
    newest = rows.order_by("conversation", "-version").distinct("conversation")
    return Shelf(TargetKind.SUMMARY, rows.filter(pk__in=newest.values("pk")), _summary_unit)


def _summary_unit(row: Summary, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="summary",
        id=row.public_id,
        text=row.text,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
        conversation=row.conversation.public_id,
    )


def _notes(user: User, filters: Filters) -> Shelf:
    rows = _within(DailyNote.objects.filter(user=user), filters)
    return Shelf(TargetKind.NOTE, rows, _note_unit)


def _note_unit(row: DailyNote, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="note",
        id=row.public_id,
        text=row.text,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
    )


def _within(rows: Rows, filters: Filters, *, of_conversation: bool = False) -> Rows:
    """Those of the time that was asked for and, where they have one, of the conversation."""
    if of_conversation and filters.conversation is not None:
        rows = rows.filter(conversation=filters.conversation)
    if filters.since is not None:
        rows = rows.filter(created_at__gte=filters.since)
    if filters.until is not None:
        rows = rows.filter(created_at__lt=filters.until)
    return rows
