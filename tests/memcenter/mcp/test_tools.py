"""The tools by JSON-RPC, through our own view, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import orjson
import pytest
from django.conf import settings
from django.db import connections
from django.test import Client

from conversations.models import Message
from memcenter.mcp import schemas, server
from memcenter.mcp.tools import SURFACE, TOOLS
from memories.models import DailyNote, Memory, MemoryStatus
from memories.models.memory import OF_PROJECTS
from memories.recall import search
from ops.accounts import keys, users
from ops.models import ApiKey, AuditEvent, Operation, User
from ops.queue import worker
from tests.case_loop import check_each
from tests.conftest import ALL_SCOPES
from tests.factories import make_conversation, make_memory, make_turn
from tests.live import ROOT
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db(transaction=True)
GIVES = {one.name: schemas.json_schema(one.gives(), is_result=True) for one in TOOLS}
ACCEPT = "application/json, text/event-stream"


@pytest.fixture(autouse=True)
def no_connections_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tools' threads keep theirs; other tests' databases must not be held by them."""
    server._threads.cache_clear()
    monkeypatch.setattr(settings, "LONG_ANSWERS", 1)
    yield
    server._threads().submit(connections.close_all).result()
    server._threads().shutdown()
    server._threads.cache_clear()


class Agent:
    def __init__(self, key: str | None) -> None:
        self.headers = {"accept": ACCEPT} | ({"authorization": f"Bearer {key}"} if key else {})

    def send(self, body: bytes, **headers: str) -> Any:
        client = Client(raise_request_exception=False)
        return client.post(
            "/mcp", body, content_type="application/json", headers=self.headers | headers
        )

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        response = self.send(orjson.dumps(message))
        assert response.status_code == 200, response.content
        found: dict[str, Any] = orjson.loads(response.content)["result"]
        return found

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert not result.get("isError"), result
        told: dict[str, Any] = result["structuredContent"]
        assert orjson.loads(result["content"][0]["text"]) == told
        jsonschema.validate(told, GIVES[name])
        return told

    def trouble(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert result["isError"], result
        error: dict[str, Any] = result["structuredContent"]["error"]
        assert error["message"] in result["content"][0]["text"]
        return error


@pytest.fixture
def bob() -> User:
    return users.find_or_create("bob")


@pytest.fixture
def agent(bob: User) -> Agent:
    return Agent(keys.create(name="bob's", scopes=ALL_SCOPES, user=bob)[1])


@pytest.fixture
def stranger() -> Agent:
    eve = users.find_or_create("eve")
    return Agent(keys.create(name="eve's", scopes=ALL_SCOPES, user=eve)[1])


@pytest.fixture
def backend() -> Agent:
    return Agent(keys.create(name="backend", scopes=ALL_SCOPES)[1])


def plan(content: str, **more: Any) -> dict[str, Any]:
    return {"project_name": "Agent Mem", "content_type": "plan", "content": content} | more


def test_a_client_that_says_hello_is_told_how_to_begin(agent: Agent) -> None:
    client = {"name": "test", "version": "1"}
    told = agent.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    assert told["serverInfo"]["name"] == "memory-center" and "tools" in told["capabilities"]
    guide = told["instructions"]
    assert "mem.search" in guide and guide in (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    [prompt] = agent.ask("prompts/list")["prompts"]
    [message] = agent.ask("prompts/get", name=prompt["name"])["messages"]
    assert message["content"]["text"] == guide


def test_every_tool_says_what_it_takes_gives_and_does(agent: Agent) -> None:
    tools = {one["name"]: one for one in agent.ask("tools/list")["tools"]}
    assert set(tools) == {
        *("mem.ingest_memory", "mem.search", "mem.get", "mem.timeline", "mem.list_projects"),
        *("memory_search", "memory_append", "memory_forget"),
    }
    for one in tools.values():
        assert one["description"] and one["title"]
        assert one["inputSchema"]["type"] == one["outputSchema"]["type"] == "object"
    hints = {name: one["annotations"] for name, one in tools.items()}
    reading = {name for name, one in hints.items() if one["readOnlyHint"]}
    assert reading == set(tools) - {"mem.ingest_memory", "memory_append", "memory_forget"}
    assert [name for name, one in hints.items() if one["destructiveHint"]] == ["memory_forget"]
    assert {"from", "to", "owner_id"} <= set(tools["mem.timeline"]["inputSchema"]["properties"])


def test_a_page_is_stored_found_and_fetched_in_two_steps(
    agent: Agent, bob: User, pairs: FakePairs
) -> None:
    pairs.says("Release 2.0 ships in May.", "Release 2.0 is postponed to June.", "newer")
    told = agent.call("mem.ingest_memory", **plan("Release 2.0 ships in May."), machine_name="desk")
    assert (told["status"], told["verdict"]) == ("created", "ADD")
    newer = agent.call("mem.ingest_memory", **plan("Release 2.0 is postponed to June."))
    assert (newer["status"], newer["id"]) == ("updated", told["id"])
    found = agent.call("mem.search", query="release", project_name="Agent Mem", scope="plan")
    assert found["next_action"] == "use_ids_to_call_mem_get"
    assert [one["id"] for one in found["results"]] == [told["id"]]
    whole = agent.call("mem.get", ids=[told["id"], "mem_none"])
    assert [one["content"] for one in whole["results"]] == ["Release 2.0 is postponed to June."]
    assert whole["missing"] == ["mem_none"] and whole["results"][0]["version"] == 2
    [project] = agent.call("mem.list_projects")["results"]
    assert (project["project_key"], project["memory_count"]) == ("agent-mem", 1)
    assert project["machines"] == ["desk"]
    assert Memory.objects.get().user == bob


def test_a_timeline_goes_on_where_it_ended(agent: Agent, bob: User) -> None:
    made = [make_memory(bob, f"Fact {n}.").public_id for n in range(5)]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = agent.call("mem.timeline", limit=2, **cursor)
        seen += [one["id"] for one in page["results"]]
        cursor = {"cursor": page["next_cursor"]}
    assert seen == made[::-1] and cursor == {"cursor": None}
    assert agent.call("mem.timeline", **{"from": "2090-01-01T00:00:00Z"})["results"] == []
    assert agent.trouble("mem.timeline", cursor="nonsense")["fields"].keys() == {"cursor"}


def test_a_line_is_appended_and_found(agent: Agent) -> None:
    line = agent.call("memory_append", text="The boiler was fixed.")
    assert line["line"] == 1 and line["path"].startswith("memory/")
    assert DailyNote.objects.get().source == SURFACE
    found = agent.call("memory_search", query="boiler")["results"]
    assert [(one["type"], one["id"]) for one in found] == [("note", line["id"])]


def test_in_a_group_nothing_of_the_person_is_found(agent: Agent, bob: User) -> None:
    agent.call("memory_append", text="The boiler was fixed.")
    make_memory(bob, "Bob fixed the boiler.")
    make_turn(make_conversation(bob), "My boiler is broken.")
    group = make_conversation(bob, kind="group", external_id="team")
    make_turn(group, "Whose boiler is it?")
    found = agent.call("memory_search", query="boiler")["results"]
    assert {one["type"] for one in found} == {"note", "memory", "message"}
    wanted = {"query": "boiler", "conversation_kind": "group"}
    assert agent.call("memory_search", **wanted)["results"] == []
    found = agent.call("memory_search", query="boiler", conversation_id="team")["results"]
    assert {(one["type"], one["conversation_id"]) for one in found} == {
        ("message", group.public_id)
    }
    assert (
        "conversation_kind"
        in agent.trouble("memory_search", query="x", conversation_kind="y")["fields"]
    )


def test_a_forgotten_memory_is_gone_at_once_and_for_good(agent: Agent, bob: User) -> None:
    memory = make_memory(bob, "Bob plays chess.")
    told = agent.call("memory_forget", memory_id=memory.public_id)
    assert told["status"] == "accepted"
    assert agent.call("mem.get", ids=[memory.public_id])["missing"] == [memory.public_id]
    assert agent.call("memory_search", query="chess")["results"] == []
    worker.drain()
    assert Operation.objects.get(public_id=told["op_id"]).status == "succeeded"
    assert not Memory.everything.exists()
    asked = AuditEvent.objects.filter(surface=SURFACE, action__startswith="forget")
    key = ApiKey.objects.get()
    assert {one.actor for one in asked} == {f"key {key.pk}"}


def test_what_is_to_be_forgotten_in_words_is_asked_unless_it_is_plain(
    agent: Agent, bob: User, pairs: FakePairs
) -> None:
    texts = ("Lives in Brno", "Works in Brno", "Plays the cello")
    home, work, _ = [make_memory(bob, text) for text in texts]
    told = agent.call("memory_forget", about="Forget that I live in Brno.")
    assert (told["status"], told["op_id"]) == ("needs_choice", None)
    assert told["memory_ids"] == [home.public_id, work.public_id]
    assert agent.call("memory_forget", about="my motorbike")["status"] == "nothing_found"
    chosen = agent.call("memory_forget", memory_ids=[home.public_id])
    assert chosen["status"] == "accepted" and chosen["op_id"]
    pairs.means("Plays the cello")
    assert agent.call("memory_forget", about="I play the cello")["status"] == "accepted"
    assert list(Memory.objects.all()) == [work]


def test_what_the_same_message_said_is_offered_after_a_clear_match(
    agent: Agent, bob: User, pairs: FakePairs
) -> None:
    turn = make_turn(make_conversation(bob), "I play the cello, the interview is on the 3rd")
    make_memory(bob, "Plays the cello", turns=[turn])
    interview = make_memory(bob, "Has an interview on the 3rd", turns=[turn])
    pairs.means("Plays the cello")
    told = agent.call("memory_forget", about="I play the cello")
    assert (told["status"], told["also_ids"]) == ("accepted", [interview.public_id])


def test_chosen_messages_are_named_by_the_ids_of_the_chat_too(agent: Agent, bob: User) -> None:
    for name in ("c1", "c2"):
        turn = make_turn(make_conversation(bob, external_id=name), "I play chess.")
        Message.objects.filter(pk=turn.user_message_id).update(external_id="q")
    unclear = agent.trouble("memory_forget", message_ids=["q"])
    assert unclear["fields"].keys() == {"conversation_id"}
    assert agent.call("memory_forget", message_ids=["q"], conversation_id="c2")["op_id"]
    assert {one.conversation.external_id for one in Message.objects.all()} == {"c1"}
    assert agent.call("memory_forget", message_ids=["q"])["op_id"]
    assert not Message.objects.exists()


def test_what_to_forget_is_named_in_one_way(agent: Agent, bob: User) -> None:
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"about": "tea", "memory_id": "mem_1"},
        {"memory_ids": []},
        {"memory_id": "mem_1", "conversation_id": "c1"},
    )
    for given in ways:
        assert agent.trouble("memory_forget", **given)["code"] == "invalid", given


