"""With long-term memory off, every call of every protocol recalls nothing, refuses or answers.

`docs/api.md` says which, in the table of "While memory is off"; it names the same calls as this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.http import HttpResponse

from conversations.models import ConversationKind
from memcenter.compat.mem0 import other_endpoints as mem0_endpoints
from memcenter.compat.openai_chat import views as openai_views
from memcenter.mcp import tools
from memories import projects
from memories.api import urls as memory_urls
from memories.files import daily_notes
from memories.models import MemoryStatus
from ops.access import as_user
from ops.accounts import keys, users
from ops.models import User
from tests.case_loop import check_each
from tests.conftest import ALL_SCOPES
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.mcp.test_tools import Agent
from tests.memcenter.mcp.test_tools import no_connections_left as no_connections_left
from tests.memcenter.rest.client import Api

DOCS = Path(__file__).resolve().parents[2] / "docs/api.md"
WORD = "chess"


class Does(StrEnum):
    NOTHING = "returns nothing"
    REFUSES = "409 memory_off"
    ANSWERS = "answers"


@dataclass(frozen=True)
class Call:
    """`method` and `path` with the names of the world's ids in braces; `sent` likewise."""

    name: str
    does: Does
    method: str = "get"
    path: str = ""
    sent: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.note}".strip()


def rest(name: str, does: Does, note: str = "", **sent: Any) -> Call:
    method, path = name.split(" ")
    return Call(name, does, method.lower(), path, sent, note)


