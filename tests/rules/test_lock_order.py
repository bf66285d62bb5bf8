"""Every call, form, tool and operation takes its locks in the order that `ops/access.py` says.

The calls are those of `test_audit_coverage`, which takes them from the addresses themselves; the
worker does what follows of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from memcenter.mcp import server
from memcenter.mcp.tools import TOOLS, Declared
from ops.access import as_user, lock_person
from ops.accounts import keys
from ops.models import User
from ops.queue import worker
from tests.conftest import ALL_SCOPES
from tests.factories import make_memory
from tests.lock_order import Watched, watched
from tests.rules.forms import FORMS, World, make_world, prepare
from tests.rules.test_audit_coverage import CALLS, GIVEN, SAID
from tests.rules.test_audit_coverage import moved as moved
from tests.rules.test_endpoints import Route, called, routes, whole_key
from tests.rules.test_endpoints import ids as ids

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Iterator[Watched]:
    with watched() as seen:
        yield seen


@pytest.mark.usefixtures("moved", "order")
@pytest.mark.parametrize("route", routes(), ids=str)
def test_every_call_of_the_api_locks_in_order(
    route: Route, alice: User, ids: dict[str, str]
) -> None:
    assert called(route, whole_key(alice), ids).status_code < 500
    worker.drain()


@pytest.mark.usefixtures("order")
@pytest.mark.parametrize("name", CALLS)
def test_every_call_of_other_products_locks_in_order(
    name: str, alice: User, alice_key: str
) -> None:
    memory = make_memory(alice, "Alice plays chess.")
    method, path = name.partition(" as ")[0].split(" ")
    body = orjson.dumps(CALLS[name]).replace(b"MEMORY", memory.public_id.encode())
    path = path.replace("<str:memory_id>", memory.public_id)
    path = path.replace("<str:kind>/<path:name>", "user/alice")
    response = Client(headers={"authorization": f"Token {alice_key}"}).generic(
        method.upper(), path, body, content_type="application/json"
    )
    assert response.status_code < 400
    b"".join(getattr(response, "streaming_content", ()))
    worker.drain()


@pytest.mark.usefixtures("order")
@pytest.mark.parametrize(
    "tool", [one for one in TOOLS if one.name in GIVEN], ids=lambda tool: tool.name
)
def test_every_tool_locks_in_order(
    tool: Declared, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "close_old_connections", lambda: None)  # the test's own
    memory = make_memory(alice, "Alice plays chess.")
    key, _text = keys.create(name="agent", scopes=ALL_SCOPES, user=alice)
    given = {**GIVEN[tool.name]}
    if "memory_id" in given:
        given["memory_id"] = memory.public_id
    server.perform(tool, given, key)
    worker.drain()


@pytest.mark.parametrize("name", FORMS)
def test_every_form_locks_in_order(name: str) -> None:
    client = Client()
    world: World = make_world(client)
    prepare(name, world, client)
    args, form = FORMS[name](world)
    with watched():
        response = client.post(reverse(name, args=args), form)
        assert response.status_code < 400
        b"".join(getattr(response, "streaming_content", ()))
        worker.drain()


def test_what_is_told_is_learned_in_order(alice: User, alice_key: str, order: Watched) -> None:
    client = Client(headers={"authorization": f"Bearer {alice_key}"})
    turn = {"user_message": SAID[0]["content"], "assistant_message": "Nice.", "user_id": "alice"}
    for said in ("I live in Porto.", "I moved from Porto to Lyon.", "Forget that I live in Lyon."):
        answer = client.post(
            "/api/v1/turns",
            {**turn, "user_message": said, "conversation_id": "c"},
            content_type="application/json",
        )
        assert answer.status_code == 201
        worker.drain()
    assert order.ever >= {"conversations_conversation", "memories_memory"}


# The watch itself.


def test_two_rows_without_the_person_are_out_of_order(alice: User) -> None:
    with watched() as seen, as_user(alice), connection.cursor() as cursor:
        cursor.execute("UPDATE ops_usersettings SET language = 'en'")
        assert seen.wrong == []
        cursor.execute("UPDATE ops_user SET display_name = 'Alice'")
        assert len(seen.wrong) == 2
        seen.wrong.clear()


def test_the_person_after_a_row_is_out_of_order(alice: User) -> None:
    with watched() as seen, as_user(alice), connection.cursor() as cursor:
        cursor.execute("UPDATE ops_usersettings SET language = 'en'")
        lock_person(alice)
        assert seen.wrong == ["the person after ['ops_usersettings']"]
        seen.wrong.clear()