def test_a_stranger_reads_and_forgets_nothing(stranger: Agent, bob: User) -> None:
    memory = make_memory(bob, "Bob plays chess.")
    assert stranger.call("mem.search", query="chess")["results"] == []
    assert stranger.call("memory_search", query="chess")["results"] == []
    assert stranger.call("mem.get", ids=[memory.public_id])["results"] == []
    for name, more in (
        ("mem.search", {"query": "chess"}),
        ("mem.timeline", {}),
        ("mem.list_projects", {}),
        ("memory_search", {"query": "chess"}),
        ("memory_append", {"text": "Eve was here."}),
        ("mem.ingest_memory", plan("Eve was here.")),
        ("mem.get", {"ids": [memory.public_id]}),
        ("memory_forget", {"memory_id": memory.public_id}),
    ):
        assert stranger.trouble(name, owner_id="bob", **more)["code"] == "not_found", name
    assert stranger.trouble("memory_forget", memory_id=memory.public_id)["code"] == "not_found"
    assert list(Memory.objects.all()) == [memory] and not DailyNote.objects.exists()


def test_a_backend_names_the_owner_or_means_the_default(
    backend: Agent, bob: User, settings: Any
) -> None:
    memory = make_memory(bob, "Bob plays chess.")
    assert "owner_id" in backend.trouble("mem.search", query="chess")["fields"]
    assert len(backend.call("mem.search", query="chess", owner_id="bob")["results"]) == 1
    backend.call("memory_append", text="New here.", owner_id="carol")
    assert DailyNote.objects.get().user == users.find("carol")
    assert backend.call("memory_search", query="x", owner_id="nobody")["results"] == []
    assert not User.objects.filter(external_id="nobody").exists()
    settings.DEFAULT_OWNER = "bob"
    assert len(backend.call("mem.search", query="chess")["results"]) == 1
    assert len(backend.call("mem.get", ids=[memory.public_id])["results"]) == 1