_ANY = f"{WORD} club"
_PLAN = {"project_name": "Boat", "content_type": "plan", "content": "The mast is of pine."}
_ID = "/memory/long_term/{memory_id}"
REST = [
    rest("GET /search", Does.NOTHING, query=_ANY, types="memory,note"),
    rest("POST /memory/context", Does.NOTHING, message=f"Tell me about {_ANY}"),
    rest("GET /memories/search", Does.NOTHING, query=_ANY),
    rest("GET /memories/timeline", Does.NOTHING),
    rest("GET /memory/portrait", Does.NOTHING),
    rest("GET /memory/week", Does.NOTHING),
    rest("POST /memory/long_term", Does.REFUSES, content="Plays the cello."),
    rest("POST /memory/long_term/batch", Does.REFUSES, memories=[{"content": "Plays the cello."}]),
    rest("POST /ingest/memory", Does.REFUSES, **_PLAN),
    rest("POST /memory/append", Does.REFUSES, text="Bought oats."),
    rest("POST /memory/flush", Does.REFUSES, "commit", stage="commit", candidates=["{candidate}"]),
    rest("POST /memory/flush", Does.NOTHING, messages=[{"role": "user", "content": "I ski."}]),
    rest("PUT /memory/files/{path}", Does.REFUSES, "something new", content="# Talks\n\nNew."),
    rest("POST /memory/files/{path}/restore", Does.REFUSES, version=1),
    rest(
        "POST /memory/long_term/confirm",
        Does.REFUSES,
        "accept",
        decisions=[{"id": "{candidate_id}", "decision": "accept"}],
    ),
    rest(
        "POST /memory/long_term/confirm",
        Does.ANSWERS,
        "reject",
        decisions=[{"id": "{candidate_id}", "decision": "reject"}],
    ),
    rest("GET /memories", Does.ANSWERS, ids="{memory_id}"),
    rest("GET /projects", Does.ANSWERS),
    rest("GET /memory/metrics", Does.ANSWERS),
    rest("GET /debug/{request_id}", Does.ANSWERS),
    rest("GET /memory/files", Does.ANSWERS),
    rest("GET /memory/files/{path}", Does.ANSWERS),
    rest("GET /memory/files/{path}/versions", Does.ANSWERS),
    rest("GET /memory/long_term", Does.ANSWERS),
    rest("POST /memory/long_term/bulk", Does.ANSWERS, ids=["{memory_id}"], action="pin"),
    rest("GET /memory/long_term/{memory_id}", Does.ANSWERS),
    rest("PATCH /memory/long_term/{memory_id}", Does.ANSWERS, content=f"Plays {WORD} well."),
    rest("DELETE /memory/long_term/{memory_id}", Does.ANSWERS),
    rest("POST /memory/long_term/{memory_id}/restore", Does.ANSWERS, version=1),
    rest("GET /memory/long_term/{memory_id}/versions", Does.ANSWERS),
    rest("GET /memory/long_term/{memory_id}/sources", Does.ANSWERS),
    rest("GET /memory/long_term/{memory_id}/recalls", Does.ANSWERS),
    rest("GET /memory/long_term/{memory_id}/relations", Does.ANSWERS),
    rest("POST /memory/export", Does.ANSWERS, format="json"),
]
_OF: dict[str, Any] = {"filters": {"user_id": "alice"}}
_SAID = [{"role": "user", "content": "I play the cello."}]
_ONE = [{"memory_id": "{memory_id}", "text": f"Plays {WORD} well."}]
MEM0 = [
    rest("POST /v1/summary/", Does.NOTHING, **_OF),
    rest("POST /v3/memories/search/", Does.NOTHING, query=_ANY, **_OF),
    rest("POST /v3/memories/add/", Does.REFUSES, user_id="alice", messages=_SAID),
    rest(
        "POST /v3/memories/add/",
        Does.REFUSES,
        "infer=false",
        user_id="alice",
        messages=_SAID,
        infer=False,
    ),
    rest("GET /v1/ping/", Does.ANSWERS),
    rest("POST /v3/memories/", Does.ANSWERS, **_OF),
    rest("DELETE /v1/memories/", Does.ANSWERS, user_id="alice"),
    rest("GET /v1/memories/{memory_id}/", Does.ANSWERS),
    rest("PUT /v1/memories/{memory_id}/", Does.ANSWERS, text=f"Plays {WORD} well."),
    rest("DELETE /v1/memories/{memory_id}/", Does.ANSWERS),
    rest("GET /v1/memories/{memory_id}/history/", Does.ANSWERS),
    rest("PUT /v1/batch/", Does.ANSWERS, memories=_ONE),
    rest("DELETE /v1/batch/", Does.ANSWERS, memories=[{"memory_id": "{memory_id}"}]),
    rest("GET /v1/entities/", Does.ANSWERS),
    rest("DELETE /v2/entities/user/alice/", Does.ANSWERS),
    rest("POST /v1/exports/", Does.ANSWERS, **_OF),
    rest("POST /v1/exports/get/", Does.ANSWERS, **_OF),
    rest("POST /v1/feedback/", Does.ANSWERS, memory_id="{memory_id}", feedback="POSITIVE"),
    rest("GET /v1/events/", Does.ANSWERS),
    rest("GET /v1/event/{memory_id}/", Does.ANSWERS),
]
TOOLS = [
    Call("mem.search", Does.NOTHING, sent={"query": _ANY}),
    Call("mem.timeline", Does.NOTHING),
    Call("memory_search", Does.NOTHING, sent={"query": _ANY, "types": ["memory", "note"]}),
    Call("mem.ingest_memory", Does.REFUSES, sent=_PLAN),
    Call("memory_append", Does.REFUSES, sent={"text": "Bought oats."}),
    Call("mem.get", Does.ANSWERS, sent={"ids": ["{memory_id}"]}),
    Call("mem.list_projects", Does.ANSWERS),
    Call("memory_forget", Does.ANSWERS, sent={"memory_id": "{memory_id}"}),
]
_OWN, _CURATED = "/memories/notes/club.md", "/memories/MEMORY.md"
COMMANDS = [
    Call("view", Does.NOTHING, sent={"path": "/memories"}, note="of a folder"),
    Call("view", Does.NOTHING, sent={"path": _CURATED}, note="of a file"),
    Call("create", Does.REFUSES, sent={"path": "/memories/x.md", "file_text": "New."}),
    Call("insert", Does.REFUSES, sent={"path": _OWN, "insert_line": 0, "insert_text": "New."}),
    Call("rename", Does.REFUSES, sent={"old_path": _OWN, "new_path": "/memories/x.md"}),
    Call(
        "str_replace",
        Does.REFUSES,
        sent={"path": _OWN, "old_str": "Fridays", "new_str": "Mondays"},
        note="in a note of one's own",
    ),
    Call(
        "str_replace",
        Does.ANSWERS,
        sent={"path": _CURATED, "old_str": "on Sundays", "new_str": "on Mondays"},
        note="in the line of a memory",
    ),
    Call("delete", Does.ANSWERS, sent={"path": _OWN}),
]
CALLS = 70
World = Mapping[str, str]


