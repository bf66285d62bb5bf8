import logging

import pytest
from django.db import InternalError, OperationalError
from psycopg.errors import IdleInTransactionSessionTimeout

from foundation.errors import ProviderError
from ops.accounts import users
from ops.models import User
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


def _break(monkeypatch: pytest.MonkeyPatch, problem: Exception) -> None:
    def broken(user: User) -> None:
        raise problem

    monkeypatch.setattr(users, "settings_of", broken)


def test_what_we_do_not_know_is_a_500_without_content(
    alice: User,
    alice_key: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    _break(monkeypatch, RuntimeError("alice said the secret word"))
    with caplog.at_level(logging.DEBUG):
        response = Api(alice_key).get("/memory/settings")
    error(response, 500)
    assert b"secret word" not in response.content
    assert "RuntimeError" in caplog.text and "secret word" not in caplog.text


def _took_too_long() -> InternalError:
    error = InternalError("terminating connection")
    error.__cause__ = IdleInTransactionSessionTimeout()
    return error


@pytest.mark.parametrize(
    "problem",
    [OperationalError("gone"), _took_too_long(), ProviderError("busy", retryable=True)],
)
def test_a_store_or_model_that_is_away_is_unavailable(
    problem: Exception, alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break(monkeypatch, problem)
    error(Api(alice_key).get("/memory/settings"), 503, "unavailable")


@pytest.mark.parametrize("path", ["/nothing", "/turns/extra/deep", "/api/v2/turns", "/"])
def test_unknown_paths_of_the_api_have_the_shape(path: str, alice_key: str) -> None:
    error(Api(alice_key).get(path), 404, "not_found")


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "options"])
def test_a_method_that_is_not_there_has_the_shape(method: str, alice_key: str) -> None:
    response = Api(alice_key).call(method, "/turns")
    error(response, 405, "not_allowed")
    assert "POST" in response["Allow"]


def test_each_wrong_field_is_named(alice_key: str) -> None:
    body = {"conversation_id": 7, "user_message": ["no"], "assistant_message": "yes"}
    found = error(Api(alice_key).post("/turns", body), 400, "invalid")
    assert set(found["fields"]) == {"conversation_id", "user_message"}


def test_a_wrong_value_inside_is_named_by_its_outer_field_and_place(alice_key: str) -> None:
    body = {"content": "text", "tags": ["good", 7]}
    found = error(Api(alice_key).post("/memory/long_term", body), 400, "invalid")
    assert list(found["fields"]) == ["tags"] and found["fields"]["tags"][0].startswith("1:")


def test_whatever_a_client_accepts_it_gets_json(alice: User, alice_key: str) -> None:
    response = Api(alice_key).call("get", "/memory/settings", headers={"accept": "text/html"})
    answer(response)
    assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize("path", ["/memory/settings", "/memory/settings/"])
def test_paths_work_with_and_without_a_slash(path: str, alice: User, alice_key: str) -> None:
    assert answer(Api(alice_key).get(path))["user_id"] == "alice"


def test_head_is_answered_like_get(alice: User, alice_key: str) -> None:
    assert Api(alice_key).call("head", "/memory/settings").status_code == 200