@pytest.mark.parametrize("kind", sorted(OF_PROJECTS))
def test_a_page_of_a_project_names_it_or_means_the_default(
    agent: Agent, settings: Any, kind: str
) -> None:
    page = {"content_type": kind, "content": "Ships in May."}
    trouble = agent.trouble("mem.ingest_memory", **page)
    assert trouble["code"] == "invalid" and list(trouble["fields"]) == ["project_name"]
    assert not Memory.objects.exists()
    settings.DEFAULT_PROJECT = "General Works"
    agent.call("mem.ingest_memory", **page)
    project = Memory.objects.get().project
    assert project is not None and project.key == "general-works"


def test_what_is_about_the_person_needs_no_project(agent: Agent) -> None:
    agent.call("mem.ingest_memory", content_type="preference", content="Likes tea.")
    assert Memory.objects.get().project is None


# Of each tool a call that names nobody.
CALLS: dict[str, dict[str, Any]] = {
    "mem.search": {"query": "chess"},
    "mem.get": {"ids": ["mem_1"]},
    "mem.timeline": {},
    "mem.list_projects": {},
    "memory_search": {"query": "chess"},
    "memory_append": {"text": "Eve was here."},
    "mem.ingest_memory": plan("Eve was here."),
    "memory_forget": {"memory_id": "mem_1"},
}


