from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from ops.accounts import sign_ins, users
from ops.accounts.sign_ins import device_of
from ops.models import AuditEvent, SignIn, User
from tests.draining import cleaned_up

PASSWORD = "correct-horse-battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
)


@pytest.fixture
def maya(db: None) -> User:
    cache.clear()
    return users.register(username="maya", password=PASSWORD, language="en")


def entered(agent: str = FIREFOX, password: str = PASSWORD, name: str = "maya") -> Client:
    client = Client(HTTP_USER_AGENT=agent)
    client.post("/signin/", {"username": name, "password": password})
    return client


def is_in(client: Client) -> bool:
    return client.get("/memory/data/").status_code == 200


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (FIREFOX, "Firefox · Linux"),
        (SAFARI, "Safari · iPhone"),
        (EDGE, "Edge · Windows"),
        ("curl/8.0", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_by_two_words_of_ours(agent: str, device: str) -> None:
    assert device_of(agent) == device


def test_every_browser_that_is_signed_in_is_listed_this_one_first(maya: User) -> None:
    here, _there = entered(FIREFOX), entered(SAFARI)
    page = here.get("/settings/sessions/").text
    assert page.index("Firefox · Linux") < page.index("Safari · iPhone")
    assert page.count("this one") == 1
    assert page.count("Sign out there<span") == 1


def test_one_browser_is_signed_out_from_another(maya: User) -> None:
    here, there = entered(FIREFOX), entered(SAFARI)
    row = SignIn.objects.get(device="Safari · iPhone")
    here.post(f"/settings/sessions/{row.pk}/end/")
    assert is_in(here) and not is_in(there)
    assert AuditEvent.objects.filter(action="signin.ended", subject=maya.subject).exists()


def test_signing_out_elsewhere_leaves_this_browser_signed_in(maya: User) -> None:
    here, there = entered(FIREFOX), entered(SAFARI)
    here.post("/settings/sessions/others/end/")
    assert is_in(here) and not is_in(there)
    assert [one.device for one in SignIn.objects.filter(user=maya)] == ["Firefox · Linux"]


def test_signing_out_elsewhere_ends_sessions_that_nobody_noted(maya: User) -> None:
    here, unnoted = entered(), Client()
    unnoted.force_login(maya)
    assert is_in(unnoted)
    here.post("/settings/sessions/others/end/")
    assert not is_in(unnoted)


def test_signing_out_takes_the_browser_off_the_list(maya: User) -> None:
    client = entered()
    client.post("/signout/")
    assert not SignIn.objects.filter(user=maya).exists()


def test_a_stranger_can_neither_see_nor_end_it(maya: User, mallory: User) -> None:
    theirs = entered(SAFARI)
    row = SignIn.objects.get(user=maya)
    stranger = Client()
    stranger.force_login(mallory)
    assert "Safari" not in stranger.get("/settings/sessions/").text
    assert stranger.post(f"/settings/sessions/{row.pk}/end/").status_code == 404
    stranger.post("/settings/sessions/others/end/")
    assert is_in(theirs)


def test_the_list_asks_for_a_sign_in(maya: User) -> None:
    for path in ("/settings/sessions/", "/settings/sessions/others/end/", "/settings/password/"):
        assert Client().get(path).status_code in (302, 405)
        assert Client().post(path).status_code in (302, 405)


def test_a_browser_in_use_says_so_every_ten_minutes(maya: User) -> None:
    client = entered()
    long_ago = timezone.now() - timedelta(hours=3)
    SignIn.objects.update(seen_at=long_ago)
    client.get("/memory/data/")
    assert SignIn.objects.get().seen_at == long_ago
    session = client.session
    session["seen_at"] = long_ago.timestamp()
    session.save()
    client.get("/memory/data/")
    assert SignIn.objects.get().seen_at > long_ago


def test_the_password_is_changed_with_the_present_one_and_ends_the_other_sessions(
    maya: User,
) -> None:
    here, there = entered(), entered(SAFARI)
    new = "another-good-battery"
    here.post("/settings/password/", {"current": PASSWORD, "password": new})
    assert is_in(here) and not is_in(there)
    assert is_in(entered(password=new)) and not is_in(entered(password=PASSWORD))
    assert AuditEvent.objects.filter(action="password.changed", subject=maya.subject).exists()


@pytest.mark.parametrize(
    ("current", "password", "words"),
    [
        ("wrong", "another-good-battery", "That isn’t your password."),
        (PASSWORD, "short", "too short"),
    ],
)
def test_a_wrong_or_weak_password_changes_nothing(
    maya: User, current: str, password: str, words: str
) -> None:
    answer = entered().post("/settings/password/", {"current": current, "password": password})
    assert answer.status_code == 422
    assert words in answer.text
    assert is_in(entered())


def test_guessing_the_present_password_is_slowed_down(maya: User) -> None:
    client = entered()
    for _ in range(11):
        answer = client.post("/settings/password/", {"current": "no", "password": "another-good"})
    assert "Too many wrong" in answer.text
    answer = client.post("/settings/password/", {"current": PASSWORD, "password": "another-good"})
    assert answer.status_code == 422


def test_sessions_that_are_over_are_erased(maya: User) -> None:
    gone, here = entered(), entered()
    key = str(gone.session.session_key)
    long_ago = timezone.now() - timedelta(days=30)
    Session.objects.filter(pk=key).update(expire_date=long_ago)
    SignIn.objects.filter(session_key=key).update(began_at=long_ago, seen_at=long_ago)
    assert cleaned_up()["sessions"] == 1
    assert SignIn.objects.get().session_key == here.session.session_key
    assert not Session.objects.filter(pk=key).exists()


def test_ending_a_session_that_is_not_there_is_not_found(maya: User) -> None:
    sign_ins.forget_session(None)
    assert entered().post("/settings/sessions/999999/end/").status_code == 404
