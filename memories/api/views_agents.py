"""The agents' two stages: find ids with short snippets, then fetch whole memories by their ids."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.lib.errors import NotFound
from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Asked, Call, endpoint
from memcenter.rest.people import present, reachable
from memories import owners, selectors
from memories.api import answers, serializers, shown
from memories.models import Project
from memories.services import projects, search, writing
from memories.services.pool import PreparedQuery
from memories.services.shelves import Filters
from ops.models import User

NEXT_ACTION = "use_ids_to_call_mem_get"
EVERYTHING = "all"


def _prepare(call: Call) -> PreparedQuery:
    return search.prepare_query(call.data["query"])


class AgentSearchView(MemcenterView):
    @endpoint(
        summary="Find memories: ids and short snippets; fetch what looks right by its ids",
        takes=serializers.AgentSearch,
        answers={200: answers.AgentFound},
        whose=people.whose_owner,
        prepare=_prepare,
    )
    def get(self, call: Call) -> Response:
        return _found(call)


def _found(call: Call) -> Response:
    """A project that nobody has yet holds no memory."""
    try:
        project = _project(call)
    except NotFound:
        return Response({"results": [], "next_action": NEXT_ACTION})
    found = search.search(
        call.ready,
        user=call.user,
        types=("memory",),
        filters=Filters(project=project, kinds=_kinds(call)),
        limit=call.data.get("limit", 20),
    )
    rows = selectors.memories_by_ids(call.user, [one.id for one in found.results])
    results = [shown.found(rows[one.id], one) for one in found.results if one.id in rows]
    return Response({"results": results, "next_action": NEXT_ACTION})


def _project(call: Call) -> Project | None:
    data = call.data
    key = data.get("project_key") or projects.slug(data.get("project_name") or "")
    return projects.find(user=call.user, key=key) if key else None


def _kinds(call: Call) -> tuple[str, ...]:
    given = {call.data.get("content_type", EVERYTHING), call.data.get("scope", EVERYTHING)}
    return tuple(sorted(writing.check_kind(kind) for kind in given - {EVERYTHING}))


def _whose_memories(asked: Asked) -> User:
    """The owner that is named, or else whoever the first of the ids belongs to."""
    try:
        return people.whose_owner(asked)
    except people.Nobody:
        for public_id in asked.data.get("ids", ()):
            if (user := owners.of_memory(public_id)) is not None:
                return present(reachable(user), writes=False)
        raise


class AgentMemoriesView(MemcenterView):
    @endpoint(
        summary="Whole memories by their ids, in that order, and which of them are missing",
        takes=serializers.AgentFetch,
        answers={200: answers.AgentMemories},
        whose=_whose_memories,
    )
    def get(self, call: Call) -> Response:
        wanted = list(dict.fromkeys(call.data["ids"]))
        rows = selectors.memories_by_ids(call.user, wanted)
        results = [shown.memory(rows[one], user=call.user) for one in wanted if one in rows]
        missing = [one for one in wanted if one not in rows]
        return Response({"results": results, "missing": missing})
