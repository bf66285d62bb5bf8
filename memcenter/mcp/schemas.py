"""The arguments and results of the MCP tools.

When an agent calls a tool, it sees only the descriptions of the arguments. The results have the
same fields as the corresponding responses of the REST API.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from django.conf import settings
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from memcenter.lib.errors import Invalid
from memories.files import daily_notes
from memories.files.daily_notes import Appended
from memories.forgetting.spoken_requests import Outcome
from memories.models import Memory, Project
from memories.project_pages import NEXT_ACTION, Found
from memories.recall.search import SNIPPET, SearchHit, SearchResult
from memories.writing.direct_writes import Written
from ops.accounts import users

Kind = Literal[
    "requirement",
    "plan",
    "development",
    "testing",
    "insight",
    "preference",
    "fact",
    "constraint",
    "task",
    "pattern",
    "skill",
    "event",
]
_KINDS = "One of requirement, plan, development, testing, insight; or a kind of personal memory."


def _owner(value: Any) -> Any:
    if value is None:
        return None
    try:
        return users.check_external_id(value)
    except Invalid as error:
        raise ValueError(error.message) from error


def _storable(value: Any) -> Any:
    """Raise `ValueError` for NUL characters and lone surrogates, which the database can't store."""
    if isinstance(value, str):
        if "\x00" in value:
            raise ValueError("The text must not contain NUL characters.")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("The text is not valid Unicode.") from error
    return value


def _from_unix(value: Any) -> Any:
    """Convert Unix seconds to a time; return any other value for pydantic to parse."""
    if isinstance(value, bool):
        raise ValueError("Must be a time.")
    if isinstance(value, int | float):
        try:
            return datetime.fromtimestamp(value, tz=UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise ValueError("Must lie between the years 2 and 9998.") from error
    return value


def _with_zone(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if not 2 <= value.year <= 9998:
        raise ValueError("Must lie between the years 2 and 9998.")
    return value if value.tzinfo else value.replace(tzinfo=UTC)


Text = Annotated[str, BeforeValidator(_storable)]
Prose = Annotated[Text, StringConstraints(pattern=r"\S")]
Owner = Annotated[
    str | None,
    BeforeValidator(_owner),
    Field(description="Whose memory. Leave it out if the key is bound to a person."),
]
Moment = Annotated[datetime | None, BeforeValidator(_from_unix), AfterValidator(_with_zone)]
ProjectKey = Annotated[
    Text | None, Field(min_length=1, max_length=100, description="The project's stable key.")
]
ProjectName = Annotated[
    Text | None,
    Field(min_length=1, max_length=200, description="The project's name; its slug is the key."),
]
MemoryId = Annotated[Text, Field(min_length=1, max_length=200, pattern=r"^mem_")]


class Owned(ArgModelBase):
    owner_id: Owner = None


class Ingest(Owned):
    content_type: Kind = Field(description=_KINDS)
    content: Prose = Field(
        max_length=settings.MAX_INGEST_CHARS,
        description="The whole page or statement. A newer edition replaces the older by itself.",
    )
    project_name: ProjectName = None
    project_key: ProjectKey = None  # the five project types need a key or a name
    summary: Annotated[Text | None, Field(max_length=settings.MAX_MEMORY_CHARS)] = None
    tags: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=50)]] | None, Field(max_length=20)
    ] = None
    machine_name: Annotated[Text | None, Field(max_length=100)] = None
    project_path: Annotated[Text | None, Field(max_length=500)] = None
    ts: Moment = Field(None, description="When it was so: Unix seconds or ISO 8601.")


class Find(Owned):
    query: Prose = Field(max_length=8_000, description="What you want to know, in plain words.")
    project_key: ProjectKey = None
    project_name: ProjectName = None
    content_type: Annotated[Kind | None, Field(description=_KINDS)] = None
    scope: Annotated[
        Kind | Literal["all"] | None, Field(description="The same as content_type, or all.")
    ] = None
    limit: int = Field(20, ge=1, le=100)


class Get(Owned):
    ids: list[MemoryId] = Field(
        min_length=1, max_length=100, description="The ids that mem.search gave."
    )


class Timeline(Owned):
    project_key: ProjectKey = None
    project_name: ProjectName = None
    content_type: Annotated[Kind | None, Field(description=_KINDS)] = None
    since: Moment = Field(None, alias="from", description="From this moment on.")
    until: Moment = Field(None, alias="to", description="Before this moment.")
    limit: int = Field(20, ge=1, le=100)
    cursor: Annotated[Text | None, Field(description="next_cursor of the page before.")] = None


class Projects(Owned):
    limit: int = Field(100, ge=1, le=100)
    cursor: Annotated[Text | None, Field(description="next_cursor of the page before.")] = None


class Search(Owned):
    query: Prose = Field(max_length=8_000, description="What you want to know, in plain words.")
    types: list[Literal["memory", "message", "episode", "summary", "note"]] | None = Field(
        None, description="What to look through; everything if left out."
    )
    limit: int = Field(20, ge=1, le=100)
    conversation_id: Annotated[
        Text | None,
        Field(min_length=1, max_length=200, description="Look only through what was said in it."),
    ] = None
    conversation_kind: Literal["main", "group"] | None = Field(
        None,
        description="Say group where others read along: then nothing of the person's own is found.",
    )


class Append(Owned):
    text: Prose = Field(
        max_length=settings.MAX_MEMORY_CHARS, description="One line for today's note."
    )
    source: Annotated[Text | None, Field(max_length=200, description="Who says so.")] = None


class Forget(Owned):
    """Refuse unknown fields, so that nothing is erased because of a misspelt one."""

    model_config = ConfigDict(extra="forbid")

    memory_id: Annotated[
        MemoryId | None, Field(description="The memory to forget; or give about, or the lists.")
    ] = None
    about: Annotated[
        Prose | None,
        Field(max_length=4_000, description="What to forget, in the person's own words."),
    ] = None
    memory_ids: Annotated[
        list[MemoryId] | None,
        Field(max_length=100, description="The memories that the person chose from a list."),
    ] = None
    message_ids: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=200, pattern=r"^msg_")]] | None,
        Field(max_length=100, description="The messages that the person chose from a list."),
    ] = None


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
    status: str | None = None  # only of memories; archived ones are in no prompt

    @classmethod
    def of(cls, hit: SearchHit) -> Self:
        return cls(**{name: getattr(hit, name) for name in cls.model_fields})


class SearchAnswer(BaseModel):
    request_id: str
    results: list[AnyHit]
    took_ms: float

    @classmethod
    def of(cls, found: SearchResult) -> Self:
        results = [AnyHit.of(hit) for hit in found.results]
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
        values = outcome.told
        return cls.model_validate(values | ({"status": "accepted"} if outcome.op_id else {}))


def _project_key(memory: Memory) -> str | None:
    project: Project | None = memory.project
    return project.key if project else None