def test_each_tool_has_a_call_here() -> None:
    assert CALLS.keys() == {one.name for one in TOOLS}


def test_a_call_of_a_backend_that_names_nobody_is_refused(
    backend: Agent, bob: User, settings: Any
) -> None:
    memory = make_memory(bob, "Bob plays chess.").public_id
    own = {"memory_id": memory, "ids": [memory]}

    def check(name: str) -> None:
        call = {field: own.get(field, value) for field, value in CALLS[name].items()}
        settings.DEFAULT_OWNER = ""
        assert "owner_id" in backend.trouble(name, **call)["fields"]
        settings.DEFAULT_OWNER = "eve"
        for empty in ("", " \n"):
            assert "owner_id" in backend.trouble(name, **call, owner_id=empty)["fields"]
        assert Memory.objects.filter(user=bob).count() == 1

    check_each(CALLS, check, count=len(TOOLS), keeping=True)


def test_the_ids_of_others_are_not_the_default_owners(
    backend: Agent, bob: User, settings: Any
) -> None:
    users.find_or_create("eve")
    settings.DEFAULT_OWNER = "eve"
    memory = make_memory(bob, "Bob plays chess.").public_id
    assert backend.call("mem.get", ids=[memory]) == {"results": [], "missing": [memory]}
    assert backend.trouble("memory_forget", memory_id=memory)["code"] == "not_found"
    assert Memory.objects.filter(user=bob).exists()


TOO_NARROW: list[tuple[str, str, dict[str, Any]]] = [
    ("write", "mem.search", {"query": "x"}),
    ("read", "memory_append", {"text": "x"}),
    ("read", "mem.ingest_memory", plan("x")),
    ("write", "memory_forget", {"memory_id": "mem_x"}),
]


def test_a_key_does_only_what_its_scopes_say(bob: User) -> None:
    def check(case: tuple[str, str, dict[str, Any]]) -> None:
        scope, name, arguments = case
        narrow = Agent(keys.create(name="narrow", scopes=[scope], user=bob)[1])
        error = narrow.trouble(name, **arguments)
        assert error["code"] == "not_allowed" and "scope" in error["message"]

    check_each(TOO_NARROW, check, count=4, keeping=True)


def test_without_a_living_key_nothing_is_answered(bob: User) -> None:
    for key in (None, "mc_wrong"):
        response = Agent(key).send(b"{}")
        assert response.status_code == 401 and response["WWW-Authenticate"].startswith("Bearer")
        assert response.json()["error"]["code"] == "unauthenticated"
    row, text = keys.create(name="old", scopes=ALL_SCOPES, user=bob)
    keys.revoke(row)
    assert Agent(text).send(b"{}").status_code == 401


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("mem.search", {}, "query"),
    ("mem.search", {"query": " "}, "query"),
    ("mem.search", {"query": "x", "limit": 0}, "limit"),
    ("mem.search", {"query": "x", "scope": "novel"}, "scope"),
    ("mem.search", {"query": "x", "owner_id": "x" * 65}, "owner_id"),
    ("mem.get", {"ids": []}, "ids"),
    ("mem.get", {"ids": ["note_1"]}, "ids"),
    ("mem.ingest_memory", {"content_type": "plan"}, "content"),
    ("mem.ingest_memory", plan("x" * 200_001), "content"),
    ("mem.ingest_memory", plan("a\x00b"), "content"),
    ("mem.ingest_memory", plan("x", ts=1e40), "ts"),
    ("mem.ingest_memory", plan("x", tags=[""]), "tags"),
    ("memory_append", {"text": ""}, "text"),
    ("memory_append", {"text": "My password is hunter2-Zebra!"}, "text"),
    ("memory_forget", {"memory_id": "mem_x", "all": True}, "all"),
    ("memory_forget", {}, "memory_id"),
    ("mem.timeline", {"from": "soon"}, "from"),
]


