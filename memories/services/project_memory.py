"""What agents remember of projects: whole pages, written again and again, found in two stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from memcenter.lib import statements
from memcenter.lib.errors import Invalid, NotFound
from memories.extraction.digest import digest
from memories.models import Memory, Origin, Project
from memories.selectors import memories_by_ids
from memories.services import projects, remembering, search
from memories.services.pool import PreparedQuery
from memories.services.remembering import MemoryInput, Prepared, Written
from memories.services.search import SearchHit
from memories.services.shelves import Filters
from ops.models import User

# What a call names the parts of a `Place` by.
PLACE = ("machine_name", "project_path")
# What an agent that found something is told to do with the ids.
NEXT_ACTION = "use_ids_to_call_mem_get"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@dataclass(frozen=True)
class Place:
    """Where an agent works: the machine and the folder, as it calls them."""

    machine: str = ""
    path: str = ""


@dataclass(frozen=True)
class Found:
    memory: Memory
    hit: SearchHit


def page_of(data: Mapping[str, Any], *, metadata: Mapping[str, Any]) -> MemoryInput:
    """A page as a call names its parts, whichever way the call came."""
    return MemoryInput(
        content=data["content"],
        kind=data["content_type"],
        summary=data.get("summary", ""),
        tags=data.get("tags", ()),
        occurred_at=data.get("ts"),
        project_key=data.get("project_key"),
        project_name=data.get("project_name"),
        metadata=metadata,
    )


def place_of(data: Mapping[str, Any]) -> Place:
    return Place(*(data.get(name, "") for name in PLACE))


def prepare(given: MemoryInput) -> Prepared:
    """Check, sum up and embed; call it outside any transaction. Raises `Invalid`, by field.

    What the caller leaves out of summary and tags is taken from the text itself.
    """
    told = digest(given.content)
    given = replace(given, summary=given.summary or told.summary, tags=given.tags or told.tags)
    longest = settings.MAX_INGEST_CHARS
    return remembering.prepare(given, origin=Origin.AGENT, longest=longest)


def ingest(prepared: Prepared, *, user: User, place: Place | None = None) -> Written:
    """Arbitrate against what is known of the project, of whatever type, and write.

    A newer edition keeps the memory's id and makes the old text a version. One write of a person
    at a time: the same page from two machines at once is one memory. Raises `Conflict`
    (`memory_off`, `being_forgotten`) and `Invalid`.
    """
    place = place or Place()
    _check(place)
    statements.rows(_ONE_AT_A_TIME, [f"ingest:{user.pk}"])
    written = remembering.remember(prepared, user=user)
    if written.memory.project is not None:
        projects.note_place(written.memory.project, machine=place.machine, path=place.path)
    return written


def find(
    query: PreparedQuery, *, user: User, project: str = "", kinds: Sequence[str] = (), limit: int
) -> list[Found]:
    """The first stage: what may be meant, best first, to be fetched by its ids.

    A project that nobody has yet holds nothing. Raises `Invalid`.
    """
    try:
        filters = Filters(project=_named(project, user=user), kinds=tuple(kinds))
    except NotFound:
        return []
    found = search.search(query, user=user, types=("memory",), filters=filters, limit=limit)
    rows = memories_by_ids(user, [one.id for one in found.results])
    return [Found(rows[one.id], one) for one in found.results if one.id in rows]


def key_of(*, key: str | None, name: str | None) -> str:
    """The key of a project that is named by either; empty where it is named by neither."""
    return key or projects.slug(name or "")


def _named(key: str, *, user: User) -> Project | None:
    return projects.find(user=user, key=key) if key else None


def _check(place: Place) -> None:
    problems = {}
    if len(place.machine) > projects.MAX_MACHINE:
        problems["machine_name"] = [f"At most {projects.MAX_MACHINE} characters."]
    if len(place.path) > projects.MAX_PATH:
        problems["project_path"] = [f"At most {projects.MAX_PATH} characters."]
    if problems:
        raise Invalid("The place is not valid.", fields=problems)