@pytest.fixture
def world(alice: User, alice_key: str) -> World:
    """Things of Alice's in every place of long-term memory, all with one word."""
    conversation = make_conversation(alice, external_id="c1")
    turn = make_turn(conversation, "Hello.")
    with as_user(alice):
        project = projects.find_or_create(user=alice, key="club", name="Club")
        memory = make_memory(alice, f"Plays {WORD} on Sundays", turns=[turn])
        make_memory(alice, f"The {WORD} club meets in May.", project=project)
        waiting = make_memory(alice, f"Likes {WORD} books", status=MemoryStatus.CANDIDATE)
        daily_notes.append(f"The {WORD} club moved.", user=alice)
    api = Api(alice_key)
    text = f"# Talks\n\nThe {WORD} club meets on Fridays."
    own = {"command": "create", "path": _OWN, "file_text": text}
    assert api.post("/memory/files/tool", own).status_code == 200
    messages = [{"role": "user", "content": "I am allergic to nuts."}]
    body = {"conversation_id": "c1", "messages": messages, "stage": "candidates"}
    [candidate] = orjson.loads(api.post("/memory/flush", body).content)["candidates"]
    asked = orjson.loads(api.get("/search", query=_ANY, types="memory").content)
    return {
        "memory_id": memory.public_id,
        "candidate_id": waiting.public_id,
        "candidate": candidate["id"],
        "request_id": asked["request_id"],
        "path": "notes/club.md",
    }


def aimed(node: Any, world: World) -> Any:
    if isinstance(node, Mapping):
        return {name: aimed(inner, world) for name, inner in node.items()}
    if isinstance(node, list):
        return [aimed(inner, world) for inner in node]
    return node.format(**world) if isinstance(node, str) else node


def switch_off(user: User) -> None:
    users.change_settings(user=user, changes={"longterm_enabled": False})


def asked(api: Api, call: Call, world: World, *, root: str = "") -> Any:
    path, sent = root + call.path.format(**world), aimed(call.sent, world)
    if call.path == "/memory/flush":
        sent |= {"conversation_id": "c1"}
    if call.method in ("get", "delete") and not call.path.endswith("/batch/"):
        return api.call(call.method, path, **sent)
    return api.call(call.method, path, sent)


def check(call: Call, status: int, text: str) -> None:
    if call.does == Does.REFUSES:
        assert status == 409 and "memory_off" in text, text
        return
    assert 200 <= status < 300, text
    if call.does == Does.NOTHING:
        assert WORD not in text


def check_on(call: Call, status: int, text: str) -> None:
    """With memory on it does what it is for: otherwise the check above shows nothing."""
    assert 200 <= status < 300, text
    if call.does == Does.NOTHING and call.path != "/memory/flush":
        assert WORD in text


Ask = Callable[[Call], HttpResponse]


def check_on_and_off(calls: Sequence[Call], ask: Ask, user: User) -> None:
    """Make each call with memory on, and then each with memory off."""

    def checked_with_it_on(call: Call) -> None:
        response = ask(call)
        check_on(call, response.status_code, response.content.decode())

    def checked_with_it_off(call: Call) -> None:
        response = ask(call)
        check(call, response.status_code, response.content.decode())

    check_each(calls, checked_with_it_on, count=len(calls))
    switch_off(user)
    check_each(calls, checked_with_it_off, count=len(calls))


@pytest.mark.django_db
def test_our_own_api(alice: User, alice_key: str, world: World) -> None:
    check_on_and_off(REST, lambda call: asked(Api(alice_key), call, world), alice)


@pytest.mark.django_db
def test_mem0(alice: User, world: World) -> None:
    key = keys.create(name="whole", scopes=[*ALL_SCOPES, "admin"], user=alice)[1]
    root = "http://testserver"
    check_on_and_off(MEM0, lambda call: asked(Api(key), call, world, root=root), alice)


