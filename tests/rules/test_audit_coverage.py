"""Every call that changes something is in the audit log: by whom, through what, ids only.

The calls are taken from the addresses themselves: a new one fails here until it is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyotp
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from conversations.models import Turn
from memcenter.mcp import calls
from memcenter.mcp.tools import TOOLS, Declared
from memories.models import Change, FileVersion, Memory, MemoryFile, Project
from ops.models import (
    ApiKey,
    AuditEvent,
    Identity,
    Kind,
    Operation,
    SecondFactor,
    SignIn,
    Status,
    User,
    Webhook,
)
from ops.services import audit, keys, outbox, users
from tests.conftest import ALL_SCOPES, key_row
from tests.factories import make_conversation, make_memory, make_turn, make_version
from tests.memories.pages import make_binned, make_candidate
from tests.rules.test_endpoints import Route, called, patterns, routes, whole_key
from tests.rules.test_endpoints import ids as ids

pytestmark = pytest.mark.django_db
PASSWORD = "correct-horse-battery"
WORDS = ("chess", "Mallory", "Stolen", "Oboe", PASSWORD)

# They read: what they leave behind is a trace that says itself what was asked.
READING = {
    "/api/v1/memory/context",
    "/api/v1/memories/search",
    "/v3/memories/search/",
    "/v3/memories/",
    "/v1/exports/",
    "/v1/summary/",
    "/v1/embeddings",
    "/v1/embeddings/",
}
# Nothing of a person is changed: a stream is cut, a visitor sees another language, what is said
# in passing is kept nowhere, a temporary chat is written nowhere.
APP = pyotp.random_base32()
CHANGING_NOTHING = {"conversation_stop", "temporary_new", "identity_connect"}


def newest_after(number: int) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(number__gt=number).order_by("number"))


def last_number() -> int:
    found = AuditEvent.objects.order_by("-number").first()
    return found.number or 0 if found else 0


def holds_ids_only(events: list[AuditEvent]) -> bool:
    told = orjson.dumps(
        [{"target": one.target, "details": one.details, "action": one.action} for one in events]
    ).decode()
    return not any(word.casefold() in told.casefold() for word in WORDS)


# The API.


def writes(route: Route) -> bool:
    return route.method != "get" and route.path not in READING


@pytest.fixture
def moved(ids: dict[str, str], route: Route) -> None:
    """Only what has failed can be tried again."""
    if route.path.endswith("/retry"):
        Operation.objects.update(status=Status.FAILED)


@pytest.mark.usefixtures("moved")
@pytest.mark.parametrize("route", [one for one in routes() if writes(one)], ids=str)
def test_every_call_of_the_api_that_writes_is_written_down(
    route: Route, alice: User, ids: dict[str, str]
) -> None:
    whole = whole_key(alice)
    before = last_number()
    response = called(route, whole, ids)
    assert response.status_code in (200, 201, 202), response.content
    events = newest_after(before)
    key = f"key {key_row(whole).pk}"
    acts = [one for one in events if one.action != "key.used"]
    assert acts and {(one.actor, one.surface, one.subject) for one in acts} == {
        (key, "api", alice.subject)
    }
    assert all(one.target or one.details for one in acts) and holds_ids_only(events)
    assert audit.first_break() is None


@pytest.mark.parametrize("route", [one for one in routes() if not writes(one)], ids=str)
def test_a_call_of_the_api_that_reads_is_not(
    route: Route, alice_key: str, ids: dict[str, str]
) -> None:
    before = last_number()
    called(route, alice_key, ids)
    assert {one.action for one in newest_after(before)} <= {"key.used"}


# mem0, OpenAI and the agents' tools.

SAID = [{"role": "user", "content": "I play the oboe."}]
CALLS: dict[str, Mapping[str, Any]] = {
    "post /v3/memories/add/": {"messages": SAID, "user_id": "alice"},
    "post /v3/memories/add/ as it is": {"messages": SAID, "user_id": "alice", "infer": False},
    "delete /v1/memories/": {"user_id": "alice"},
    "put /v1/memories/<str:memory_id>/": {"text": "Plays the oboe"},
    "delete /v1/memories/<str:memory_id>/": {},
    "put /v1/batch/": {"memories": [{"memory_id": "MEMORY", "text": "Plays the oboe"}]},
    "delete /v1/batch/": {"memories": [{"memory_id": "MEMORY"}]},
    "delete /v2/entities/<str:kind>/<path:name>/": {},
    "post /v1/feedback/": {"memory_id": "MEMORY", "feedback": "POSITIVE"},
    "post /v1/chat/completions": {"model": "demo", "messages": SAID},
}


def compat_routes() -> set[str]:
    """Writing methods under other products' paths, as they are routed."""
    found = set()
    for path, one in patterns(get_resolver()):
        view = getattr(one.callback, "cls", None)
        if view is None or path.startswith(("/api/", "/admin/")) or path in READING:
            continue
        if not re.match(r"/v\d/", path) or view.__name__ == "AbsentView":
            continue
        for method in ("post", "put", "patch", "delete"):
            if hasattr(view, method):
                found.add(f"{method} {path}")
    return {one for one in found if f"{one[:-1]}" not in found or not one.endswith("/")}


