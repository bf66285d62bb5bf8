"""Render API responses that the classes in `response_shapes` can't render from a row alone."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from memories.api import response_shapes
from memories.files import daily_notes
from memories.files.daily_notes import Appended
from memories.learning.memory_flush import Proposed
from memories.models import (
    FileVersion,
    Memory,
    RecallHit,
    RecallTrace,
    Relation,
)
from memories.recall.search import SNIPPET, SearchHit
from ops.accounts import users
from ops.models import User


def memory(row: Memory, *, user: User) -> dict[str, Any]:
    answer = {
        "id": row.public_id,
        "user_id": user.external_id,
        "project_key": row.project.key if row.project else None,
        "kind": row.kind,
        "content": row.content,
        "summary": row.summary,
        "data": row.data,
        "tags": row.tags,
        "importance": row.importance,
        "confidence": row.confidence,
        "status": row.status,
        "pinned": row.pinned,
        "standing": row.standing,
        "origin": row.origin,
        "metadata": row.metadata,
        "feedback": row.feedback or None,
        "occurred_at": row.occurred_at,
        "valid_from": row.valid_from,
        "valid_until": row.valid_until,
        "access_count": row.access_count,
        "last_accessed_at": row.last_accessed_at,
        "version": row.current_version,
        "deleted_at": row.deleted_at,
        "purge_at": row.purge_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "sources": [
            response_shapes.MemorySource.show(one) for one in getattr(row, "shown_sources", ())
        ],
    }
    if row.archived_at is not None:
        answer["archived_at"] = row.archived_at
        answer["archived_because"] = "unused"
    if row.removal_asked_at is not None:
        answer["removal_asked_at"] = row.removal_asked_at
    other = row.conflicts_with
    if other is not None and other.hidden_at is None and other.deleted_at is None:
        answer["conflicts_with"] = [other.public_id]
    return answer


def relation(row: Relation, *, seen_from: Memory) -> dict[str, Any]:
    outward = row.memory_id == seen_from.pk
    other = row.other if outward else row.memory
    return {
        "id": other.public_id,
        "kind": row.kind,
        "strength": row.strength,
        "direction": "to" if outward else "from",
        "content": other.content,
        "created_at": row.created_at,
    }


def hit(found: SearchHit) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "type": found.type,
        "id": found.id,
        "text": found.text,
        "snippet": found.snippet,
        "score": found.score,
        "components": found.components,
        "created_at": found.created_at,
    }
    if found.conversation_id is not None:
        answer["conversation_id"] = found.conversation_id
    if found.user_message_id is not None:
        answer["turn"] = {
            "user_message_id": found.user_message_id,
            "assistant_message_id": found.assistant_message_id,
        }
    if found.occurred_at is not None:
        answer["occurred_at"] = found.occurred_at
    if found.status is not None:
        answer["status"] = found.status
    return answer


def found(row: Memory, hit: SearchHit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "snippet": hit.snippet,
        "content_type": row.kind,
        "project_key": row.project.key if row.project else None,
        "score": hit.score,
        "status": row.status,
        "updated_at": row.updated_at,
    }


def entry(row: Any) -> dict[str, Any]:
    """Render a row of `timeline_of`: a memory with `at`, its time on the timeline."""
    return {
        "id": row.public_id,
        "snippet": row.content[:SNIPPET],
        "content_type": row.kind,
        "project_key": row.project.key if row.project else None,
        "summary": row.summary,
        "tags": row.tags,
        "version": row.current_version,
        "at": row.at,
        "occurred_at": row.occurred_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def line(appended: Appended, *, user: User) -> dict[str, Any]:
    note = appended.note
    answer = {
        "path": daily_notes.path_of(note.on),
        "line": note.number,
        "id": note.public_id,
        "text": daily_notes.line_of(note, zone=ZoneInfo(users.settings_of(user).timezone)),
        "created_at": note.created_at,
    }
    return {**answer, "redacted": True} if appended.redacted else answer


def file_version(row: FileVersion) -> dict[str, Any]:
    return {
        "version": row.number,
        "bytes": len(row.content.encode()),
        "actor": row.actor,
        "content": row.content,
        "created_at": row.created_at,
    }


def trace(row: RecallTrace, *, hits: list[RecallHit]) -> dict[str, Any]:
    return {
        "request_id": row.request_id,
        "query": row.query,
        "created_at": row.created_at,
        "took_ms": row.took_ms,
        "stages": row.stages,
        "hits": [response_shapes.TracedHit.show(one) for one in hits],
    }


def candidate(one: Proposed, *, user: User) -> dict[str, Any]:
    """Render a memory that a flush proposes.

    `id` contains the signed candidate, so the second call of the flush needs only the ids.
    """
    return {
        "id": one.signed(user),
        "kind": one.candidate.kind,
        "content": one.candidate.content,
        "importance": one.candidate.importance,
        "confidence": one.candidate.confidence,
        "source": {
            "message_id": one.message or None,
            "index": one.index,
            "quote": one.candidate.quote,
        },
    }