def test_wrong_arguments_are_named_and_never_quoted(agent: Agent) -> None:
    def check(case: tuple[str, dict[str, Any], str]) -> None:
        name, arguments, field = case
        error = agent.trouble(name, **arguments)
        assert error["code"] == "invalid" and list(error["fields"]) == [field]
        assert "hunter2" not in str(error)

    check_each(WRONG, check, count=17, keeping=True)


def test_with_memory_off_agents_write_and_find_nothing(agent: Agent, bob: User) -> None:
    make_memory(bob, "Bob plays chess.")
    users.change_settings(user=bob, changes={"longterm_enabled": False})
    for name, arguments in (("memory_append", {"text": "x"}), ("mem.ingest_memory", plan("x"))):
        assert agent.trouble(name, **arguments)["code"] == "memory_off"
    assert agent.call("mem.search", query="chess")["results"] == []
    assert agent.call("memory_search", query="chess")["results"] == []


def test_what_the_person_confirms_waits(agent: Agent, bob: User) -> None:
    users.change_settings(user=bob, changes={"confirm_before_remembering": True})
    told = agent.call("mem.ingest_memory", **plan("Ship in May."))
    assert told["memory_status"] == MemoryStatus.CANDIDATE


def test_too_many_calls_are_told_to_come_back(agent: Agent, settings: Any) -> None:
    settings.RATE_LIMIT_HEAVY = 1
    agent.trouble("memory_forget", memory_id="mem_x")
    assert agent.trouble("memory_forget", memory_id="mem_x")["code"] == "rate_limited"


@pytest.mark.parametrize("kind", [OSError, KeyError])
def test_a_crash_says_nothing_of_what_was_sent(
    agent: Agent,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    kind: type[Exception],
) -> None:
    word = "".join(["planted", "word"])

    def broken(*args: Any, **more: Any) -> None:
        raise kind(word)

    monkeypatch.setattr(search, "search", broken)
    error = agent.trouble("memory_search", query=word)
    assert error["code"] == "unavailable" and word not in str(error)
    assert word not in caplog.text and kind.__name__ in caplog.text


def test_what_is_no_message_is_refused(agent: Agent) -> None:
    def check(body: bytes) -> None:
        assert agent.send(body).status_code == 400

    bodies = [b"", b"[]", b"{", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "id": 1}', b"\xff"]
    check_each(bodies, check, count=6, keeping=True)


def test_an_unknown_tool_or_method_is_an_error_of_the_protocol(agent: Agent) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/fly"}
    response = agent.send(orjson.dumps(ask))
    assert orjson.loads(response.content)["error"]["code"] == -32601
    assert agent.ask("tools/call", name="mem.fly", arguments={})["isError"]


def test_nothing_but_posting_is_offered(agent: Agent) -> None:
    client = Client(headers=agent.headers)
    for method in (client.get, client.delete, client.put):
        assert method("/mcp").status_code == 405


def test_a_message_may_be_as_large_as_the_longest_page(agent: Agent) -> None:
    too_large = b" " * (server.max_body_bytes() + 1)
    assert agent.send(too_large).status_code == 413


def test_more_than_its_share_of_threads_is_never_taken(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memcenter.mcp import views
    from memcenter.rest.throttling import ConcurrencyLimit

    full = ConcurrencyLimit(1)
    monkeypatch.setattr(views, "_share", full)
    place = full.acquire()
    response = agent.send(b"{}")
    assert response.status_code == 429 and response["Retry-After"]
    place.close()
    assert agent.send(b"{}").status_code == 400