def test_every_writing_call_of_other_products_is_tried() -> None:
    tried = {one.partition(" as ")[0] for one in CALLS}
    reading = {"post /v1/exports/get/"}
    assert compat_routes() - reading == tried


@pytest.mark.parametrize("name", CALLS)
def test_every_writing_call_of_other_products_is_written_down(
    name: str, alice: User, alice_key: str
) -> None:
    memory = make_memory(alice, "Alice plays chess.")
    method, path = name.partition(" as ")[0].split(" ")
    body = orjson.dumps(CALLS[name]).replace(b"MEMORY", memory.public_id.encode())
    path = path.replace("<str:memory_id>", memory.public_id)
    path = path.replace("<str:kind>/<path:name>", "user/alice")
    before = last_number()
    response = Client(headers={"authorization": f"Token {alice_key}"}).generic(
        method.upper(), path, body, content_type="application/json"
    )
    assert response.status_code in (200, 201, 202, 204), response.content
    b"".join(getattr(response, "streaming_content", ()))
    events = [one for one in newest_after(before) if one.action != "key.used"]
    surface = "openai" if "chat" in path else "mem0"
    key = f"key {key_row(alice_key).pk}"
    assert {(one.actor, one.surface, one.subject) for one in events} == {
        (key, surface, alice.subject)
    }
    assert holds_ids_only(events)


GIVEN: dict[str, Mapping[str, Any]] = {
    "mem.ingest_memory": {
        "project_name": "Oboes",
        "content_type": "plan",
        "content": "The oboe comes in May.",
    },
    "memory_append": {"text": "The oboe was mended."},
    "memory_forget": {"memory_id": "MEMORY"},
}


def test_every_tool_that_changes_something_is_tried() -> None:
    changing = {one.name for one in TOOLS if not one.annotations.read_only_hint}
    assert changing == set(GIVEN)


@pytest.mark.parametrize(
    "tool", [one for one in TOOLS if one.name in GIVEN], ids=lambda tool: tool.name
)
def test_every_tool_that_changes_something_is_written_down(
    tool: Declared, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "close_old_connections", lambda: None)  # the test's own
    memory = make_memory(alice, "Alice plays chess.")
    key, _text = keys.create(name="agent", scopes=ALL_SCOPES, user=alice)
    given = {**GIVEN[tool.name]}
    if "memory_id" in given:
        given["memory_id"] = memory.public_id
    before = last_number()
    calls.perform(tool, tool.takes.model_validate(given), key)
    events = newest_after(before)
    assert {(one.actor, one.surface, one.subject) for one in events} == {
        (f"key {key.pk}", "mcp", alice.subject)
    }
    assert holds_ids_only(events)


# The pages.


@dataclass(frozen=True)
class World:
    """A person who has one of everything that a page can change."""

    user: User
    turn: Turn
    memory: Memory
    candidate: Memory
    binned: Memory
    file: MemoryFile
    binned_file: MemoryFile
    key: ApiKey
    failed: Operation
    waiting: Operation
    webhook: Webhook
    other_session: int


@pytest.fixture
def client() -> Client:
    return Client()


def _note(user: User, path: str, **more: Any) -> MemoryFile:
    file = MemoryFile.objects.create(user=user, path=path, content="x", **more)
    FileVersion.objects.create(user=user, file=file, number=1, content="x", actor="page")
    return file


