"""Signing in by an OpenID Connect provider: against a real one, on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from joserfc import jwk
from pytest_django import Settings

from ops.access import as_user
from ops.accounts import registration, sign_ins, users
from ops.forgetting import person_forgets
from ops.models import AuditEvent, Identity, SecondFactor, User
from ops.queue import worker
from tests.openid_server import CLIENT, SECRET, Provider

PASSWORD = "correct-horse-battery"
pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    with Provider().serving() as provider:
        settings.OIDC_ISSUER = provider.issuer
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
        settings.OIDC_NAME = "Example ID"
        yield provider


@pytest.fixture
def maya() -> User:
    return users.register(username="maya@example.org", password=PASSWORD)


def arrive(client: Client, provider: Provider, *, next_page: str = "") -> Any:
    """By the button, over the provider's page, and back."""
    left = client.get(f"/signin/oidc/?next={next_page}")
    assert left.status_code == 302, left.text
    assert left["Location"].startswith(f"{provider.issuer}/authorize?")
    return client.get(provider.page(left["Location"]))


def who(client: Client) -> str | None:
    found: str | None = client.session.get("_auth_user_id")
    return found


def test_without_a_provider_there_is_neither_button_nor_page(client: Client) -> None:
    assert "/signin/oidc/" not in client.get("/signin/").text
    assert client.get("/signin/oidc/").status_code == 404
    assert client.get("/signin/oidc/return/").status_code == 404


def test_who_comes_for_the_first_time_gets_an_account_and_is_known_the_next_time(
    client: Client, provider: Provider
) -> None:
    assert not registration.is_registration_open()
    assert "Sign in with Example ID" in client.get("/signin/").text
    provider.claims |= {"email": "lin@example.org", "email_verified": True, "name": "林晓"}
    answer = arrive(client, provider, next_page="/memory/")
    assert answer["Location"] == "/memory/"
    made = User.objects.get(username="lin@example.org")
    assert (made.display_name, made.external_id, made.has_usable_password()) == (
        "林晓",
        None,
        False,
    )
    assert who(client) == str(made.pk)
    again = Client()
    provider.claims |= {"email": "moved@example.org"}
    arrive(again, provider)
    assert who(again) == str(made.pk) and User.objects.count() == 1
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert actions == {"account.made", "identity.connected", "signin.succeeded"}


def test_no_account_is_made_where_the_operator_makes_them(
    client: Client, provider: Provider, settings: Settings
) -> None:
    settings.OIDC_CREATES_ACCOUNTS = False
    answer = arrive(client, provider)
    assert answer.status_code == 403 and "You don’t have an account" in answer.text
    assert who(client) is None and not User.objects.exists()


@pytest.mark.parametrize(
    ("links", "verified", "staff", "gets_in"),
    [
        (False, True, False, False),
        (True, False, False, False),
        (True, True, True, False),
        (True, True, False, True),
    ],
)
def test_a_login_is_taken_for_ones_own_only_by_an_address_that_is_vouched_for(
    client: Client,
    provider: Provider,
    settings: Settings,
    maya: User,
    links: bool,
    verified: bool,
    staff: bool,
    gets_in: bool,
) -> None:
    settings.OIDC_LINKS_BY_EMAIL = links
    User.objects.filter(pk=maya.pk).update(is_staff=staff)
    provider.claims |= {"email": "Maya@example.org", "email_verified": verified}
    arrive(client, provider)
    assert (who(client) == str(maya.pk)) is gets_in
    assert Identity.objects.filter(user=maya).exists() is gets_in


def test_an_account_is_connected_by_its_password_and_disconnected_by_it(
    client: Client, provider: Provider, maya: User
) -> None:
    client.force_login(maya)
    wrong = client.post("/settings/signin/connect/", {"password": "no"})
    assert wrong.status_code == 422
    arrive(client, provider)  # unasked: signs in as whoever that is, and connects nothing
    assert not Identity.objects.filter(user=maya).exists()
    Identity.objects.all().delete()
    client.force_login(maya)
    assert "Continue to" in client.post("/settings/signin/connect/", {"password": PASSWORD}).text
    arrive(client, provider)
    assert Identity.objects.get().user == maya
    visitor = Client()
    arrive(visitor, provider)
    assert who(visitor) == str(maya.pk)
    client.post("/settings/signin/disconnect/", {"password": PASSWORD})
    assert not Identity.objects.exists()


@pytest.mark.parametrize("what", ["key", "audience", "age", "nonce", "issuer", "state"])
def test_a_token_that_is_not_quite_right_opens_nothing(
    client: Client, provider: Provider, what: str
) -> None:
    past = int(time.time()) - 3_600
    if what == "key":
        provider.key = jwk.RSAKey.generate_key(2048, {"kid": "one"})
    wrong: dict[str, dict[str, Any]] = {
        "audience": {"aud": "somebody-else"},
        "age": {"iat": past, "exp": past + 60},
        "nonce": {"nonce": "of yesterday"},
        "issuer": {"iss": "https://elsewhere.example"},
    }
    provider.claims |= wrong.get(what, {})
    back = provider.page(client.get("/signin/oidc/")["Location"])
    answer = (Client() if what == "state" else client).get(back)
    assert answer.status_code == 502 and "didn’t work" in answer.text
    assert who(client) is None and not User.objects.exists()
    assert AuditEvent.objects.get().action == "signin.failed"


def test_a_code_opens_once_and_a_provider_that_is_down_is_said(
    client: Client, provider: Provider
) -> None:
    back = provider.page(client.get("/signin/oidc/")["Location"])
    client.get(back)
    client.post("/signout/")
    assert client.get(back).status_code == 502
    assert who(client) is None
    provider.down = True
    back = provider.page(client.get("/signin/oidc/")["Location"])
    assert client.get(back).status_code == 502


def test_the_second_step_is_asked_for_also_after_the_provider(
    client: Client, provider: Provider, maya: User
) -> None:
    Identity.objects.create(user=maya, issuer=provider.issuer, sub=provider.claims["sub"])
    SecondFactor.objects.create(user=maya, secret=sign_ins.new_secret())
    answer = arrive(client, provider)
    assert answer["Location"] == "/signin/code/" and who(client) is None


def test_who_was_forgotten_is_somebody_new_to_the_provider_too(
    client: Client, provider: Provider, maya: User
) -> None:
    Identity.objects.create(user=maya, issuer=provider.issuer, sub=provider.claims["sub"])
    with as_user(maya):
        person_forgets.forget_user(user=maya)
    answer = arrive(client, provider)
    assert answer.status_code == 403 and who(client) is None
    worker.drain()
    assert not Identity.objects.exists()
    arrive(client, provider)
    assert who(client) == str(User.objects.get().pk) != str(maya.pk)
