"""Whose memories mem0's calls mean, and the keys that refuse calls which name nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from memcenter.compat.mem0 import other_endpoints
from memcenter.compat.mem0.other_endpoints import AbsentView, PingView
from ops.accounts import keys
from ops.models import User
from tests.case_loop import check_each
from tests.conftest import ALL_SCOPES
from tests.factories import make_memory
from tests.rows import rows_of

pytestmark = pytest.mark.django_db
METHODS = ("get", "post", "put", "delete")
Calls = dict[str, tuple[str, Any]]

# Each call of the protocol as it may be made without naming a person. An export's id carries the
# filters that were checked when it was asked for.
UNNAMED: Calls = {
    "post v3/memories/add/": ("/v3/memories/add/", {"messages": "I like tea.", "agent_id": "a"}),
    "post v3/memories/search/": (
        "/v3/memories/search/",
        {"query": "tea", "filters": {"agent_id": "a"}},
    ),
    "post v3/memories/": ("/v3/memories/", {"filters": {"agent_id": "a"}}),
    "delete v1/memories/": ("/v1/memories/?agent_id=a", None),
    "get v1/memories/<str:memory_id>/history/": ("/v1/memories/MEMORY/history/", None),
    "get v1/memories/<str:memory_id>/": ("/v1/memories/MEMORY/", None),
    "put v1/memories/<str:memory_id>/": ("/v1/memories/MEMORY/", {"text": "Likes coffee"}),
    "delete v1/memories/<str:memory_id>/": ("/v1/memories/MEMORY/", None),
    "put v1/batch/": ("/v1/batch/", {"memories": [{"memory_id": "MEMORY", "text": "Coffee"}]}),
    "delete v1/batch/": ("/v1/batch/", {"memories": [{"memory_id": "MEMORY"}]}),
    "delete v2/entities/<str:kind>/<path:name>/": ("/v2/entities/agent/a/", None),
    "post v1/exports/": ("/v1/exports/", {"filters": {"agent_id": "a"}}),
    "post v1/exports/get/": ("/v1/exports/get/", {"filters": {"agent_id": "a"}}),
    "post v1/summary/": ("/v1/summary/", {"filters": {"agent_id": "a"}}),
    "post v1/feedback/": ("/v1/feedback/", {"memory_id": "MEMORY", "feedback": "POSITIVE"}),
    "get v1/events/": ("/v1/events/", None),
    "get v1/event/<str:op_id>/": ("/v1/event/MEMORY/", None),
}
# It lists everybody, for the scope `admin`; a profile isn't offered.
OF_ALL = ("get v1/entities/", "get v2/entities/<str:kind>/<path:name>/")


def routes() -> Iterator[str]:
    for one in other_endpoints.urlpatterns:
        view: Any = getattr(one.callback, "cls", None)
        if view not in (AbsentView, PingView):
            yield from (f"{name} {one.pattern}" for name in METHODS if hasattr(view, name))


@pytest.fixture
def memory(alice: User) -> str:
    return make_memory(alice, "Likes tea", agent_id="a").public_id


def called(route: str, key: str, memory: str) -> Any:
    path, body = UNNAMED[route]
    text = None if body is None else json.dumps(body).replace("MEMORY", memory)
    return Client(headers={"authorization": f"Token {key}"}).generic(
        route.partition(" ")[0].upper(),
        path.replace("MEMORY", memory),
        text or "",
        content_type="application/json",
    )


def unbound(*, requires_user: bool) -> str:
    return keys.create(name="mem0", scopes=ALL_SCOPES, requires_user=requires_user)[1]


def test_each_call_of_the_protocol_is_made_here() -> None:
    assert {*UNNAMED, *OF_ALL} == set(routes())


def test_a_key_that_requires_a_user_refuses_a_call_that_names_none(
    alice: User, memory: str, settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    key, before = unbound(requires_user=True), rows_of(alice)

    def check(route: str) -> None:
        response = called(route, key, memory)
        assert response.status_code == 400, response.content
        assert "user_id" in response.json()["error"]["fields"]
        assert rows_of(alice) == before

    check_each(UNNAMED, check, count=len(set(routes())) - len(OF_ALL))


def test_any_other_key_means_the_person_of_the_id_or_the_default(
    alice: User, memory: str, settings: Settings
) -> None:
    settings.DEFAULT_OWNER = "alice"
    key = unbound(requires_user=False)

    def check(route: str) -> None:
        response = called(route, key, memory)
        assert response.status_code == 200, response.content

    check_each(UNNAMED, check, count=len(set(routes())) - len(OF_ALL))


def test_a_key_that_requires_a_user_takes_calls_that_name_one(alice: User, memory: str) -> None:
    client = Client(headers={"authorization": f"Token {unbound(requires_user=True)}"})
    found = client.post(
        "/v3/memories/", {"filters": {"user_id": "alice"}}, content_type="application/json"
    ).json()
    assert [one["id"] for one in found["results"]] == [memory]
    said = {"messages": "I play chess.", "user_id": "alice"}
    added = client.post("/v3/memories/add/", said, content_type="application/json").json()
    assert client.get(f"/v1/event/{added['event_id']}/").json()["id"] == added["event_id"]


@pytest.mark.parametrize("path", ["/v1/memories/?user_id=", "/v1/memories/?user_id=&agent_id=a"])
def test_an_empty_name_is_refused(path: str, alice: User, memory: str) -> None:
    client = Client(headers={"authorization": f"Token {unbound(requires_user=False)}"})
    assert client.delete(path).status_code == 400
    assert client.get("/v1/events/?user_id=").status_code == 400
    body = {"messages": "I like tea.", "user_id": "", "agent_id": "a"}
    added = client.post("/v3/memories/add/", body, content_type="application/json")
    assert added.status_code == 400