@pytest.fixture
def world(client: Client) -> World:
    """Signed in by the page itself, a moment ago, and once more elsewhere."""
    user = users.register(username="ana", password=PASSWORD)
    elsewhere = Client()
    for one in (elsewhere, client):
        one.post("/signin/", {"username": "ana", "password": PASSWORD})
    turn = make_turn(make_conversation(user), "I play chess.", "Chess, nice.")
    project = Project.objects.create(user=user, key="p1")
    memory = make_memory(user, "Ana plays chess.", turns=[turn], project=project)
    make_version(memory, "Ana plays much chess.", change=Change.EDITED)
    operations = [
        outbox.enqueue(Kind.REINDEX, subject=user.subject, payload={"n": n}) for n in range(2)
    ]
    Operation.objects.filter(pk=operations[0].pk).update(status=Status.FAILED)
    return World(
        user=user,
        turn=turn,
        memory=memory,
        candidate=make_candidate(user, "Ana plays go."),
        binned=make_binned(user, "Ana played bridge."),
        file=_note(user, "plan.md"),
        binned_file=_note(user, "old.md", deleted_at=timezone.now()),
        key=keys.create(name="mine", scopes=["read"], user=user)[0],
        failed=operations[0],
        waiting=operations[1],
        webhook=Webhook.objects.create(
            user=user, url="https://ana.example/", events=["memory.created"], secret="s"
        ),
        other_session=SignIn.objects.filter(user=user).order_by("pk")[0].pk,
    )


Form = Callable[[World], tuple[list[Any], Mapping[str, Any]]]


def _memory(**form: Any) -> Form:
    return lambda world: ([world.memory.public_id], form)


def _file(**form: Any) -> Form:
    return lambda world: ([world.file.path], form)


def _conversation(**form: Any) -> Form:
    return lambda world: ([world.turn.conversation.public_id], form)


def _nothing(**form: Any) -> Form:
    return lambda world: ([], form)


FORMS: dict[str, Form] = {
    "conversation_new": _nothing(text="I play the oboe."),
    "conversation": _conversation(text="I play the oboe."),
    "conversation_answer": _conversation(),
    "conversation_edit": lambda world: (
        [world.turn.conversation.public_id],
        {"text": "I play the oboe.", "message": world.turn.user_message.public_id},
    ),
    "conversation_rename": _conversation(title="Oboe"),
    "conversation_export": _conversation(format="json"),
    "conversation_clear": _conversation(memories="on"),
    "conversation_delete": _conversation(memories="on"),
    "message_forget": lambda world: ([world.turn.user_message.public_id], {"cascade": "on"}),
    "message_rate": lambda world: (
        [world.turn.assistant_message.public_id],
        {"rating": "positive"},
    ),
    "turn_undo": lambda world: ([world.turn.public_id], {"memory": world.memory.public_id}),
    "export_everything": _nothing(format="zip", password=PASSWORD),
    "import_file": lambda world: (
        [],
        {"file": SimpleUploadedFile("x.md", b"## fact\n- Plays the oboe.\n")},
    ),
    "data_layer_delete": lambda world: (["memory"], {}),
    "memory_add": _nothing(content="Plays the oboe", kind="fact"),
    "memory_edit": _memory(content="Plays the oboe", kind="fact"),
    "memory_bulk": lambda world: ([], {"ids": [world.memory.public_id], "do": "pin"}),
    "memory_undo": lambda world: (["token"], {}),
    "memory_pin": _memory(),
    "memory_unpin": _memory(),
    "memory_disable": _memory(),
    "memory_enable": _memory(),
    "memory_delete": _memory(),
    "memory_restore": lambda world: ([world.binned.public_id], {}),
    "memory_forget": _memory(turns="on"),
    "memory_restore_version": lambda world: ([world.memory.public_id, 1], {}),
    "memory_decide": lambda world: ([world.candidate.public_id], {"decision": "accept"}),
    "memory_file_add": _nothing(path="mine.md", content="Plays the oboe"),
    "memory_file_edit": _file(content="Plays the oboe"),
    "memory_file_delete": _file(),
    "memory_file_restore": _file(version="1"),
    "memory_file_take_back": lambda world: ([world.binned_file.pk], {}),
    "memory_note_add": _nothing(text="Plays the oboe"),
    "bin_empty": _nothing(),
    "project_forget": lambda world: (["p1"], {}),
    "sign_in": _nothing(username="ana", password=PASSWORD),
    "sign_in_code": _nothing(code="spare code"),
    "second_factor_on": lambda world: (
        [],
        {"code": pyotp.TOTP(APP).now(), "password": PASSWORD},
    ),
    "second_factor_off": _nothing(password=PASSWORD),
    "second_factor_renew": _nothing(password=PASSWORD),
    "identity_disconnect": _nothing(password=PASSWORD),
    "register": _nothing(username="eve", password=PASSWORD, again=PASSWORD),
    "first_password": _nothing(username="ana", password=PASSWORD),
    "sign_out": _nothing(),
    "set_theme": _nothing(theme="dark"),
    "set_language": _nothing(language="zh-hans"),
    "save_preferences": _nothing(language="en", timezone="Asia/Shanghai", theme="dark"),
    "set_switch": lambda world: (["longterm_enabled"], {"longterm_enabled": "off"}),
    "api_keys": _nothing(name="Oboe", scopes=["read"], days="30"),
    "api_key_revoke": lambda world: ([world.key.pk], {}),
    "session_end_others": _nothing(),
    "session_end": lambda world: ([world.other_session], {}),
    "password_change": _nothing(current=PASSWORD, password="another-horse-battery"),
    "operation_retry": lambda world: ([world.failed.public_id], {}),
    "operation_cancel": lambda world: ([world.waiting.public_id], {}),
    "forget_everything": _nothing(phrase="delete everything", password=PASSWORD),
    "webhook_list": _nothing(url="https://93.184.216.34/", events=["memory.created"]),
    "webhook_try": lambda world: ([world.webhook.public_id], {}),
    "webhook_switch": lambda world: ([world.webhook.public_id], {"active": "off"}),
    "webhook_remove": lambda world: ([world.webhook.public_id], {}),
}


