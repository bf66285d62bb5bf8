"""Every call, form, tool and operation takes its locks in the order that `ops/access.py` says.

The calls are those of `test_audit_coverage`, which takes them from the addresses themselves; the
worker does what follows of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client

from memcenter.mcp import server
from memcenter.mcp.tools import TOOLS
from ops.access import as_user, lock_person
from ops.accounts import keys
from ops.models import User
from ops.queue import worker
from tests.case_loop import check_each
from tests.conftest import ALL_SCOPES
from tests.factories import make_memory
from tests.lock_order import Watched, watched
from tests.rules.forms import FilledForm, check_each_form
from tests.rules.test_audit_coverage import CALLS, GIVEN, SAID, call_other_product, make_retriable
from tests.rules.test_endpoints import Route, called, check_each_route, whole_key
from tests.rules.test_endpoints import ids as ids

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Iterator[Watched]:
    with watched() as seen:
        yield seen


def test_every_call_of_the_api_locks_in_order(alice: User, ids: dict[str, str]) -> None:
    key = whole_key(alice)

    def check(route: Route) -> None:
        with watched():
            make_retriable(route)
            assert called(route, key, ids).status_code < 500
            worker.drain()

    check_each_route(check)


def test_every_call_of_other_products_locks_in_order(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Alice plays chess.")

    def check(name: str) -> None:
        with watched():
            response = call_other_product(name, key=alice_key, memory=memory)
            assert response.status_code < 400
            b"".join(getattr(response, "streaming_content", ()))
            worker.drain()

    check_each(CALLS, check, count=len(CALLS))


def test_every_tool_locks_in_order(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "close_old_connections", lambda: None)  # the test's own
    memory = make_memory(alice, "Alice plays chess.")
    key, _text = keys.create(name="agent", scopes=ALL_SCOPES, user=alice)

    def check(name: str) -> None:
        given = {**GIVEN[name]}
        if "memory_id" in given:
            given["memory_id"] = memory.public_id
        with watched():
            [tool] = [one for one in TOOLS if one.name == name]
            server.perform(tool, given, key)
            worker.drain()

    check_each(GIVEN, check, count=len(GIVEN))


def test_every_form_locks_in_order() -> None:
    def check(form: FilledForm) -> None:
        with watched():
            response = form.send()
            assert response.status_code < 400
            b"".join(getattr(response, "streaming_content", ()))
            worker.drain()

    check_each_form(check)


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
