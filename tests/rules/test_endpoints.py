"""Every route of the API declares what it needs, and gives nothing to strangers."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from memcenter.rest import openapi
from memcenter.rest.base import SLASHED, MemcenterView
from memcenter.rest.endpoint import Endpoint
from ops.access import as_user
from ops.accounts import keys
from ops.api import views_operations
from ops.forgetting import person_forgets
from ops.models import Operation, Scope, User, Webhook
from tests.case_loop import check_each
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.rest.client import Api, error
from tests.memcenter.rest.test_schema import generated
from tests.rows import rows_of

METHODS = ("get", "post", "put", "patch", "delete")
ENDPOINTS = 73  # no fewer: a loop over none of them would show nothing


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


def endpoint_count() -> int:
    """The number of methods below `/api/v1`, as DRF and the URL configuration tell it."""
    views = [view.cls() for _, view in api_views()]
    return sum(name not in ("OPTIONS", "HEAD") for view in views for name in view.allowed_methods)


def check_each_route(
    check: Callable[[Route], object],
    among: Sequence[Route] | None = None,
    *,
    count: int | None = None,
    keeping: bool = False,
) -> None:
    """Check the routes one after the other with the cast of the test; see `check_each`."""
    expected = endpoint_count() if count is None else count
    check_each(routes() if among is None else among, check, count=expected, keeping=keeping)


def test_no_endpoint_is_left_out() -> None:
    operations = [
        (path, method)
        for path, methods in described()["paths"].items()
        for method in METHODS
        if path.startswith("/api/v1/") and method in methods
    ]
    assert len(routes()) == len(set(routes())) == endpoint_count() == len(operations) >= ENDPOINTS


def test_every_method_declares_a_scope() -> None:
    def check(route: Route) -> None:
        assert route.endpoint.scope in Scope.values
        expected = {"get": Scope.READ, "delete": Scope.FORGET}.get(route.method, Scope.WRITE)
        if "forget" in route.path or route.path.endswith("/clear"):
            expected = Scope.FORGET
        if "/memory/export" in route.path:
            expected = Scope.EXPORT
        if route.path.startswith("/api/v1/keys"):
            expected = Scope.ADMIN
        if route.path.endswith("/signin-links"):
            expected = Scope.SIGNIN
        assert route.endpoint.scope == expected

    check_each_route(check, keeping=True)


def test_whatever_erases_refuses_unknown_fields() -> None:
    def check(route: Route) -> None:
        assert route.endpoint.strict or route.endpoint.scope != Scope.FORGET

    check_each_route(check, keeping=True)


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
        "key_id": keys.create(name="Alice's", scopes=["read"], user=alice)[0].public_id,
        "file_path": "MEMORY.md",
    }


@functools.cache
def described() -> dict[str, Any]:
    return generated()


def example(route: Route) -> dict[str, Any]:
    """The body that the description shows for a call: a new endpoint has one by itself."""
    path = re.sub(r"<\w+:(\w+)>", r"{\1}", route.path)
    asked = described()["paths"][path][route.method]
    body: dict[str, Any] = asked["requestBody"]["content"]["application/json"]["example"]
    return body


def names_of_things(route: Route) -> list[str]:
    """The ids in a path that belong to one person; everybody has a file of each path."""
    return [name for name in re.findall(r"<\w+:(\w+)>", route.path) if name != "file_path"]


def aimed(body: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    """The same body about things that are there, and about nobody in particular."""
    made = _aimed(body, ids)
    assert isinstance(made, dict)
    return {name: value for name, value in made.items() if name not in ("user_id", "owner_id")}


def _aimed(node: Any, ids: dict[str, str]) -> Any:
    if isinstance(node, dict):
        return {name: _aimed(inner, ids) for name, inner in node.items()}
    if isinstance(node, list):
        return [_aimed(inner, ids) for inner in node]
    stand_in = STAND_INS.get(node) if isinstance(node, str) else None
    return node if stand_in is None else ids.get(stand_in, stand_in)


# What examples name, and what there is instead of it: a thing of Alice's, or that very text.
STAND_INS = {
    openapi.VALUES["conversation_id"]: "conversation_id",
    "c-1": "conversation_id",
    openapi.VALUES["message_id"]: "message_id",
    openapi.VALUES["memory_id"]: "memory_id",
    openapi.VALUES["op_id"]: "op_id",
    openapi.VALUES["url"]: "https://93.184.216.34/",
}


def _uploaded(path: str, key: str | None, **whose: str) -> Any:
    file = SimpleUploadedFile("x.md", b"## fact\n- Mallory was here.\n")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return Client(raise_request_exception=False, headers=headers).post(
        path, {"file": file, **whose}
    )


def path_of(route: Route, ids: dict[str, str]) -> str:
    return re.sub(r"<\w+:(\w+)>", lambda name: ids[name.group(1)], route.path)


def called(route: Route, key: str | None, ids: dict[str, str], **whose: str) -> Any:
    path = path_of(route, ids)
    if route.endpoint.media != "application/json":
        return _uploaded(path, key, **whose)
    if route.method == "delete":
        named = {"id": ids["webhook_id"]} if path == "/api/v1/webhooks" else {}
        return Api(key).delete(path, **named, **whose)
    if route.method == "get":
        asked = {"query": "chess", "ids": ids["memory_id"]}
        return Api(key).get(path, **asked, conversation_id=ids["conversation_id"], **whose)
    return Api(key).call(route.method, path, {**aimed(example(route), ids), **whose})


def whole_key(user: User | None = None) -> str:
    """A key that may do whatever a key may do."""
    return keys.create(name="whole", scopes=list(Scope.values), user=user)[1]


def said(response: Any) -> bytes:
    content = response.streaming_content if response.streaming else [response.content]
    return b"".join(content)


# They answer of what isn't there, or of what isn't over yet.
NOT_YET = ("/debug/<str:request_id>", "/download", "/retry", "/cancel", "/receipt")


@pytest.mark.django_db
def test_what_the_description_shows_is_taken(alice: User, ids: dict[str, str]) -> None:
    key = whole_key(alice)

    def check(route: Route) -> None:
        response = called(route, key, ids)
        if route.path.endswith(NOT_YET) or route.path.endswith("/summary"):
            assert response.status_code in (200, 404, 409), response.content
        else:
            assert 200 <= response.status_code < 300, response.content

    check_each_route(check)


@pytest.mark.django_db
def test_nobody_gets_in_without_a_key(ids: dict[str, str]) -> None:
    check_each_route(lambda route: error(called(route, None, ids), 401, "unauthenticated"))


@pytest.mark.django_db
def test_no_key_does_what_its_scopes_leave_out(alice: User, ids: dict[str, str]) -> None:
    narrow = {
        left_out: keys.create(
            name="narrow", scopes=[one for one in Scope.values if one != left_out], user=alice
        )[1]
        for left_out in Scope.values
    }

    def check(route: Route) -> None:
        error(called(route, narrow[route.endpoint.scope], ids), 403, "not_allowed")

    check_each_route(check)


@pytest.mark.django_db
def test_a_stranger_who_names_a_user_finds_nobody(
    alice: User, mallory: User, ids: dict[str, str]
) -> None:
    key, before = whole_key(mallory), rows_of(alice)

    def check(route: Route) -> None:
        error(called(route, key, ids, user_id="alice"), 404, "not_found")
        assert rows_of(alice) == before

    check_each_route(check)


@pytest.mark.django_db
def test_a_stranger_who_uses_anothers_ids_sees_and_changes_nothing(
    alice: User, mallory: User, ids: dict[str, str]
) -> None:
    key, before = whole_key(mallory), rows_of(alice)

    def check(route: Route) -> None:
        shows_nothing(called(route, key, ids), route)
        assert rows_of(alice) == before

    check_each_route(check)


@pytest.mark.django_db
def test_a_backend_that_mixes_two_users_up_sees_and_changes_nothing(
    alice: User, mallory: User, ids: dict[str, str]
) -> None:
    key, before = whole_key(), rows_of(alice)

    def check(route: Route) -> None:
        shows_nothing(called(route, key, ids, user_id="mallory"), route)
        assert rows_of(alice) == before

    check_each_route(check)


def shows_nothing(response: Any, route: Route) -> None:
    assert response.status_code in (200, 201, 202, 404)
    assert response.status_code == 404 or not names_of_things(route)
    assert b"plays chess" not in response.content and b"alice" not in response.content


@pytest.mark.django_db
def test_of_somebody_who_is_gone_nothing_is_left(
    alice: User, alice_key: str, ids: dict[str, str]
) -> None:
    product = whole_key()
    alice.delete()

    def check(route: Route) -> None:
        error(called(route, alice_key, ids), 401, "unauthenticated")
        for whose, unnamed in (({}, 400), ({"user_id": "alice"}, 404)):
            response = called(route, product, ids, **whose)
            named = names_of_things(route)
            assert response.status_code in ((404, unnamed) if named else (200, 201, 202, 400, 404))
            assert b"plays chess" not in said(response)

    check_each_route(check)


# Who is being forgotten can be asked how far that is, and be asked to be forgotten again.
WHILE_FORGETTING = ("/memory/ops", "/memory/ops/<str:op_id>", "/memory/ops/<str:op_id>/events")


@pytest.mark.django_db
def test_of_somebody_being_forgotten_nothing_is_said_and_nothing_is_taken(
    alice: User, alice_key: str, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views_operations, "EVENTS_SECONDS", 0)
    product = whole_key()
    with as_user(alice):
        person_forgets.forget_user(user=alice)
    before = rows_of(alice)

    def check(route: Route) -> None:
        error(called(route, alice_key, ids), 401, "unauthenticated")
        by_name, by_ids = called(route, product, ids, user_id="alice"), called(route, product, ids)
        assert b"plays chess" not in said(by_name) + said(by_ids)
        if not route.path.endswith(WHILE_FORGETTING):
            assert by_name.status_code in (404, 409), by_name.content
            # Naming nobody, a key of nobody's may mean the product itself.
            spoken_for_all = route.endpoint.all_users_for is not None
            assert by_ids.status_code in (400, 404, 409) or spoken_for_all
        assert rows_of(alice) == before

    check_each_route(check)
