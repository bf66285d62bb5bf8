"""The arguments of the tools. An agent knows only their descriptions when it calls them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from django.conf import settings
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from memcenter.lib.errors import Invalid
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


def _said(value: Any) -> Any:
    """Refuse NUL characters and lone surrogates, which the database can't store."""
    if isinstance(value, str):
        if "\x00" in value:
            raise ValueError("The text must not contain NUL characters.")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("The text is not valid Unicode.") from error
    return value


def _from_unix(value: Any) -> Any:
    """Parse Unix seconds; leave everything else to pydantic (ISO 8601)."""
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


Text = Annotated[str, BeforeValidator(_said)]
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
    project_key: ProjectKey = None  # one of the two for the five types of projects
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
