"""Project memory for coding agents: whole pages about a project, which are rewritten over time.

Agents search the pages in two steps: first for ids and snippets, then for whole pages by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from foundation.database import statements
from foundation.errors import Invalid, NotFound
from memories import projects
from memories.extraction.wording.digest import digest
from memories.models import Memory, Origin
from memories.models.memory import OF_PROJECTS
from memories.recall import search
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.search import SearchHit
from memories.recall.searchable_texts import Filters
from memories.selectors import memories_by_ids
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput, Prepared, WriteResult
from ops.models import User

# The names of the call parameters for the fields of `AgentFolder`.
PLACE = ("machine_name", "project_path")
# The instruction that tells an agent how to use the ids that a search returned.
NEXT_ACTION = "use_ids_to_call_mem_get"
_UNNAMED = "Name the project of a “{kind}”: project_key, or project_name where a call takes it."
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@dataclass(frozen=True)
class AgentFolder:
    """The machine and the folder in which an agent works, as the agent names them."""

    machine: str = ""
    path: str = ""


@dataclass(frozen=True)
class FoundPage:
    memory: Memory
    hit: SearchHit


def page_of(data: Mapping[str, Any], *, metadata: Mapping[str, Any]) -> MemoryInput:
    """Build the memory input for a page from the fields of a call.

    The REST API and the MCP tools use the same field names.
    """
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


def prepare(given: MemoryInput) -> Prepared:
    """Validate, summarize and embed a page; call this function outside a transaction.

    A missing summary and missing tags are derived from the text. Raise `Invalid`, which names the
    fields, if a field is invalid.
    """
    given = add_default_project(given)
    found = digest(given.content)
    given = replace(given, summary=given.summary or found.summary, tags=given.tags or found.tags)
    longest = settings.MAX_INGEST_CHARS
    return direct_writes.prepare(given, origin=Origin.AGENT, longest=longest, describes=False)


def add_default_project(given: MemoryInput, *, field: str = "project_name") -> MemoryInput:
    """Return the input, with the default project if its kind needs a project and none is given.

    Otherwise a memory of a project kind would appear in the prompts of every chat. Raise `Invalid`
    for `field` if there is no default project.
    """
    unnamed = given.project_key is None and given.project_name is None
    if given.kind not in OF_PROJECTS or not unnamed:
        return given
    if not settings.DEFAULT_PROJECT:
        raise Invalid.field(field, _UNNAMED.format(kind=given.kind))
    return replace(given, project_name=settings.DEFAULT_PROJECT)


def ingest(prepared: Prepared, *, user: User, place: AgentFolder | None = None) -> WriteResult:
    """Compare a page with all memories of the project, of any kind, and store it.

    A newer edition keeps the memory's id, and the old text becomes a version. A user's pages are
    stored one at a time, so a page that two machines send at once becomes one memory. Raise
    `Conflict` while memory is off (`memory_off`) or the user is being forgotten
    (`being_forgotten`), and `Invalid` if a field is invalid.
    """
    place = place or AgentFolder()
    problems = {}
    if len(place.machine) > projects.MAX_MACHINE:
        problems["machine_name"] = [f"At most {projects.MAX_MACHINE} characters."]
    if len(place.path) > projects.MAX_PATH:
        problems["project_path"] = [f"At most {projects.MAX_PATH} characters."]
    if problems:
        raise Invalid("The place is not valid.", fields=problems)
    statements.rows(_LOCK, [f"ingest:{user.pk}"])
    written = direct_writes.remember(prepared, user=user)
    if written.memory.project is not None:
        projects.note_place(written.memory.project, machine=place.machine, path=place.path)
    return written


def find(
    query: PreparedQuery, *, user: User, project: str = "", kinds: Sequence[str] = (), limit: int
) -> list[FoundPage]:
    """Return the best matches for a query, best first; the agent then fetches pages by id.

    The list is empty if the project doesn't exist.
    """
    try:
        place = projects.find(user=user, key=project) if project else None
        filters = Filters(project=place, kinds=tuple(kinds), archived=True)
    except NotFound:
        return []
    found = search.search(query, user=user, types=("memory",), filters=filters, limit=limit)
    rows = memories_by_ids(user, [one.id for one in found.results])
    return [FoundPage(rows[one.id], one) for one in found.results if one.id in rows]
