from datetime import timedelta

import pytest
from django.utils import timezone

from ops.accounts import keys
from ops.models import ApiKey, User
from tests.conftest import key_row
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db
PATH = "/api/v1/memory/settings?user_id=alice"


def test_a_call_without_a_key_is_told_how_to_bring_one() -> None:
    response = Api(None).get("/memory/settings", user_id="alice")
    error(response, 401, "unauthenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("word", ["Bearer", "bearer", "Token"])
def test_a_key_may_come_as_bearer_or_token(word: str, alice: User, product_key: str) -> None:
    headers = {"authorization": f"{word} {product_key}"}
    answer(Api(None).call("get", PATH, headers=headers))


def test_a_key_may_come_in_its_own_header(alice: User, product_key: str) -> None:
    answer(Api(None).call("get", PATH, headers={"x-api-key": product_key}))


@pytest.mark.parametrize("text", ["", "mc_unknown", "Basic abc", "mc_ü", "mc_" + "x" * 5_000])
def test_an_unknown_key_is_refused(text: str) -> None:
    error(Api(text).get("/memory/settings", user_id="alice"), 401, "unauthenticated")


def test_an_empty_bearer_is_refused() -> None:
    response = Api(None).call("get", PATH, headers={"authorization": "Bearer"})
    error(response, 401, "unauthenticated")


@pytest.mark.parametrize("change", ["revoked_at", "expires_at"])
def test_a_dead_key_is_refused(change: str, alice: User, product_key: str) -> None:
    before = timezone.now() - timedelta(seconds=1)
    ApiKey.objects.filter(pk=key_row(product_key).pk).update(**{change: before})
    error(Api(product_key).get("/memory/settings", user_id="alice"), 401, "unauthenticated")


def test_the_key_of_an_inactive_user_is_refused(alice: User, alice_key: str) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    error(Api(alice_key).get("/memory/settings"), 401, "unauthenticated")


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("get", "/memory/settings", "read"),
        ("patch", "/memory/settings", "write"),
        ("post", "/memory/context", "write"),
        ("post", "/memory/forget", "forget"),
        ("post", "/clear", "forget"),
        ("delete", "/conversations/c1", "forget"),
    ],
)
def test_a_key_without_the_scope_is_not_allowed(
    method: str, path: str, scope: str, alice: User
) -> None:
    others = [one for one in ("read", "write", "forget", "export") if one != scope]
    text = keys.create(name="narrow", scopes=others, user=alice)[1]
    found = error(Api(text).call(method, path, {} if method != "get" else None), 403, "not_allowed")
    assert scope in found["message"]
