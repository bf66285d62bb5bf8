import html
import re
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped,unused-ignore]
import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS, reset_generator_stats
from drf_spectacular.validation import validate_schema

from memcenter.rest import openapi
from memcenter.rest.openapi import OneSlashGenerator
from memories.models import Project, Relation
from ops import webhooks
from ops.accounts import keys
from ops.models import Scope, User
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_turn,
)
from tests.memcenter.rest.client import Api, answer
from tests.ops.api.test_operations import finished_forget

METHODS = ("get", "post", "put", "patch", "delete")


def generated() -> dict[str, Any]:
    generator: Any = OneSlashGenerator
    found: dict[str, Any] = generator().get_schema(request=None, public=True)
    return found


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return generated()


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in schema["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def test_generating_warns_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    reset_generator_stats()
    check_whole: Any = validate_schema
    check_whole(generated())
    assert not GENERATOR_STATS, capsys.readouterr().err


def test_every_path_is_described_once_and_without_a_slash(schema: dict[str, Any]) -> None:
    assert schema["paths"] and not [path for path in schema["paths"] if path.endswith("/")]


def test_every_method_says_what_it_answers_and_how_it_fails(schema: dict[str, Any]) -> None:
    for path, method, one in operations(schema):
        codes = set(one["responses"])
        assert codes & {"200", "201", "202"}, (path, method)
        assert {"400", "401", "403", "404", "409", "429"} <= codes, (path, method)
        assert one["summary"], (path, method)


def test_operations_have_names_of_their_own(schema: dict[str, Any]) -> None:
    names = [one["operationId"] for _, _, one in operations(schema)]
    assert len(names) == len(set(names))


@pytest.mark.django_db
def test_the_schema_is_served_to_anybody() -> None:
    response = Client().get("/api/schema/")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("application/vnd.oai.openapi+json")


@pytest.mark.django_db
@pytest.mark.parametrize("accepted", ["application/json", "application/json, text/plain;q=0.5"])
def test_the_schema_is_served_as_plain_json_too(accepted: str) -> None:
    response = Client().get("/api/schema/", headers={"accept": accepted})
    assert response.status_code == 200
    assert response["Content-Type"].startswith("application/json")
    assert response.json()["openapi"].startswith("3.")


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/api/docs/", "/api/docs/try/"])
def test_the_docs_pages_need_nothing_from_outside(page: str) -> None:
    found = Client().get(page).content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', found)
    assert addresses and all(address.startswith(("/", "#")) for address in addresses)
    for address in addresses:
        if address.startswith("/static/"):
            assert finders.find(address.removeprefix("/static/").partition("#")[0]), address


@pytest.mark.django_db
def test_the_reference_lists_every_call_with_its_fields(schema: dict[str, Any]) -> None:
    page = Client().get("/api/docs/").content.decode()
    found = {(call["method"].lower(), call["path"]): call for call in openapi.calls()}
    promised = {
        (method, path)
        for path, methods in schema["paths"].items()
        for method in methods
        if method in METHODS
    }
    assert found.keys() == promised
    assert [
        call["path"] for call in found.values() if call["summary"] not in html.unescape(page)
    ] == []
    context = {one["name"]: one for one in found["post", "/api/v1/memory/context"]["fields"]}
    assert context["message"]["is_required"] and context["message"]["place"] == "body"
    assert context["kinds"]["type"].startswith("list of preference | fact")
    assert (
        not context["token_budget"]["is_required"] and context["token_budget"]["type"] == "integer"
    )


def check(schema: dict[str, Any], path: str, method: str, body: Any, *, status: int) -> None:
    """Hold an answer against the shape that the schema promises for it."""
    promised = schema["paths"][path][method]["responses"][str(status)]
    shape = promised["content"]["application/json"]["schema"]
    jsonschema.validate(body, _strict({**shape, "components": schema["components"]}))


def _strict(node: Any) -> Any:
    """OpenAPI 3.0 in terms of JSON schema, with nothing allowed that isn't promised."""
    if isinstance(node, list):
        return [_strict(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {name: _strict(value) for name, value in node.items() if name != "nullable"}
    if "properties" in made and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return {"anyOf": [made, {"type": "null"}]} if node.get("nullable") is True else made


@pytest.fixture
def world(alice: User) -> dict[str, str]:
    """Something of everything, by the names that paths have for it."""
    row = make_conversation(alice, external_id="c1")
    turn = make_turn(row, "I play chess.")
    make_episode(turn)
    make_summary(row, "They spoke of chess.", through=2)
    project = Project.objects.create(user=alice, key="club", name="Club")
    memory = make_memory(alice, "Alice plays chess.", turns=[turn], kind="constraint")
    other = make_memory(alice, "Alice never plays.", conflicts_with=memory, project=project)
    Relation.objects.create(user=alice, memory=memory, other=other, kind="contradicts")
    hook = webhooks.create(
        user=alice, url="https://93.184.216.34/", events=["memory.created"], secret="s"
    )
    webhooks.try_out(hook)
    return {
        "webhook_id": hook.public_id,
        "conversation_id": row.public_id,
        "message_id": turn.user_message.public_id,
        "memory_id": memory.public_id,
        "op_id": finished_forget(alice).public_id,
        "file_path": "MEMORY.md",
        "key_id": keys.create(name="Alice's", scopes=["read"], user=alice)[0].public_id,
    }


NEEDED = {
    "/api/v1/search": {"query": "chess"},
    "/api/v1/memory/summary": {"conversation_id": "c1"},
    "/api/v1/memory/episodes": {"conversation_id": "c1"},
    "/api/v1/memories/search": {"query": "chess"},
}
# A stream and a file: tested by themselves.
NO_JSON = ("/events", "/download")


@pytest.mark.django_db
def test_every_answer_to_a_get_has_the_promised_shape(
    schema: dict[str, Any], world: dict[str, str], alice: User
) -> None:
    api = Api(keys.create(name="whole", scopes=list(Scope.values), user=alice)[1])
    body = {"message": "Which game?", "conversation_id": "c1"}
    context = answer(api.post("/memory/context", body))
    check(schema, "/api/v1/memory/context", "post", context, status=200)
    ids = {**world, "request_id": context["request_id"]}
    for path, method, _ in operations(schema):
        if method == "get" and not path.endswith(NO_JSON):
            given = {"ids": world["memory_id"]} if path == "/api/v1/memories" else {}
            found = answer(api.get(path.format(**ids), **NEEDED.get(path, given)))
            assert found.get("results", True), path
            check(schema, path, "get", found, status=200)


@pytest.mark.django_db
def test_answers_to_writes_have_the_promised_shape(
    schema: dict[str, Any], world: dict[str, str], alice_key: str
) -> None:
    api = Api(alice_key)
    memory = world["memory_id"]
    turn = {"conversation_id": "c1", "user_message": "Hi.", "assistant_message": "Ho."}
    writes: list[tuple[str, str, dict[str, Any], int]] = [
        ("post", "/turns", turn, 201),
        ("post", "/conversations", {"title": "Tea"}, 201),
        ("patch", "/conversations/{conversation_id}", {"title": "Go"}, 200),
        (
            "post",
            "/conversations/{conversation_id}/messages",
            {"role": "user", "content": "A"},
            201,
        ),
        ("post", "/feedback", {"memory_id": memory, "rating": "positive"}, 200),
        ("post", "/memory/long_term", {"content": "Alice drinks tea."}, 201),
        ("post", "/memory/long_term/batch", {"memories": [{"content": "Alice sings."}, {}]}, 200),
        ("patch", "/memory/long_term/{memory_id}", {"pinned": True}, 200),
        ("post", "/memory/long_term/{memory_id}/restore", {"version": 1}, 200),
        ("post", "/memory/long_term/bulk", {"ids": [memory], "action": "pin"}, 200),
        (
            "post",
            "/memory/long_term/confirm",
            {"decisions": [{"id": memory, "decision": "accept"}]},
            200,
        ),
        ("post", "/signin-links", {}, 201),
        ("patch", "/webhooks/{webhook_id}", {"is_active": False}, 200),
        ("post", "/webhooks/{webhook_id}/test", {}, 202),
        (
            "post",
            "/webhooks",
            {"url": "https://93.184.216.34/", "events": ["memory.deleted"]},
            201,
        ),
        ("post", "/memory/append", {"text": "Called the dentist."}, 201),
        (
            "post",
            "/ingest/memory",
            {"project_name": "Club", "content_type": "plan", "content": "Book the hall."},
            201,
        ),
        ("patch", "/memory/settings", {"theme": "dark"}, 200),
        ("post", "/memory/forget", {"scope": "memory", "memory_id": memory}, 202),
        ("post", "/clear", {"conversation_id": "c1"}, 202),
    ]
    for method, path, body, status in writes:
        found = answer(api.call(method, path.format(**world), body), status)
        check(schema, f"/api/v1{path}", method, found, status=status)


def test_whatever_is_asked_and_answered_has_an_example_of_its_shape(schema: dict[str, Any]) -> None:
    shown = 0
    for _path, _method, one in operations(schema):
        bodies = list(one.get("requestBody", {}).get("content", {}).values())
        answers = [told.get("content", {}) for told in one["responses"].values()]
        for media in (*bodies, *(kinds["application/json"] for kinds in answers if _json(kinds))):
            shape = {**media["schema"], "components": schema["components"]}
            if "binary" not in str(_resolved(schema, media["schema"])):
                jsonschema.validate(media["example"], _strict(shape))
                shown += 1
    assert shown > 80


def _json(kinds: dict[str, Any]) -> bool:
    return kinds.get("application/json", {}).get("schema", {}).get("format", "") != "binary" and (
        "application/json" in kinds
    )


def _resolved(schema: dict[str, Any], shape: dict[str, Any]) -> Any:
    name = shape.get("$ref", "").rsplit("/", 1)[-1]
    return schema["components"]["schemas"].get(name, shape)


def test_ids_that_are_answered_lead_on_to_the_calls_that_take_them(schema: dict[str, Any]) -> None:
    made = schema["paths"]["/api/v1/memory/long_term"]["post"]["responses"]["201"]["links"]
    taken = {link["operationId"] for link in made.values()}
    assert {"long_term_memory_get", "long_term_memory_patch", "long_term_memory_delete"} <= taken
    created = [
        one["responses"]["201"]
        for path, method, one in operations(schema)
        if method == "post" and "201" in one["responses"]
    ]
    assert sum("links" in told for told in created) >= 6


def test_a_limited_call_says_when_to_come_back(schema: dict[str, Any]) -> None:
    for _path, _method, one in operations(schema):
        assert one["responses"]["429"] == {"$ref": "#/components/responses/RateLimited"}
    limited = schema["components"]["responses"]["RateLimited"]
    assert limited["headers"]["Retry-After"]["required"]
    for _path, _method, one in operations(schema):
        told = [each for status, each in one["responses"].items() if status.startswith("2")]
        assert all({"RateLimit", "RateLimit-Policy"} <= each["headers"].keys() for each in told)


def test_headers_that_a_call_understands_and_answers_are_described(schema: dict[str, Any]) -> None:
    for path, method, one in operations(schema):
        named = {asked["name"] for asked in one.get("parameters", ()) if asked["in"] == "header"}
        writes = method != "get" and path != "/api/v1/memory/context"
        assert ("Idempotency-Key" in named) == writes, (path, method)
    file = schema["paths"]["/api/v1/memory/files/{file_path}"]
    assert (
        "ETag" in file["get"]["responses"]["200"]["headers"] and "304" in file["get"]["responses"]
    )
    assert "If-Match" in {asked["name"] for asked in file["put"]["parameters"]}
    assert "412" in file["put"]["responses"]
