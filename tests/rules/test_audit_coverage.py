"""Every call that changes something is in the audit log: by whom, through what, ids only.

The calls are taken from the addresses themselves: a new one fails here until it is tried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from memcenter.mcp import server
from memcenter.mcp.tools import TOOLS, ToolDeclaration
from memories.models import Memory
from ops import audit_chain
from ops.accounts import keys
from ops.models import AuditEvent, Operation, Status, User
from tests.case_loop import check_each
from tests.conftest import ALL_SCOPES, key_row
from tests.factories import make_memory
from tests.rules.forms import FORMS, OF_OWNERS, PASSWORD, FilledForm, check_each_form
from tests.rules.test_endpoints import (
    Route,
    called,
    check_each_route,
    endpoint_count,
    patterns,
    routes,
    whole_key,
)
from tests.rules.test_endpoints import ids as ids

pytestmark = pytest.mark.django_db
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
# in passing is kept nowhere, a temporary chat is written nowhere, a change is only shown.
CHANGING_NOTHING = {"conversation_stop", "temporary_new", "identity_connect", "memory_tell"}
CHANGING_NOTHING |= {"welcome"}  # it sets only a cookie


def newest_after(number: int) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(pk__gt=number).order_by("pk"))


def last_number() -> int:
    found = AuditEvent.objects.order_by("-pk").first()
    return found.pk if found else 0


def holds_ids_only(events: list[AuditEvent]) -> bool:
    told = orjson.dumps(
        [{"target": one.target, "details": one.details, "action": one.action} for one in events]
    ).decode()
    return not any(word.casefold() in told.casefold() for word in WORDS)


# The API.

READ_CALLS = 36  # counted by hand


def writes(route: Route) -> bool:
    return route.method != "get" and route.path not in READING


def make_retriable(route: Route) -> None:
    """Only what has failed can be tried again."""
    if route.path.endswith("/retry"):
        Operation.objects.update(status=Status.FAILED)


def test_every_call_of_the_api_that_writes_is_written_down(
    alice: User, ids: dict[str, str]
) -> None:
    whole = whole_key(alice)
    key = f"key {key_row(whole).pk}"

    def check(route: Route) -> None:
        make_retriable(route)
        before = last_number()
        response = called(route, whole, ids)
        assert response.status_code in (200, 201, 202), response.content
        events = newest_after(before)
        acts = [one for one in events if one.action != "key.used"]
        assert acts and {(one.actor, one.surface, one.subject) for one in acts} == {
            (key, "api", alice.subject)
        }
        assert all(one.target or one.details for one in acts) and holds_ids_only(events)
        assert audit_chain.first_break() is None

    writing = [one for one in routes() if writes(one)]
    check_each_route(check, writing, count=endpoint_count() - READ_CALLS)


def test_a_call_of_the_api_that_reads_is_not(alice_key: str, ids: dict[str, str]) -> None:
    def check(route: Route) -> None:
        before = last_number()
        called(route, alice_key, ids)
        assert {one.action for one in newest_after(before)} <= {"key.used"}

    reading = [one for one in routes() if not writes(one)]
    check_each_route(check, reading, count=READ_CALLS)


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


def call_other_product(name: str, *, key: str, memory: Memory) -> Any:
    method, path = name.partition(" as ")[0].split(" ")
    body = orjson.dumps(CALLS[name]).replace(b"MEMORY", memory.public_id.encode())
    path = path.replace("<str:memory_id>", memory.public_id)
    path = path.replace("<str:kind>/<path:name>", "user/alice")
    return Client(headers={"authorization": f"Token {key}"}).generic(
        method.upper(), path, body, content_type="application/json"
    )


def test_every_writing_call_of_other_products_is_written_down(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice plays chess.")
    key = f"key {key_row(alice_key).pk}"

    def check(name: str) -> None:
        before = last_number()
        response = call_other_product(name, key=alice_key, memory=memory)
        assert response.status_code in (200, 201, 202, 204), response.content
        b"".join(getattr(response, "streaming_content", ()))
        events = [one for one in newest_after(before) if one.action != "key.used"]
        surface = "openai" if "chat" in name else "mem0"
        assert {(one.actor, one.surface, one.subject) for one in events} == {
            (key, surface, alice.subject)
        }
        assert holds_ids_only(events)

    check_each(CALLS, check, count=len(CALLS))


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
    tool: ToolDeclaration, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "close_old_connections", lambda: None)  # the test's own
    memory = make_memory(alice, "Alice plays chess.")
    key, _text = keys.create(name="agent", scopes=ALL_SCOPES, user=alice)
    given = {**GIVEN[tool.name]}
    if "memory_id" in given:
        given["memory_id"] = memory.public_id
    before = last_number()
    server.perform(tool, given, key)
    events = newest_after(before)
    assert {(one.actor, one.surface, one.subject) for one in events} == {
        (f"key {key.pk}", "mcp", alice.subject)
    }
    assert holds_ids_only(events)


# The pages.


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


def test_every_page_that_takes_a_form_is_written_down() -> None:
    def check(form: FilledForm) -> None:
        before = last_number()
        response = form.send()
        told = (response.status_code, response.content)
        assert response.status_code in (200, 204, 302, 303), told
        b"".join(getattr(response, "streaming_content", ()))
        events = newest_after(before)
        assert events
        world, name = form.world, form.name
        visits = name in ("sign_in", "register", "join", "sign_in_code")
        actor = "visitor" if visits else "user"
        actor = f"staff {world.user.pk}" if name in OF_OWNERS else actor
        assert {(one.actor, one.surface) for one in events} == {(actor, "page")}
        whose = {one.subject for one in events}
        if name == "registration_switch":
            assert whose == {None}
        elif name in OF_OWNERS | {"register", "join"}:
            assert None not in whose
        else:
            assert whose == {world.user.subject}
        assert holds_ids_only(events)

    check_each_form(check)
