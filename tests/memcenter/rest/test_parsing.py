import pytest
from django.test import Client
from pytest_django import Settings

from foundation.errors import Invalid
from memcenter.rest.parsers import MAX_DEPTH, parse_object
from ops.models import User
from tests.memcenter.rest.client import Api, error, refused

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "body", [b"{", b"nonsense", b'{"a": NaN}', b'"\\ud800"', b"\xff\xfe", b'{"a": 1e999}']
)
def test_a_body_that_is_not_json_is_refused_with_the_place(body: bytes, alice_key: str) -> None:
    found = error(Api(alice_key).call("post", "/turns", body), 400, "invalid")
    assert "not valid JSON" in found["message"] and "line 1" in found["message"]


@pytest.mark.parametrize("body", [b"[]", b"1", b'"text"', b"null", b"true"])
def test_a_body_that_is_not_an_object_is_refused(body: bytes, alice_key: str) -> None:
    found = error(Api(alice_key).call("post", "/turns", body), 400, "invalid")
    assert "object" in found["message"]


def test_a_nul_is_refused_by_the_name_of_its_field(alice_key: str) -> None:
    refused(Api(alice_key).post("/memory/long_term", {"content": "a\x00b"}), "content")


@pytest.mark.parametrize("body", [{"data": {"a": ["\x00"]}}, {"data": {"\x00": 1}}])
def test_a_nul_deep_inside_is_refused_by_its_outer_field(body: object, alice_key: str) -> None:
    refused(Api(alice_key).post("/memory/long_term", body), "data")


def test_a_nul_in_the_query_is_refused_by_its_name(alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get("/search", query="a\x00b"), "query")


def test_a_nul_in_the_path_is_nothing_that_exists(alice: User, alice_key: str) -> None:
    error(Api(alice_key).get("/conversations/a%00b"), 404, "not_found")


def test_a_text_that_only_speaks_of_a_nul_is_taken() -> None:
    assert parse_object(b'{"content": "\\\\u0000"}') == {"content": "\\u0000"}


def test_depth_is_bounded_and_named() -> None:
    inner = b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)
    with pytest.raises(Invalid) as caught:
        parse_object(b'{"data": ' + inner + b"}")
    assert list(caught.value.fields) == ["data"]


def test_a_wide_body_is_not_mistaken_for_a_deep_one() -> None:
    raw = b'{"a": [' + b",".join([b"[]"] * 1_000) + b"]}"
    assert len(parse_object(raw)["a"]) == 1_000


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"user_id": "alice", "user_id": "mallory"}', "user_id"),
        (b'{"user_id": "alice", "\\u0075ser_id": "mallory"}', "user_id"),
        (b'{"content": "x", "data": {"a": [{"b": 1, "b": 2}]}}', "b"),
        (b'{"content": "x", "tags": [1, 1], "content": "x"}', "content"),
    ],
)
def test_a_name_that_stands_twice_is_refused(body: bytes, name: str, alice_key: str) -> None:
    for method, path in (
        ("post", "/memory/long_term"),
        ("delete", "/conversations/c1"),
        ("patch", "/memory/settings"),
    ):
        refused(Api(alice_key).call(method, path, body), name)


def test_the_same_name_in_two_objects_is_taken() -> None:
    assert parse_object(b'{"a": {"b": 1}, "b": [{"b": 2}, {"b": 3}]}')["b"] == [{"b": 2}, {"b": 3}]
    assert parse_object(b'{"a": ' + b"9" * 300 + b"}")


@pytest.mark.parametrize("path", ["/v3/memories/add/", "/v1/chat/completions", "/mcp"])
def test_nor_do_other_protocols_take_a_name_twice(path: str, alice: User, alice_key: str) -> None:
    body = b'{"user_id": "alice", "user": "alice", "messages": [], "messages": [], "method": "x"}'
    response = Client(headers={"authorization": f"Bearer {alice_key}"}).post(
        path, body, content_type="application/json"
    )
    assert response.status_code == 400 and "twice" in response.json()["error"]["message"]


def test_a_body_over_the_limit_is_too_large(alice_key: str, settings: Settings) -> None:
    settings.MAX_BODY_BYTES = 1_024
    body = {"content": "x" * 2_000}
    error(Api(alice_key).post("/memory/long_term", body), 413, "too_large")


def test_a_call_without_a_body_is_told_what_is_missing(alice: User, alice_key: str) -> None:
    refused(Api(alice_key).call("post", "/clear"), "conversation_id")
