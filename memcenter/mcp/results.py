"""The results of the tools, in the shapes of the corresponding REST answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from memories.files import daily_notes
from memories.files.daily_notes import Appended
from memories.forgetting.spoken_requests import Outcome
from memories.models import Memory, Project
from memories.project_pages import NEXT_ACTION, Found
from memories.recall.search import SNIPPET, SearchHit, SearchResult
from memories.writing.direct_writes import Written


class Ingested(BaseModel):
    status: str
    id: str
    verdict: str
    superseded: list[str]
    memory_status: str
    redacted: bool = False

    @classmethod
    def of(cls, written: Written) -> Self:
        return cls(
            status=written.result,
            id=written.memory.public_id,
            verdict=written.verdict,
            superseded=list(written.superseded),
            memory_status=written.memory.status,
            redacted=written.redacted,
        )


class Hit(BaseModel):
    id: str
    snippet: str
    content_type: str
    project_key: str | None
    score: float
    status: str
    updated_at: datetime

    @classmethod
    def of(cls, found: Found) -> Self:
        memory = found.memory
        return cls(
            id=memory.public_id,
            snippet=found.hit.snippet,
            content_type=memory.kind,
            status=memory.status,
            project_key=_project_key(memory),
            score=found.hit.score,
            updated_at=memory.updated_at,
        )


class Hits(BaseModel):
    results: list[Hit]
    next_action: str = NEXT_ACTION


class WholeMemory(BaseModel):
    id: str
    content: str
    content_type: str
    kind: str
    project_key: str | None
    summary: str
    tags: list[str]
    importance: float
    confidence: float
    status: str
    pinned: bool
    origin: str
    version: int
    metadata: dict[str, Any]
    occurred_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, memory: Memory) -> Self:
        same = (
            *("content", "kind", "summary", "tags", "importance", "confidence", "status"),
            *("pinned", "origin", "metadata", "occurred_at", "valid_from", "valid_until"),
            *("created_at", "updated_at"),
        )
        return cls(
            id=memory.public_id,
            content_type=memory.kind,
            project_key=_project_key(memory),
            version=memory.current_version,
            **{name: getattr(memory, name) for name in same},
        )


class Memories(BaseModel):
    results: list[WholeMemory]
    missing: list[str]


class Entry(BaseModel):
    id: str
    snippet: str
    content_type: str
    project_key: str | None
    summary: str
    tags: list[str]
    at: datetime
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Any) -> Self:
        same = ("summary", "tags", "at", "created_at", "updated_at")
        return cls(
            id=row.public_id,
            snippet=row.content[:SNIPPET],
            content_type=row.kind,
            project_key=_project_key(row),
            **{name: getattr(row, name) for name in same},
        )


class Entries(BaseModel):
    results: list[Entry]
    next_cursor: str | None


class ListedProject(BaseModel):
    project_key: str
    name: str
    memory_count: int
    last_memory_at: datetime | None
    machines: list[str]

    @classmethod
    def of(cls, row: Any) -> Self:
        same = ("name", "memory_count", "last_memory_at", "machines")
        return cls(project_key=row.key, **{name: getattr(row, name) for name in same})


class ListedProjects(BaseModel):
    results: list[ListedProject]
    next_cursor: str | None


class AnyHit(BaseModel):
    type: str
    id: str
    text: str
    snippet: str
    score: float
    conversation_id: str | None
    created_at: datetime | None
    status: str | None = None  # of a memory: an archived one is in no prompt

    @classmethod
    def of(cls, hit: SearchHit) -> Self:
        return cls(**{name: getattr(hit, name) for name in cls.model_fields})


class SearchAnswer(BaseModel):
    request_id: str
    results: list[AnyHit]
    took_ms: float

    @classmethod
    def of(cls, found: SearchResult) -> Self:
        results = [AnyHit.of(one) for one in found.results]
        return cls(request_id=found.request_id, results=results, took_ms=found.took_ms)


class Line(BaseModel):
    path: str
    line: int
    id: str
    redacted: bool = False

    @classmethod
    def of(cls, appended: Appended) -> Self:
        note = appended.note
        path = daily_notes.path_of(note.on)
        return cls(path=path, line=note.number, id=note.public_id, redacted=appended.redacted)


class Forgotten(BaseModel):
    """`op_id` is set only if something is being forgotten (`accepted`)."""

    status: Literal["accepted", "needs_choice", "nothing_found"] = "accepted"
    op_id: str | None = None
    memory_ids: list[str] = Field(
        default=[], description="What went; with needs_choice, what may be meant."
    )
    message_ids: list[str] = Field(default=[], description="Messages that say it, and stay.")

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        told = outcome.told
        return cls.model_validate(told | ({"status": "accepted"} if outcome.op_id else {}))


def _project_key(memory: Memory) -> str | None:
    project: Project | None = memory.project
    return project.key if project else None
