"""The second step: codes of an app, recovery codes, and no door that leads past it."""

from __future__ import annotations

import re

import pyotp
import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client

from ops.access import as_system, as_user
from ops.accounts import registration, sign_ins, users
from ops.models import AuditEvent, SecondFactor, User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_attempts")]

PASSWORD = "correct-horse-battery"
APP = pyotp.random_base32()
SPARE = "abcd-efgh-ijkm-npqr"


@pytest.fixture
def maya() -> User:
    user = users.register(username="maya", password=PASSWORD)
    SecondFactor.objects.create(user=user, secret=APP, recovery=[sign_ins.recovery_digest(SPARE)])
    return user


def code_of_now() -> str:
    return pyotp.TOTP(APP).now()


def give_password(client: Client, **more: str) -> str:
    answer = client.post("/signin/", {"username": "maya", "password": PASSWORD, **more})
    assert "_auth_user_id" not in client.session
    return str(answer["Location"])


def give_code(client: Client, code: str) -> int:
    return int(client.post("/signin/code/", {"code": code}).status_code)


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_it_is_switched_on_by_a_code_and_the_password_and_gives_recovery_codes_once(
    client: Client,
) -> None:
    user = users.register(username="lin", password=PASSWORD)
    client.force_login(user)
    page = client.get("/settings/signin/")
    assert "data:image/svg+xml" in page.text
    assert 'href="otpauth://totp/' in page.text and 'data-copy="app-key"' in page.text
    found = re.search(r'id="app-key">([A-Z2-7 ]+)<', page.text)
    assert found
    secret = found[1].replace(" ", "")
    good = {"code": pyotp.TOTP(secret).now(), "password": PASSWORD}
    for bad in ({"code": "000"}, {"password": "no"}, {"code": ""}):
        assert client.post("/settings/signin/code/on/", good | bad).status_code == 422
    assert not SecondFactor.objects.exists()
    answer = client.post("/settings/signin/code/on/", good)
    codes = re.findall(r"<code>([a-z0-9]{4}(?:-[a-z0-9]{4}){3})</code>", answer.text)
    assert len(codes) == sign_ins.RECOVERY_CODES
    assert "no-store" in answer["Cache-Control"]
    row = SecondFactor.objects.get(user=user)
    assert not set(codes) & set(row.recovery)
    shown = client.get("/settings/signin/").text
    assert secret not in shown and codes[0] not in shown
    with as_user(user):
        assert sign_ins.use_second_factor_code(user=user, code=codes[0].upper())
        assert not sign_ins.use_second_factor_code(user=user, code=codes[0])


def test_the_password_alone_no_longer_opens(client: Client, maya: User) -> None:
    assert give_password(client, next="/memory/data/") == "/signin/code/"
    assert client.get("/memory/").status_code == 302
    assert give_code(client, "000000") == 422
    before = client.session.session_key
    answer = client.post("/signin/code/", {"code": code_of_now()})
    assert answer["Location"] == "/memory/data/"
    assert is_in(client) and client.session.session_key != before
    events = AuditEvent.objects.filter(subject=maya.subject).order_by("pk")
    assert [one.action for one in events][-2:] == ["signin.failed", "signin.succeeded"]


def test_a_code_opens_once(client: Client, maya: User) -> None:
    code = code_of_now()
    give_password(client)
    give_code(client, code)
    other = Client()
    give_password(other)
    assert give_code(other, code) == 422
    assert give_code(other, SPARE) == 302 and is_in(other)
    third = Client()
    give_password(third)
    assert give_code(third, SPARE) == 422


def test_ten_wrong_codes_and_the_right_one_waits_wherever_they_came_from(
    client: Client, maya: User
) -> None:
    for number in range(sign_ins.ALLOWED):
        guessing = Client(REMOTE_ADDR=f"192.0.2.{number}")
        give_password(guessing)
        assert give_code(guessing, "000000") == 422
    give_password(client)
    assert give_code(client, code_of_now()) == 429
    assert not is_in(client)


def test_nobody_gets_to_the_code_without_the_password_or_after_it_has_changed(
    client: Client, maya: User
) -> None:
    assert client.get("/signin/code/")["Location"] == "/signin/"
    assert client.post("/signin/code/", {"code": code_of_now()})["Location"] == "/signin/"
    give_password(client)
    with as_user(maya):
        users.change_password(user=maya, password="another-horse-battery")
    assert client.post("/signin/code/", {"code": code_of_now()})["Location"] == "/signin/"
    assert not is_in(client)


def test_the_admin_has_no_door_that_leads_past_it(client: Client, maya: User) -> None:
    User.objects.filter(pk=maya.pk).update(is_staff=True, is_superuser=True)
    asked = client.get("/admin/", follow=True)
    assert asked.redirect_chain[-1][0] == "/signin/?next=%2Fadmin%2F"
    own = {"username": "maya", "password": PASSWORD, "next": "/admin/"}
    assert client.post("/admin/login/", own).status_code == 405
    give_password(client, next="/admin/")
    assert client.get("/admin/").status_code == 302
    welcome = client.post("/signin/code/", {"code": code_of_now()})["Location"]
    assert welcome == "/welcome/?next=%2Fadmin%2F"
    assert client.get("/admin/").status_code == 200


def test_staff_can_be_made_to_have_one(client: Client, maya: User, settings: LazySettings) -> None:
    settings.STAFF_SECOND_STEP = True
    User.objects.filter(pk=maya.pk).update(is_staff=True, is_superuser=True)
    client.force_login(maya)
    assert client.get("/admin/").status_code == 200
    SecondFactor.objects.all().delete()
    led = client.get("/admin/ops/user/", follow=True)
    assert led.redirect_chain == [("/settings/signin/", 302)]
    assert "The admin area opens once" in led.text


def test_who_is_no_staff_is_refused_and_not_sent_in_circles(client: Client, maya: User) -> None:
    client.force_login(maya)
    assert client.get("/admin/", follow=True).status_code == 403


def test_nor_does_a_link_lead_past_it(client: Client, maya: User) -> None:
    with as_system():
        made = registration.make_link(user=maya, next_page="/memory/")
    assert client.get(f"/signin/link/{made.token}/")["Location"] == "/signin/code/"
    assert not is_in(client)
    assert client.post("/signin/code/", {"code": SPARE})["Location"] == "/memory/"


def test_it_is_switched_off_and_codes_are_renewed_by_the_password(
    client: Client, maya: User
) -> None:
    client.force_login(maya)
    for name in ("renew", "off"):
        answer = client.post(f"/settings/signin/code/{name}/", {"password": "no"})
        assert answer.status_code == 422
    client.post("/settings/signin/code/renew/", {"password": PASSWORD})
    row = SecondFactor.objects.get()
    assert sign_ins.recovery_digest(SPARE) not in row.recovery
    assert len(row.recovery) == sign_ins.RECOVERY_CODES
    client.post("/settings/signin/code/off/", {"password": PASSWORD})
    assert not SecondFactor.objects.exists()


def test_whoever_runs_the_place_helps_who_lost_everything(maya: User) -> None:
    call_command("dropsecondstep", "maya", verbosity=0)
    assert not SecondFactor.objects.exists()
    assert AuditEvent.objects.get(action="second_factor.off").actor == "operator"
