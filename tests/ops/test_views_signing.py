from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisGone

from foundation.errors import Invalid
from ops.accounts import registration, sign_ins, users
from ops.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_attempts")]

PASSWORD = "correct-horse-battery"


@pytest.fixture
def maya(db: None) -> User:
    return users.register(username="maya", password=PASSWORD)


def test_signing_in_leads_to_the_chat_under_a_new_session(client: Client, maya: User) -> None:
    client.get("/signin/")
    client.session["kept"] = "1"
    before = client.session.session_key
    answer = client.post("/signin/", {"username": "maya", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.session.session_key != before
    assert client.session["_auth_user_id"] == str(maya.pk)


def test_the_name_is_matched_without_case_unless_two_differ_only_in_it(
    client: Client, maya: User
) -> None:
    assert client.post("/signin/", {"username": "Maya", "password": PASSWORD}).status_code == 302
    client.logout()
    User.objects.create_user("MAYA", "another-" + PASSWORD)
    assert client.post("/signin/", {"username": "maya", "password": PASSWORD}).status_code == 302
    client.logout()
    assert client.post("/signin/", {"username": "Maya", "password": PASSWORD}).status_code == 422


def test_a_name_that_differs_only_in_case_is_taken(maya: User) -> None:
    with pytest.raises(Invalid, match="taken"):
        users.register(username="Maya", password=PASSWORD)


def test_the_form_suits_a_phone_and_says_whom_to_ask(client: Client, db: None) -> None:
    page = client.get("/signin/").text
    assert 'autocapitalize="none"' in page and "data-shows-secret" in page
    assert "Forgot your password?" in page


@pytest.mark.parametrize(
    ("wanted", "led_to"),
    [
        ("/memory/data/", "/memory/data/"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("/signin/?next=/x/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_next_leads_only_to_pages_of_ours(
    client: Client, maya: User, wanted: str, led_to: str
) -> None:
    data = {"username": "maya", "password": PASSWORD, "next": wanted}
    assert client.post("/signin/", data)["Location"] == led_to


def test_a_wrong_password_is_a_422_that_does_not_tell_which_was_wrong(
    client: Client, maya: User
) -> None:
    wrong = client.post("/signin/", {"username": "maya", "password": "no"})
    nobody = client.post("/signin/", {"username": "nobody", "password": "no"})
    assert wrong.status_code == nobody.status_code == 422
    words = "The name and password don’t match."
    assert words in wrong.text and words in nobody.text
    assert "_auth_user_id" not in client.session


def test_missing_fields_are_named(client: Client, db: None) -> None:
    answer = client.post("/signin/", {})
    assert answer.status_code == 422
    assert answer.text.count("This field is required.") == 2


def test_after_ten_failures_even_the_right_password_waits(client: Client, maya: User) -> None:
    for _ in range(sign_ins.ALLOWED):
        assert client.post("/signin/", {"username": "maya", "password": "no"}).status_code == 422
    answer = client.post("/signin/", {"username": "maya", "password": PASSWORD})
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "_auth_user_id" not in client.session


def test_failures_of_one_address_do_not_lock_another(client: Client, maya: User) -> None:
    for _ in range(sign_ins.ALLOWED):
        client.post("/signin/", {"username": "maya", "password": "no"})
    data = {"username": "maya", "password": PASSWORD}
    assert client.post("/signin/", data, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_nor_does_an_address_try_many_names(
    client: Client, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_ins, "ALLOWED_OF_ADDRESS", 3)
    for name in ("one", "two", "three"):
        client.post("/signin/", {"username": name, "password": PASSWORD})
    data = {"username": "maya", "password": PASSWORD}
    assert client.post("/signin/", data).status_code == 429
    assert client.post("/signin/", data, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_signing_in_forgives_earlier_failures(client: Client, maya: User) -> None:
    for _ in range(sign_ins.ALLOWED - 1):
        client.post("/signin/", {"username": "maya", "password": "no"})
    client.post("/signin/", {"username": "maya", "password": PASSWORD})
    client.post("/signout/")
    assert client.post("/signin/", {"username": "maya", "password": "no"}).status_code == 422


def test_neither_name_nor_address_stands_in_redis(client: Client, maya: User) -> None:
    client.post("/signin/", {"username": "maya", "password": "no"})
    keys = cache._cache.get_client().keys("*")  # type: ignore[attr-defined]
    assert any(b"signin:" in key for key in keys)
    assert not any(b"maya" in key or b"127.0.0.1" in key for key in keys)


def test_without_redis_people_still_get_in(
    client: Client, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*args: object, **kwargs: object) -> None:
        raise RedisGone

    for name in ("get", "add", "incr", "delete"):
        monkeypatch.setattr(cache, name, gone)
    assert client.post("/signin/", {"username": "maya", "password": "no"}).status_code == 422
    answer = client.post("/signin/", {"username": "maya", "password": PASSWORD})
    assert answer.status_code == 302


def test_a_locked_person_does_not_get_in(client: Client, maya: User) -> None:
    User.objects.filter(pk=maya.pk).update(is_active=False)
    assert client.post("/signin/", {"username": "maya", "password": PASSWORD}).status_code == 422


def test_registering_makes_a_person_without_external_id_and_signs_them_in(
    client: Client, db: None
) -> None:
    registration.switch_registration(is_open=True)
    data = {"username": "林晓", "password": PASSWORD}
    answer = client.post("/register/", data, headers={"Accept-Language": "zh-CN"})
    made = User.objects.get(username="林晓")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert made.external_id is None
    assert users.settings_of(made).language == "zh-hans"
    assert client.session["_auth_user_id"] == str(made.pk)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"username": "maya", "password": PASSWORD}, "This name is taken."),
        ({"username": "new", "password": "12345"}, "too short"),
        ({"username": "new", "password": "password"}, "too common"),
        ({"username": "", "password": PASSWORD}, "This field is required."),
    ],
)
def test_registering_wrongly_is_a_422_with_the_reason(
    client: Client, maya: User, data: dict[str, str], words: str
) -> None:
    registration.switch_registration(is_open=True)
    answer = client.post("/register/", data)
    assert answer.status_code == 422
    assert words in answer.text
    assert User.objects.count() == 1


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(("language", "words"), [("en", "invitation link"), ("zh-CN", "邀请链接")])
def test_closed_registration_makes_nobody_and_says_what_to_do(
    client: Client, db: None, settings: Settings, method: str, language: str, words: str
) -> None:
    settings.REGISTRATION_OPEN = False
    data = {"username": "new", "password": PASSWORD}
    headers = {"Accept-Language": language}
    answer = getattr(client, method)("/register/", data, headers=headers)
    assert answer.status_code == 404
    assert words in answer.text
    assert 'href="/signin/"' in answer.text
    assert "/register/" not in client.get("/signin/").text
    assert not User.objects.exists()


def test_who_is_signed_in_needs_no_page_for_visitors(client: Client, maya: User) -> None:
    registration.switch_registration(is_open=True)
    client.force_login(maya)
    assert client.get("/signin/?next=/memory/data/")["Location"] == "/memory/data/"
    assert client.get("/register/")["Location"] == "/"


def test_signing_out_needs_a_post(client: Client, maya: User) -> None:
    client.force_login(maya)
    assert client.get("/signout/").status_code == 405
    assert client.post("/signout/")["Location"] == "/signin/"
    assert "_auth_user_id" not in client.session


def test_forms_need_their_token(maya: User) -> None:
    client = Client(enforce_csrf_checks=True)
    for address in ("/signin/", "/register/", "/signout/", "/settings/theme/", "/i18n/setlang/"):
        assert client.post(address, {}).status_code == 403
