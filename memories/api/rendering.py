"""Render responses that need more values than a single row contains."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from memcenter.rest.fields import Shape
from memories.api import response_shapes
from memories.files import daily_notes
from memories.files.daily_notes import AppendResult
from memories.learning.memory_flush import ProposedCandidate
from memories.models import FileVersion, Memory, Relation
from memories.recall.search import SNIPPET, SearchHit
from ops.accounts import users
from ops.models import User


def memory(
    row: Memory, *, user: User, shape: type[Shape] = response_shapes.Memory, **more: Any
) -> dict[str, Any]:
    """Render a memory; `more` holds additional values that `shape` needs."""
    other = row.conflicts_with
    is_shown = other is not None and other.hidden_at is None and other.deleted_at is None
    return shape.show(
        row,
        user_id=user.external_id,
        sources=getattr(row, "shown_sources", ()),
        archived_because="unused" if row.archived_at is not None else None,
        conflicts_with=[other.public_id] if other is not None and is_shown else (),
        **more,
    )


def relation(row: Relation, *, seen_from: Memory) -> dict[str, Any]:
    outward = row.memory_id == seen_from.pk
    other = row.other if outward else row.memory
    return response_shapes.MemoryRelation.show(
        row,
        id=other.public_id,
        direction="to" if outward else "from",
        content=other.content,
    )


def hit(found: SearchHit) -> dict[str, Any]:
    turn = found if found.user_message_id is not None else None
    return response_shapes.SearchHit.show(found, turn=turn)


def entry(row: Any) -> dict[str, Any]:
    """Render a memory from `timeline_of`, whose attribute `at` is its time on the timeline."""
    return response_shapes.TimelineEntry.show(row, snippet=row.content[:SNIPPET])


def line(appended: AppendResult, *, user: User) -> dict[str, Any]:
    zone = ZoneInfo(users.settings_of(user).timezone)
    return response_shapes.AppendedLine.show(
        appended,
        path=daily_notes.path_of(appended.note.on),
        text=daily_notes.line_of(appended.note, zone=zone),
    )


def file_version(row: FileVersion) -> dict[str, Any]:
    return response_shapes.FileVersion.show(row, bytes=len(row.content.encode()))


def candidate(one: ProposedCandidate, *, user: User) -> dict[str, Any]:
    """Render a memory that a flush proposes.

    The `id` contains the signed candidate, so that the client can accept it by sending only the id.
    """
    said = {"message_id": one.message or None, "index": one.index, "quote": one.candidate.quote}
    return response_shapes.FlushCandidate.show(one.candidate, id=one.signed(user), source=said)