@pytest.mark.django_db
def test_the_memory_tool(alice: User, alice_key: str, world: World) -> None:
    def told(call: Call) -> tuple[int, str]:
        body = {"command": call.name, **call.sent}
        response = Api(alice_key).post("/memory/files/tool", body)
        return response.status_code, response.content.decode()

    def checked_with_it_on(call: Call) -> None:
        status, text = told(call)
        if call.note == "of a folder":
            assert "MEMORY.md" in text and "club.md" in text
        else:
            check_on(call, status, text)

    def checked_with_it_off(call: Call) -> None:
        status, text = told(call)
        check(call, status, text)
        assert call.does != Does.NOTHING or '.md"' not in text.replace(_CURATED, "")

    check_each(COMMANDS, checked_with_it_on, count=len(COMMANDS))
    switch_off(alice)
    check_each(COMMANDS, checked_with_it_off, count=len(COMMANDS))


@pytest.mark.django_db(transaction=True)
def test_mcp(alice: User, world: World) -> None:
    """The tools share what is there: the one that forgets it comes last."""
    agent = Agent(keys.create(name="agent", scopes=ALL_SCOPES, user=alice)[1])

    def checked_with_it_on(call: Call) -> None:
        assert WORD in str(agent.call(call.name, **call.sent))

    def checked_with_it_off(call: Call) -> None:
        sent = aimed(call.sent, world)
        if call.does == Does.REFUSES:
            assert agent.trouble(call.name, **sent)["code"] == "memory_off"
        else:
            told = agent.call(call.name, **sent)
            assert call.does == Does.ANSWERS or WORD not in str(told)

    finding = [call for call in TOOLS if call.does == Does.NOTHING]
    check_each(finding, checked_with_it_on, count=3, keeping=True)
    switch_off(alice)
    in_order = sorted(TOOLS, key=lambda call: call.name == "memory_forget")
    check_each(in_order, checked_with_it_off, count=len(tools.TOOLS), keeping=True)


# Nothing is left out.


def paths_of(module: Any) -> Iterator[tuple[str, Any]]:
    for one in module.urlpatterns:
        yield "/" + str(one.pattern).rstrip("/"), one.callback.cls


def calls_of(module: Any) -> set[str]:
    """`GET /a/{}` for all of them; what isn't offered is left out."""
    return {
        f"{method.upper()} {re.sub('<[^>]+>', '{}', path)}"
        for path, view in paths_of(module)
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(view, method) and view.__name__ not in ("AbsentView", "FileToolView")
    }


def named(calls: list[Call]) -> set[str]:
    return {re.sub(r"\{\w+\}", "{}", one.name).rstrip("/") for one in calls}


def test_every_call_that_serves_long_term_memory_is_here() -> None:
    beside = {"POST /memory/context", "POST /memory/export"}
    assert named(REST) - beside == calls_of(memory_urls)
    told = {one.replace("user/alice", "{}/{}") for one in named(MEM0)}
    assert told == calls_of(mem0_endpoints) - {"GET /v2/entities/{}/{}"}  # not offered
    assert {one.name for one in TOOLS} == {one.name for one in tools.TOOLS}
    commands = {"view", "create", "str_replace", "insert", "delete", "rename"}
    assert {one.name for one in COMMANDS} == commands
    assert {path for path, _ in paths_of(openai_views)}  # it recalls by /memory/context alone


def test_the_page_says_so() -> None:
    section = DOCS.read_text().split("## While memory is off")[1].split("\n## ")[0]
    rows = section.splitlines()
    calls = [*REST, *MEM0, *TOOLS, *COMMANDS]
    assert len(calls) == CALLS
    missing = [
        f"{call}: {call.does}"
        for call in calls
        if not any(
            row.startswith(f"| {call.does.value} |") and f"`{call.name}`" in row for row in rows
        )
    ]
    assert missing == []


def test_in_a_group_it_is_the_same(alice: User, alice_key: str, world: World) -> None:
    make_conversation(alice, external_id="g1", kind=ConversationKind.GROUP)
    switch_off(alice)
    body = {"message": _ANY, "conversation_id": "g1"}
    answer = Api(alice_key).post("/memory/context", body)
    assert answer.status_code == 200 and WORD not in answer.content.decode()
