from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from foundation.errors import NotFound
from ops.accounts import keys, registration, sign_ins, users
from ops.models import AuditEvent, SignInLink, User
from tests.draining import cleaned_up
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_attempts")]
PASSWORD = "correct-horse-battery"


def path(key: str, **body: Any) -> str:
    url: str = answer(Api(key).post("/signin-links", body), 201)["url"]
    return urlsplit(url).path


def signed_in(client: Client) -> str | None:
    found: str | None = client.session.get("_auth_user_id")
    return found


def test_a_link_signs_one_person_in_once(client: Client, alice: User, product_key: str) -> None:
    body = {"user_id": "alice", "next": "/memory/", "language": "zh-hans"}
    made = answer(Api(product_key).post("/signin-links", body), 201)
    assert set(made) == {"url", "expires_at"}
    first = client.get(urlsplit(made["url"]).path)
    assert (first.status_code, first["Location"]) == (302, "/memory/")
    assert first["Referrer-Policy"] == "no-referrer" and "no-store" in first["Cache-Control"]
    assert signed_in(client) == str(alice.pk)
    assert client.cookies["django_language"].value == "zh-hans"
    other = Client()
    again = other.get(urlsplit(made["url"]).path)
    assert again.status_code == 410 and signed_in(other) is None
    actions = AuditEvent.objects.filter(subject=alice.subject).values_list("action", flat=True)
    assert {"signin_link.made", "signin_link.used", "signin.succeeded"} <= set(actions)


def test_the_link_itself_is_kept_nowhere(alice: User, product_key: str) -> None:
    token = path(product_key, user_id="alice").rstrip("/").rsplit("/", 1)[-1]
    row = SignInLink.objects.get()
    assert token not in {row.digest, row.next} and len(row.digest) == 64
    left = row.expires_at - timezone.now()
    assert timedelta(minutes=9) < left <= timedelta(minutes=10)


def test_a_person_whom_nobody_knew_appears(client: Client, product_key: str) -> None:
    client.get(path(product_key, user_id="new"))
    assert signed_in(client) == str(users.find("new").pk)


def test_a_link_that_ran_out_or_never_was_says_what_to_do(
    client: Client, alice: User, product_key: str
) -> None:
    late = path(product_key, user_id="alice")
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for one in (late, "/signin/link/nonsense/"):
        found = client.get(one)
        assert found.status_code == 410 and b"ask for a new one" in found.content
    assert signed_in(client) is None
    cleaned_up()
    assert not SignInLink.objects.exists()


def test_looking_ahead_uses_no_link_up(client: Client, alice: User, product_key: str) -> None:
    link = path(product_key, user_id="alice")
    assert client.head(link).status_code == 405
    assert client.get(link, headers={"Sec-Purpose": "prefetch;prerender"}).status_code == 503
    assert client.get(link).status_code == 302


def test_guessing_links_is_slowed_down(client: Client, alice: User, product_key: str) -> None:
    for _ in range(sign_ins.ALLOWED):
        client.get("/signin/link/guess/")
    assert client.get(path(product_key, user_id="alice")).status_code == 429


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "//elsewhere.example/", "memory"])
def test_next_leads_only_to_pages_of_ours(alice: User, product_key: str, wanted: str) -> None:
    body = {"user_id": "alice", "next": wanted}
    assert refused(Api(product_key).post("/signin-links", body), "next")
    body = {"user_id": "alice", "language": "tlh"}
    assert refused(Api(product_key).post("/signin-links", body), "language")


def test_staff_never_sign_in_by_a_link(client: Client) -> None:
    chief = User.objects.create_superuser("chief", PASSWORD)
    text = keys.create(name="chief's", scopes=["signin"], user=chief)[1]
    error(Api(text).post("/signin-links"), 403, "not_allowed")
    usual = users.register(username="maya", password=PASSWORD)
    token = registration.make_link(user=usual).token
    User.objects.filter(pk=usual.pk).update(is_staff=True)
    with pytest.raises(NotFound):
        registration.take_link(token)


def test_nobody_who_is_being_forgotten_signs_in(
    client: Client, alice: User, product_key: str
) -> None:
    link = path(product_key, user_id="alice")
    User.objects.filter(pk=alice.pk).update(hidden_at=timezone.now())
    assert client.get(link).status_code == 410
    error(Api(product_key).post("/signin-links", {"user_id": "alice"}), 409, "being_forgotten")


def test_links_need_a_key_of_that_scope_that_reaches_the_person(
    alice: User, mallory_key: str
) -> None:
    narrow = keys.create(name="narrow", scopes=["read", "write", "admin"])[1]
    error(Api(narrow).post("/signin-links", {"user_id": "alice"}), 403, "not_allowed")
    error(Api(mallory_key).post("/signin-links", {"user_id": "alice"}), 404, "not_found")
    assert not SignInLink.objects.exists()


def test_the_same_call_again_makes_another_link(alice: User, product_key: str) -> None:
    once, body = {"Idempotency-Key": "k"}, {"user_id": "alice"}
    urls = {
        answer(Api(product_key).call("post", "/signin-links", body, headers=once), 201)["url"]
        for _ in range(2)
    }
    assert len(urls) == 2


def test_who_came_by_a_link_may_choose_a_name_and_a_password(
    client: Client, alice: User, product_key: str
) -> None:
    client.get(path(product_key, user_id="alice"))
    assert b"/settings/password/first/" in client.get("/settings/sessions/").content
    chosen = {"username": "alice.w", "password": PASSWORD}
    done = client.post("/settings/password/first/", chosen)
    assert (done.status_code, done["Location"]) == (302, "/settings/sessions/")
    assert signed_in(client) == str(alice.pk)
    other = Client()
    other.post("/signin/", chosen)
    assert signed_in(other) == str(alice.pk)
    assert client.get("/settings/password/first/").status_code == 302
    assert b"/settings/password/first/" not in client.get("/settings/sessions/").content


@pytest.mark.parametrize(
    "chosen",
    [
        {"username": "maya", "password": PASSWORD},
        {"username": "alice.w", "password": "12345678"},
        {"username": "", "password": PASSWORD},
    ],
)
def test_a_taken_name_or_a_weak_password_is_not_chosen(
    client: Client, alice: User, product_key: str, chosen: dict[str, str]
) -> None:
    users.register(username="maya", password=PASSWORD)
    client.get(path(product_key, user_id="alice"))
    assert client.post("/settings/password/first/", chosen).status_code == 422
    alice.refresh_from_db()
    assert alice.username is None and not alice.has_usable_password()


def test_a_first_password_needs_a_fresh_link(client: Client, alice: User, product_key: str) -> None:
    client.get(path(product_key, user_id="alice"))
    session = client.session
    session["signed_in_at"] = timezone.now().timestamp() - 601
    session.save()
    chosen = {"username": "alice.w", "password": PASSWORD}
    assert client.post("/settings/password/first/", chosen).status_code == 403
    assert Client().get("/settings/password/first/").status_code == 302
