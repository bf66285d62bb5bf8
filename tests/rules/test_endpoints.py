"""Every route of the API declares what it needs, and gives nothing to strangers."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Endpoint
from memcenter.rest.routing import SLASHED
from ops.models import Operation, Scope, User, Webhook
from ops.services import keys
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.rest.client import Api, error
from tests.rows import rows_of

METHODS = ("get", "post", "put", "patch", "delete")


class Route(NamedTuple):
    method: str
    path: str
    endpoint: Endpoint

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def patterns(resolver: URLResolver, prefix: str = "/") -> Iterator[tuple[str, URLPattern]]:
    for one in resolver.url_patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from patterns(one, path)
        else:
            yield path, one


def api_views() -> list[tuple[str, Any]]:
    """Every view below `/api/v1`, by its path without a slash."""
    return [
        (path, one.callback)
        for path, one in patterns(get_resolver())
        if path.startswith("/api/v1/") and not (one.name or "").endswith(SLASHED)
    ]


def routes() -> list[Route]:
    return [
        Route(method, path, getattr(view.cls, method).endpoint)
        for path, view in api_views()
        for method in METHODS
        if hasattr(view.cls, method)
    ]


def test_every_view_of_the_api_stands_on_our_base() -> None:
    views = api_views()
    assert len(views) > 20
    assert [path for path, view in views if not issubclass(view.cls, MemcenterView)] == []


def test_every_path_is_there_with_a_slash_too() -> None:
    paths = {path for path, _ in patterns(get_resolver())}
    assert [path for path, _ in api_views() if f"{path}/" not in paths] == []


@pytest.mark.parametrize("route", routes(), ids=str)
def test_every_method_declares_a_scope(route: Route) -> None:
    assert route.endpoint.scope in Scope.values
    expected = {"get": Scope.READ, "delete": Scope.FORGET}.get(route.method, Scope.WRITE)
    if "forget" in route.path or route.path.endswith("/clear"):
        expected = Scope.FORGET
    if "/memory/export" in route.path:
        expected = Scope.EXPORT
    if route.path.endswith("/signin-links"):
        expected = Scope.SIGNIN
    assert route.endpoint.scope == expected


@pytest.mark.parametrize("route", routes(), ids=str)
def test_whatever_erases_refuses_unknown_fields(route: Route) -> None:
    assert route.endpoint.strict or route.endpoint.scope != Scope.FORGET


@pytest.fixture
def ids(alice: User) -> dict[str, str]:
    """Things of Alice's, by the names that paths have for them."""
    turn = make_turn(make_conversation(alice, external_id="c1"), "I play chess.")
    memory = make_memory(alice, "Alice plays chess.", turns=[turn])
    operation = Operation.objects.create(
        kind="cleanup", subject=alice.subject, run_after=alice.created_at
    )
    return {
        "conversation_id": turn.conversation.public_id,
        "message_id": turn.user_message.public_id,
        "memory_id": memory.public_id,
        "request_id": "req_unknown",
        "webhook_id": Webhook.objects.create(
            user=alice, url="https://alice.example/", events=["memory.created"], secret="s"
        ).public_id,
        "op_id": operation.public_id,
    }


def _body(path: str, ids: dict[str, str]) -> dict[str, Any]:
    """A body that would be taken, if it came from Alice."""
    said = {"user_message": "Hi.", "assistant_message": "Ho."}
    bodies: dict[str, dict[str, Any]] = {
        "/api/v1/turns": {**said, "conversation_id": ids["conversation_id"]},
        "/api/v1/conversations": {"title": "Stolen"},
        "/api/v1/conversations/<str:conversation_id>": {"title": "Stolen"},
        "/api/v1/conversations/<str:conversation_id>/messages": {"role": "user", "content": "A"},
        "/api/v1/feedback": {"memory_id": ids["memory_id"], "rating": "negative"},
        "/api/v1/memory/context": {"message": "A", "conversation_id": ids["conversation_id"]},
        "/api/v1/memory/forget": {"scope": "memory", "memory_id": ids["memory_id"]},
        "/api/v1/clear": {"conversation_id": ids["conversation_id"]},
        "/api/v1/ingest/memory": {"content_type": "plan", "content": "Mallory was here."},
        "/api/v1/memory/append": {"text": "Mallory was here."},
        "/api/v1/memory/long_term": {"content": "Mallory was here."},
        "/api/v1/memory/long_term/confirm": {
            "decisions": [{"id": ids["memory_id"], "decision": "reject"}]
        },
        "/api/v1/memory/long_term/bulk": {"ids": [ids["memory_id"]], "action": "forget"},
        "/api/v1/memory/long_term/<str:memory_id>": {"pinned": True},
        "/api/v1/memory/long_term/<str:memory_id>/restore": {"version": 1},
        "/api/v1/memory/settings": {"longterm_enabled": False},
        "/api/v1/signin-links": {},
        "/api/v1/webhooks": {"url": "https://93.184.216.34/", "events": ["memory.created"]},
        "/api/v1/webhooks/<str:webhook_id>": {"is_active": False},
        "/api/v1/webhooks/<str:webhook_id>/test": {},
        "/api/v1/memory/export": {
            "format": "json",
            "conversation_id": ids["conversation_id"],
        },
        "/api/v1/memory/ops/<str:op_id>/retry": {},
        "/api/v1/memory/ops/<str:op_id>/cancel": {},
    }
    return bodies[path]


