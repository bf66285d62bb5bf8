"""Render memories, their versions and operations in the format of mem0's API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memcenter.compat.mem0.filters import render_expiry
from memcenter.compat.mem0.memory_search import FoundMemory
from memcenter.compat.mem0.people import name_of
from memories.models import Memory, MemoryVersion
from ops.models import Kind, Operation, Status, User

_STATUS = {
    Status.PENDING: "PENDING",
    Status.RUNNING: "RUNNING",
    Status.SUCCEEDED: "SUCCEEDED",
    Status.FAILED: "FAILED",
    Status.CANCELLED: "FAILED",
}
_EVENT = {"created": "ADD", "updated": "UPDATE", "skipped": "NONE"}


def memory(row: Memory, *, user: User) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "memory": row.content,
        "user_id": name_of(user),
        "agent_id": row.agent_id or None,
        "app_id": row.app_id or None,
        "run_id": row.run_id or None,
        "session_id": row.run_id or None,
        "hash": row.content_hash,
        "metadata": row.metadata,
        "categories": row.tags,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "expiration_date": render_expiry(row.valid_until),
    }


def found_memory(match: FoundMemory) -> dict[str, Any]:
    return memory(match.memory, user=match.user)


def stored_memory(row: Memory) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "memory": row.content,
        "data": {"memory": row.content},
        "event": "ADD",
    }


def history(row: Memory, versions: Sequence[MemoryVersion], *, user: User) -> list[dict[str, Any]]:
    """Return the memory's versions, oldest first, and a DELETE entry if the memory was deleted.

    Erased versions have no text.
    """
    lines: list[dict[str, Any]] = []
    before: str | None = None
    for version in versions:
        event = "UPDATE" if lines else "ADD"
        lines.append(_line(row, version, user, event, before, version.content, version.created_at))
        before = version.content
    if row.deleted_at is not None and versions:
        lines.append(_line(row, versions[-1], user, "DELETE", before, None, row.deleted_at))
    return lines


def _line(
    row: Memory,
    version: MemoryVersion,
    user: User,
    event: str,
    old: str | None,
    new: str | None,
    at: datetime,
) -> dict[str, Any]:
    text = version.candidate_text or version.content
    return {
        "id": f"{row.public_id}-{version.number}{'-deleted' if event == 'DELETE' else ''}",
        "memory_id": row.public_id,
        "input": [{"role": "user", "content": text}] if text else [],
        "old_memory": old,
        "new_memory": new,
        "user_id": name_of(user),
        "event": event,
        "metadata": row.metadata,
        "created_at": at,
        "updated_at": at,
    }


def event(row: Operation, *, results: list[dict[str, Any]]) -> dict[str, Any]:
    ended = row.finished_at
    kind = "DELETE" if row.kind.startswith(("forget", "clear")) else row.kind.upper()
    return {
        "id": row.public_id,
        "event_type": "ADD" if row.kind == Kind.EXTRACT_TURN else kind,
        "status": _STATUS[Status(row.status)],
        "results": results,
        "created_at": row.created_at,
        "completed_at": ended,
        "latency": round((ended - row.created_at).total_seconds() * 1000, 1) if ended else None,
        "error": row.last_error or None,
        **({"forget": row.forget_outcome} if row.forget_outcome else {}),
    }


def learned_memory(result: str, row: Memory) -> dict[str, Any]:
    return {**stored_memory(row), "event": _EVENT.get(result, "ADD")}
