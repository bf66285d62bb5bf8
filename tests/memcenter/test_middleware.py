"""What a call with a key passes on its way to its view, and what it doesn't."""

import pytest
from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.test import Client

from ops.accounts import users
from ops.models import Role, User
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


def test_a_call_with_a_key_meets_nothing_that_is_for_pages(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(SessionMiddleware, "process_request", fail)
    monkeypatch.setattr(CsrfViewMiddleware, "process_view", fail)
    response = Api(alice_key).get("/memory/settings")
    answer(response)
    assert not response.cookies
    with pytest.raises(ZeroDivisionError):
        Client().get("/signin/")


def test_its_answer_has_the_headers_that_all_answers_have(alice: User, alice_key: str) -> None:
    response = Api(alice_key).get("/memory/settings")
    assert response["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Request-ID"]
    assert response["Content-Length"] == str(len(response.content))


def test_its_errors_are_in_the_language_that_it_asks_for(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    told = {}
    for language in ("zh-hans", "en"):
        response = api.call("post", "/turns", {}, headers={"accept-language": language})
        told[language] = error(response, 400, "invalid")["message"]
    assert told["en"].isascii() and not told["zh-hans"].isascii()


def test_it_gets_nothing_at_a_foreign_host(alice_key: str) -> None:
    client = Client(headers={"authorization": f"Bearer {alice_key}", "host": "elsewhere.example"})
    assert client.get("/api/v1/memory/settings").status_code == 400


def test_an_unknown_path_is_not_found_in_the_one_shape(alice_key: str) -> None:
    error(Api(alice_key).get("/nowhere"), 404, "not_found")


def test_the_pages_of_the_api_take_a_session_beside_a_key(alice: User, alice_key: str) -> None:
    client = Client(headers={"authorization": f"Bearer {alice_key}"})
    client.force_login(alice)
    assert client.get("/api/docs/").status_code == 200


def test_what_pages_need_comes_after_what_calls_with_a_key_pass() -> None:
    names = [name.rpartition(".")[2] for name in settings.MIDDLEWARE]
    passed = names[: names.index("api_key_calls")]
    assert set(passed) == {
        "health_check",
        "request_id",
        "client_address",
        "SecurityMiddleware",
        "WhiteNoiseMiddleware",
        "content_security_policy",
        "XFrameOptionsMiddleware",
    }


def test_only_the_admin_is_compressed() -> None:
    packed = {"accept-encoding": "gzip"}
    assert "Content-Encoding" not in Client().get("/signin/", headers=packed)
    owner = users.register(username="owner", password="correct-horse-battery")
    users.give_role(owner, Role.OWNER)
    client = Client()
    client.force_login(owner)
    assert "Content-Encoding" not in client.get("/memory/", headers=packed)
    assert client.get("/admin/", headers=packed)["Content-Encoding"] == "gzip"