def _uploaded(path: str, key: str | None, **whose: str) -> Any:
    file = SimpleUploadedFile("x.md", b"## fact\n- Mallory was here.\n")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return Client(raise_request_exception=False, headers=headers).post(
        path, {"file": file, **whose}
    )


def called(route: Route, key: str | None, ids: dict[str, str], **whose: str) -> Any:
    path = re.sub(r"<str:(\w+)>", lambda name: ids[name.group(1)], route.path)
    if route.endpoint.media != "application/json":
        return _uploaded(path, key, **whose)
    if route.method == "delete":
        named = {"id": ids["webhook_id"]} if path == "/api/v1/webhooks" else {}
        return Api(key).delete(path, **named, **whose)
    if route.method == "get":
        asked = {"query": "chess", "ids": ids["memory_id"]}
        return Api(key).get(path, **asked, conversation_id=ids["conversation_id"], **whose)
    return Api(key).call(route.method, path, {**_body(route.path, ids), **whose})


@pytest.mark.django_db
@pytest.mark.parametrize("route", routes(), ids=str)
def test_nobody_gets_in_without_a_key(route: Route, ids: dict[str, str]) -> None:
    error(called(route, None, ids), 401, "unauthenticated")


@pytest.mark.django_db
@pytest.mark.parametrize("route", routes(), ids=str)
def test_no_key_does_what_its_scopes_leave_out(
    route: Route, alice: User, ids: dict[str, str]
) -> None:
    others = [one for one in Scope.values if one != route.endpoint.scope]
    narrow = keys.create(name="narrow", scopes=others, user=alice)[1]
    error(called(route, narrow, ids), 403, "not_allowed")


@pytest.mark.django_db
@pytest.mark.parametrize("route", routes(), ids=str)
def test_a_stranger_who_names_a_user_finds_nobody(
    route: Route, alice: User, mallory_key: str, ids: dict[str, str]
) -> None:
    before = rows_of(alice)
    error(called(route, mallory_key, ids, user_id="alice"), 404, "not_found")
    assert rows_of(alice) == before


@pytest.mark.django_db
@pytest.mark.parametrize("route", routes(), ids=str)
def test_a_stranger_who_uses_anothers_ids_sees_and_changes_nothing(
    route: Route, alice: User, mallory_key: str, ids: dict[str, str]
) -> None:
    before = rows_of(alice)
    response = called(route, mallory_key, ids)
    assert response.status_code in (200, 201, 202, 404)
    named = [name for name in ids if f"<str:{name}>" in route.path]
    assert response.status_code == 404 or not named
    assert b"plays chess" not in response.content and b"alice" not in response.content
    assert rows_of(alice) == before


@pytest.mark.django_db
@pytest.mark.parametrize("route", routes(), ids=str)
def test_a_backend_that_mixes_two_users_up_sees_and_changes_nothing(
    route: Route, alice: User, mallory: User, product_key: str, ids: dict[str, str]
) -> None:
    before = rows_of(alice)
    response = called(route, product_key, ids, user_id="mallory")
    assert response.status_code in (200, 201, 202, 404)
    assert b"plays chess" not in response.content and b"alice" not in response.content
    assert rows_of(alice) == before
