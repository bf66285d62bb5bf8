"""No key that belongs to nobody reaches the owner's account, whatever it calls the owner."""

from __future__ import annotations

from itertools import product
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.test import Client

from memories.models import Memory
from ops.access import as_system
from ops.accounts import keys
from ops.models import ApiKey, Scope, SignInLink, User
from ops.queue import worker
from tests.case_loop import check_each
from tests.factories import make_memory
from tests.memcenter.rest.client import Api
from tests.rows import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    """The login of the first run, with a memory and a key of their own."""
    call_command("firstrun")
    owner = User.objects.get(username="demo")
    make_memory(owner, "Owns the place")
    keys.create(name="own", scopes=["read"], user=owner)
    return owner


@pytest.fixture
def text() -> str:
    with as_system():
        return keys.create(name="backend", scopes=list(Scope.values))[1]


def calls(owner: User, name: str) -> dict[str, tuple[str, str, Any]]:
    own_key = ApiKey.objects.get(user=owner).public_id
    memory = Memory.objects.get(user=owner).public_id
    named = {"user_id": name}
    return {
        "sign-in link": ("post", "/signin-links", named),
        "forget-user": ("post", "/memory/forget", named | {"scope": "user"}),
        "settings": ("patch", "/memory/settings", named | {"longterm_enabled": False}),
        "a new key": ("post", "/keys", named | {"name": "x", "scopes": ["read"]}),
        "another key": ("patch", f"/keys/{own_key}", named | {"name": "stolen"}),
        "a key's end": ("delete", f"/keys/{own_key}", named),
        "a memory": ("delete", f"/memory/long_term/{memory}", named),
    }


NAMES = ("demo", "DEMO", "subject", "1")
KINDS = (
    *("sign-in link", "forget-user", "settings", "a new key"),
    *("another key", "a key's end", "a memory"),
)


def test_no_unbound_key_reaches_the_owner(owner: User, text: str) -> None:
    before = rows_of(owner)

    def check(case: tuple[str, str]) -> None:
        kind, name = case
        called = str(owner.subject) if name == "subject" else name
        method, path, body = calls(owner, called)[kind]
        query = {"user_id": called} if method == "delete" else {}
        response = Api(text).call(method, path, body, **query)
        worker.drain()
        assert rows_of(owner) == before
        assert response.status_code in (200, 201, 202, 404)
        for link in SignInLink.objects.all():
            assert link.user.external_id == called and not link.user.is_staff
        assert not ApiKey.objects.filter(user=owner).exclude(name="own").exists()
        assert b"Owns the place" not in response.content

    assert set(KINDS) == set(calls(owner, "demo"))
    check_each(product(KINDS, NAMES), check, count=7 * 4)


def test_a_link_for_somebody_who_is_called_like_the_owner_opens_an_account_of_their_own(
    owner: User, text: str
) -> None:
    made = Api(text).post("/signin-links", {"user_id": "demo"})
    client = Client()
    client.get(urlsplit(made.json()["url"]).path)  # type: ignore[attr-defined]
    came = User.objects.get(pk=client.session["_auth_user_id"])
    assert came != owner and came.external_id == "demo" and not came.is_staff
    assert client.get("/people/").status_code == 404
    assert client.get("/admin/").status_code == 302


@pytest.mark.parametrize("way", ["/v2/entities/user/demo/", "/v1/memories/?user_id=demo"])
def test_nor_does_mem0s_protocol(owner: User, text: str, way: str) -> None:
    before = rows_of(owner)
    asked = Client(headers={"Authorization": f"Token {text}"})
    assert asked.delete(way).status_code in (200, 404)
    worker.drain()
    assert rows_of(owner) == before
    assert b"Owns the place" not in asked.get("/v2/entities/").content