def posting_pages() -> set[str]:
    """The names of all pages that take a form: whatever doesn't refuse one."""
    found = set()
    for path, one in patterns(get_resolver()):
        view = getattr(one.callback, "cls", None)
        if view is not None or path.startswith(("/admin/", "/mcp", "/readyz", "/static")):
            continue
        given = dict.fromkeys(one.pattern.regex.groupindex, 1)
        if Client().post(reverse(str(one.name), kwargs=given)).status_code != 405:
            found.add(str(one.name))
    return found


def test_every_page_that_takes_a_form_is_tried() -> None:
    assert posting_pages() - CHANGING_NOTHING == set(FORMS)


def prepare(name: str, world: World, client: Client) -> None:
    """What must be so before the page can do anything."""
    if name in ("sign_in", "register", "sign_in_code"):
        client.logout()
    prepare_signing_in(name, world, client)
    if name == "first_password":
        User.objects.filter(pk=world.user.pk).update(password="!", username=None)
        client.force_login(User.objects.get(pk=world.user.pk))
        session = client.session
        session["signed_in_at"] = timezone.now().timestamp()
        session.save()
    if name == "memory_enable":
        Memory.objects.filter(pk=world.memory.pk).update(status="disabled")
    if name == "memory_unpin":
        Memory.objects.filter(pk=world.memory.pk).update(pinned=True)
    if name == "memory_undo":
        session = client.session
        session["undo"] = {"token": [world.binned.public_id]}
        session.save()
    if name == "conversation_answer":
        Turn.objects.all().delete()
        world.turn.assistant_message.delete()
    if name == "turn_undo":
        world.memory.versions.filter(number__gt=1).delete()
        Memory.objects.filter(pk=world.memory.pk).update(current_version=1)


def prepare_signing_in(name: str, world: World, client: Client) -> None:
    if name in ("sign_in_code", "second_factor_off", "second_factor_renew"):
        spare = keys.digest("sparecode")
        SecondFactor.objects.create(user=world.user, secret=APP, recovery=[spare])
    if name == "sign_in_code":
        client.post("/signin/", {"username": "ana", "password": PASSWORD})
    if name == "second_factor_on":
        session = client.session
        session["new_second_factor"] = APP
        session.save()
    if name == "identity_disconnect":
        Identity.objects.create(user=world.user, issuer="https://id.example", sub="ana")


@pytest.mark.parametrize("name", FORMS)
def test_every_page_that_takes_a_form_is_written_down(
    name: str, world: World, client: Client
) -> None:
    prepare(name, world, client)
    before, (args, form) = last_number(), FORMS[name](world)
    response = client.post(reverse(name, args=args), form)
    assert response.status_code in (200, 204, 302, 303), (response.status_code, response.content)
    b"".join(getattr(response, "streaming_content", ()))
    events = newest_after(before)
    assert events, name
    actors = {"visitor"} if name in ("sign_in", "register", "sign_in_code") else {"user"}
    assert {(one.actor, one.surface) for one in events} == {(*actors, "page")}
    whose = {one.subject for one in events}
    assert whose == {world.user.subject} or (name == "register" and None not in whose)
    assert holds_ids_only(events)
