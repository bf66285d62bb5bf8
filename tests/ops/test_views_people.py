"""The page People: who has a login, invitations, roles, switching off, keys, registration."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from ops.accounts import keys, registration, sign_ins, users
from ops.models import ApiKey, AuditEvent, Identity, Instance, Invitation, Role, SignIn, User
from tests.draining import cleaned_up
from tests.memcenter.rest.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_attempts")]
PASSWORD = "correct-horse-battery"
PEOPLE = reverse("people")


def person(name: str, role: Role = Role.MEMBER) -> User:
    user = users.register(username=name, password=PASSWORD)
    if role is not Role.MEMBER:
        users.give_role(user, role)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    answer = client.post("/signin/", {"username": user.username, "password": PASSWORD})
    assert answer.status_code == 302
    return client


@pytest.fixture
def owner(db: None) -> User:
    return person("olga", Role.OWNER)


@pytest.fixture
def client(owner: User) -> Client:
    return signed_in(owner)


@pytest.fixture
def maya(db: None) -> User:
    return person("maya")


def of(name: str, user: User, *more: int) -> str:
    return reverse(name, args=[user.pk, *more])


def invited(client: Client, **form: str) -> str:
    """Create an invitation on the page; return its path."""
    page = client.post(PEOPLE, {"role": "member", "name": "Marta"} | form)
    found = re.search(r"/join/[\w-]+/", page.text)
    assert page.status_code == 200 and found
    return found[0]


def forms(user: User, key: ApiKey, invitation: int) -> dict[str, dict[str, str]]:
    return {
        PEOPLE: {"role": "member"},
        reverse("invitation_revoke", args=[invitation]): {},
        reverse("registration_switch"): {"registration": "on"},
        of("person_role", user): {"role": "owner", "password": PASSWORD},
        of("person_hand_over", user): {"password": PASSWORD},
        of("person_active", user): {"active": "off"},
        of("person_key_revoke", user, key.pk): {},
    }


@pytest.mark.parametrize("role", [None, Role.MEMBER, Role.AUDITOR])
def test_the_page_is_there_for_owners_alone(owner: User, maya: User, role: Role | None) -> None:
    key, _ = keys.create(name="laptop", scopes=["read"], user=maya)
    made = registration.invite(user=owner, role=Role.MEMBER)
    stranger = signed_in(person("mallory", role)) if role else Client()
    before = set(AuditEvent.objects.values_list("pk", flat=True))
    for page in (PEOPLE, of("person_page", maya), of("person_key_revoke", maya, key.pk)):
        assert stranger.get(page).status_code == (404 if role else 302), page
    for page, form in forms(maya, key, made.invitation.pk).items():
        assert stranger.post(page, form).status_code == (404 if role else 302), page
    assert set(AuditEvent.objects.values_list("pk", flat=True)) == before
    assert PEOPLE not in stranger.get(reverse("memory_home"), follow=True).text


def test_the_menu_leads_there(client: Client) -> None:
    assert f'href="{PEOPLE}"' in client.get(reverse("memory_home")).text


def test_everybody_with_a_login_is_listed_and_nobody_else(client: Client, alice: User) -> None:
    person("anna", Role.AUDITOR)
    Identity.objects.create(
        user=User.objects.create_user(display_name="By provider"), issuer="https://i", sub="s"
    )
    seen = person("maya")
    SignIn.objects.create(
        user=seen,
        session_key="s",
        began_at=timezone.now(),
        seen_at=timezone.now() - timedelta(hours=2),
    )
    gone = person("gone")
    users.set_active(user=gone, is_active=False)
    page = client.get(PEOPLE)
    shown = [(str(one), role) for one, role in page.context["people"]]
    assert shown[:2] == [("olga", Role.OWNER), ("anna", Role.AUDITOR)]
    assert {name for name, _ in shown[2:]} >= {"gone", "maya"} and len(shown) == 5
    assert "seen 2\xa0hours ago" in page.text and "deactivated" in page.text
    assert "never signed in" in page.text and "alice" not in page.text
    found = client.get(PEOPLE, {"q": "MAY"}).context["people"]
    assert [str(one) for one, _ in found] == ["maya"]
    assert "Nobody by that name." in client.get(PEOPLE, {"q": "xyz"}).text


def test_many_people_come_in_pages(client: Client) -> None:
    User.objects.bulk_create(User(username=f"p{n:03}") for n in range(60))
    first = client.get(PEOPLE)
    assert len(first.context["people"]) == 50 and "?page=1" in first.text
    rest = client.get(PEOPLE, {"page": "1"})
    assert len(rest.context["people"]) == 11 and "?page=2" not in rest.text
    assert client.get(PEOPLE, {"page": "²"}).status_code == 200


# Invitations.


@pytest.mark.parametrize("role", registration.INVITED_ROLES)
def test_an_invitation_makes_one_account_of_its_role(client: Client, role: Role) -> None:
    way, guest = invited(client, role=role.value), Client()
    assert "You were invited." in guest.get(way).text
    form = {"username": "marta", "password": PASSWORD, "timezone": "Asia/Shanghai"}
    answer = guest.post(way, form, headers={"Accept-Language": "zh-CN"})
    assert answer["Location"] == "/"
    marta = User.objects.get(username="marta")
    assert users.role_of(marta) is role and marta.external_id is None
    own = users.settings_of(marta)
    assert (own.language, own.timezone) == ("zh-hans", "Asia/Shanghai")
    assert guest.session["_auth_user_id"] == str(marta.pk)
    again = Client().post(way, form | {"username": "second"})
    assert again.status_code == 410
    assert "An invitation works once" in again.text
    assert not User.objects.filter(username="second").exists()


def test_the_link_is_shown_once_and_stored_as_a_hash(client: Client) -> None:
    way = invited(client)
    token = way.split("/")[2]
    row = Invitation.objects.get()
    assert token not in str(vars(row)) and len(row.digest) == 64
    page = client.get(PEOPLE).text
    assert token not in page and "Marta" in page


def test_an_invitation_ends_when_it_is_revoked_or_a_week_old(client: Client) -> None:
    way = invited(client)
    row = Invitation.objects.get()
    left = row.expires_at - timezone.now()
    assert timedelta(days=6) < left <= timedelta(days=7)
    Invitation.objects.update(expires_at=timezone.now())
    assert Client().get(way).status_code == 410
    assert "Marta" not in client.get(PEOPLE).text
    cleaned_up()
    assert not Invitation.objects.exists()
    other = invited(client)
    revoke = reverse("invitation_revoke", args=[Invitation.objects.get().pk])
    assert client.post(revoke).status_code == 302
    assert Client().get(other).status_code == 410
    assert client.post(revoke).status_code == 404


def test_an_invitation_by_somebody_who_is_no_owner_any_more_opens_nothing(
    client: Client, owner: User
) -> None:
    way = invited(client)
    person("next", Role.OWNER)
    users.give_role(owner, Role.AUDITOR)
    assert Client().get(way).status_code == 410


def test_nobody_is_invited_as_an_owner(client: Client) -> None:
    assert client.post(PEOPLE, {"role": "owner"}).status_code == 422
    assert not Invitation.objects.exists()


def test_a_wrong_form_keeps_the_invitation_and_says_why(client: Client) -> None:
    way = invited(client)
    form = {"username": "olga", "password": PASSWORD}
    answer = Client().post(way, form)
    assert answer.status_code == 422 and "This name is taken." in answer.text
    assert answer["Referrer-Policy"] == "same-origin" and "no-store" in answer["Cache-Control"]
    assert Client().post(way, form | {"username": "marta"}).status_code == 302


def test_who_has_an_account_uses_up_no_invitation(client: Client, maya: User) -> None:
    way = invited(client)
    assert "so you don’t need an invitation" in signed_in(maya).get(way, follow=True).text
    assert Invitation.objects.exists()


def test_guessing_invitations_is_slowed_down() -> None:
    for _ in range(sign_ins.ALLOWED):
        assert Client().get("/join/guess/").status_code == 410
    assert Client().get("/join/guess/").status_code == 429


# Registration.


def test_registration_is_closed_until_an_owner_opens_it(client: Client) -> None:
    visitor, form = Client(), {"username": "new", "password": PASSWORD}
    assert visitor.post("/register/", form).status_code == 404
    assert "/register/" not in visitor.get("/signin/").text
    client.post(reverse("registration_switch"), {"registration": "on"})
    assert "/register/" in visitor.get("/signin/").text
    assert visitor.post("/register/", form).status_code == 302
    client.post(reverse("registration_switch"))
    assert Client().get("/register/").status_code == 404
    acts = AuditEvent.objects.filter(action="registration.switched")
    assert [one.details["is_open"] for one in acts.order_by("pk")] == [True, False]


@pytest.mark.parametrize("is_open", [True, False])
def test_what_an_owner_decided_outweighs_the_setting(settings: Settings, is_open: bool) -> None:
    settings.REGISTRATION_OPEN = not is_open
    assert registration.is_registration_open() is not is_open
    registration.switch_registration(is_open=is_open)
    assert registration.is_registration_open() is is_open


def test_other_ways_in_stay_open_while_registration_is_closed(
    client: Client, alice: User, product_key: str
) -> None:
    """Signing in by a provider is tried in `test_openid.py`."""
    assert not registration.is_registration_open()
    made = registration.make_link(user=alice)
    came = Client()
    assert came.get(reverse("sign_in_by_link", args=[made.token])).status_code == 302
    assert came.session["_auth_user_id"] == str(alice.pk)
    answer = Client().post(invited(client), {"username": "marta", "password": PASSWORD})
    assert answer.status_code == 302
    users.choose_login(user=alice, username="alice", password=PASSWORD)
    assert signed_in(alice).get("/").status_code == 200


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"username": "olga"}, "这个名字已有人用了"),
        ({"username": "new", "password": "12345"}, "密码太短"),
        ({"username": "new", "password": "password"}, "这个密码太常见了"),
        ({"username": "newperson", "password": "newperson1"}, "登录名"),
        ({"username": "\x07"}, "字符"),
        ({"username": ""}, "字段"),
    ],
)
def test_what_is_wrong_with_an_account_is_said_in_the_pages_language(
    client: Client, form: dict[str, str], words: str
) -> None:
    registration.switch_registration(is_open=True)
    for way in ("/register/", invited(client)):
        answer = Client().post(
            way, {"password": PASSWORD} | form, headers={"Accept-Language": "zh-CN"}
        )
        assert answer.status_code == 422
        said = re.findall(r'class="(?:field__errors|notice notice--danger)".*?</p>', answer.text)
        assert said and words in said[0]
        told = re.sub(r"<[^>]+>|class=\"[^>]*>", "", " ".join(said))
        assert not re.search(r"[A-Za-z]{3}", told), told


@pytest.mark.parametrize(
    ("told", "kept"),
    [("America/New_York", "America/New_York"), ("Mars/Base", "UTC"), ("", "UTC")],
)
def test_registering_takes_the_browsers_time_zone(told: str, kept: str) -> None:
    registration.switch_registration(is_open=True)
    visitor = Client()
    assert 'name="timezone"' in visitor.get("/register/").text
    visitor.post("/register/", {"username": "new", "password": PASSWORD, "timezone": told})
    assert users.settings_of(User.objects.get(username="new")).timezone == kept


# Roles.


def test_a_role_is_changed_with_the_password(client: Client, owner: User, maya: User) -> None:
    way = of("person_role", maya)
    wrong = client.post(way, {"role": "owner", "password": "no"})
    assert wrong.status_code == 422 and "The password is wrong." in wrong.text
    assert client.post(way, {"role": "king", "password": PASSWORD}).status_code == 422
    for role in (Role.AUDITOR, Role.OWNER, Role.MEMBER):
        assert client.post(way, {"role": role.value, "password": PASSWORD}).status_code == 302
        assert users.role_of(User.objects.get(pk=maya.pk)) is role
    acts = AuditEvent.objects.filter(action="staff.role", subject=maya.subject)
    assert {(one.actor, one.surface) for one in acts} == {(f"staff {owner.pk}", "page")}


def test_the_last_owner_gives_the_role_up_only_by_handing_over(
    client: Client, owner: User, maya: User
) -> None:
    own = {"role": "member", "password": PASSWORD}
    refused = client.post(of("person_role", owner), own)
    assert refused.status_code == 422 and "This is the last owner." in refused.text
    assert client.post(of("person_hand_over", owner), own).status_code == 404
    assert client.post(of("person_hand_over", maya), {"password": "no"}).status_code == 422
    done = client.post(of("person_hand_over", maya), {"password": PASSWORD}, follow=True)
    assert "maya is the owner now" in done.text
    found = {one.username: users.role_of(one) for one in User.objects.all()}
    assert found == {"olga": Role.MEMBER, "maya": Role.OWNER}
    assert client.get(PEOPLE).status_code == 404


def test_nothing_is_handed_over_to_somebody_who_is_switched_off(
    client: Client, owner: User, maya: User
) -> None:
    users.set_active(user=maya, is_active=False)
    refused = client.post(of("person_hand_over", maya), {"password": PASSWORD})
    assert refused.status_code == 422
    assert users.role_of(User.objects.get(pk=owner.pk)) is Role.OWNER
    assert users.held_role(User.objects.get(pk=maya.pk)) is Role.MEMBER


def test_whom_a_backend_key_reaches_stays_a_member(client: Client, alice: User) -> None:
    users.choose_login(user=alice, username="alice", password=PASSWORD)
    assert "so they can only be a member." in client.get(of("person_page", alice)).text
    refused = client.post(of("person_role", alice), {"role": "owner", "password": PASSWORD})
    assert refused.status_code == 422
    assert users.role_of(User.objects.get(pk=alice.pk)) is Role.MEMBER


# Deactivation, and keys.


def test_somebody_who_is_deactivated_is_out_at_once_and_can_come_back(
    client: Client, maya: User
) -> None:
    browser = signed_in(maya)
    own = Api(keys.create(name="laptop", scopes=["read"], user=maya)[1])
    assert own.get("/memory/settings").status_code == 200
    client.post(of("person_active", maya), {"active": "off"})
    assert browser.get("/settings/").status_code == 302
    assert own.get("/memory/settings").status_code == 401
    form = {"username": "maya", "password": PASSWORD}
    assert Client().post("/signin/", form).status_code == 422
    assert "Reactivate" in client.get(of("person_page", maya)).text
    client.post(of("person_active", maya), {"active": "on"})
    assert browser.get("/settings/").status_code == 302
    assert own.get("/memory/settings").status_code == 200
    assert Client().post("/signin/", form).status_code == 302
    actions = AuditEvent.objects.filter(subject=maya.subject).values_list("action", flat=True)
    assert {"user.lock", "user.unlock"} <= set(actions)


def test_nobody_switches_themselves_off(client: Client, owner: User) -> None:
    assert client.post(of("person_active", owner), {"active": "off"}).status_code == 404
    assert User.objects.get(pk=owner.pk).is_active


def test_keys_are_seen_without_their_secret_and_revoked(client: Client, maya: User) -> None:
    key, text = keys.create(name="laptop", scopes=["read", "forget"], user=maya)
    page = client.get(of("person_page", maya)).text
    assert "laptop" in page and "never used" in page and "forget" in page
    assert text not in page and key.digest not in page
    way = of("person_key_revoke", maya, key.pk)
    assert "Revoke this key?" in client.get(way).text
    assert client.post(way).status_code == 302
    assert keys.authenticate(text) is None
    assert client.post(way).status_code == 404
    other, _ = keys.create(name="other", scopes=["read"], user=person("eve"))
    assert client.post(of("person_key_revoke", maya, other.pk)).status_code == 404


def test_who_has_no_login_has_no_page(client: Client, alice: User) -> None:
    assert client.get(of("person_page", alice)).status_code == 404


def test_the_page_wants_the_second_step_where_staff_must_have_one(
    client: Client, settings: Settings
) -> None:
    settings.STAFF_SECOND_STEP = True
    assert client.get(PEOPLE)["Location"] == reverse("signin_settings")


# The first sign-in.


def test_the_owner_is_asked_for_language_and_time_zone_once() -> None:
    owner = person("first", Role.OWNER)
    client, form = Client(), {"username": "first", "password": PASSWORD, "next": "/memory/"}
    came = client.post("/signin/", form, headers={"Accept-Language": "zh-CN"})
    assert came["Location"] == "/welcome/?next=%2Fmemory%2F"
    page = client.get(came["Location"], headers={"Accept-Language": "zh-CN"})
    assert [field.name for field in page.context["form"]] == ["language", "timezone"]
    assert '<option value="zh-hans" selected>' in page.text and "data-time-zone-field" in page.text
    chosen = {"language": "zh-hans", "timezone": "Asia/Shanghai", "next": "/memory/"}
    assert client.post("/settings/preferences/", chosen)["Location"] == "/memory/"
    own = users.settings_of(owner)
    assert (own.language, own.timezone) == ("zh-hans", "Asia/Shanghai")
    assert Client().post("/signin/", form)["Location"] == "/memory/"


def test_a_member_is_asked_nothing(maya: User) -> None:
    form = {"username": "maya", "password": PASSWORD}
    assert Client().post("/signin/", form)["Location"] == "/"


def test_a_setting_alone_leaves_no_row_of_the_instance() -> None:
    assert not registration.is_registration_open()
    assert not Instance.objects.exists()


@pytest.mark.parametrize(
    ("address", "is_local"),
    [("http://127.0.0.1:8000", True), ("http://localhost", True), ("https://m.example", False)],
)
def test_a_link_that_works_on_this_computer_only_says_so(
    client: Client, settings: Settings, address: str, is_local: bool
) -> None:
    settings.PUBLIC_URL = address
    page = client.post(PEOPLE, {"role": "member", "name": "Marta"})
    assert ("only works on this computer" in page.text) is is_local


# Keys for everyone here, and oneself.


def test_an_owner_sees_and_revokes_the_keys_of_the_installation(client: Client, maya: User) -> None:
    key, text = keys.create(name="First key", scopes=["read"])
    way = reverse("api_key_revoke", args=[key.pk])
    member = signed_in(maya)
    assert "First key" not in member.get(reverse("api_keys")).text
    assert member.post(way).status_code == 404
    assert "First key" in client.get(reverse("api_keys")).text
    assert "Revoke this key?" in client.get(way).text
    assert client.post(way).status_code == 302
    assert keys.authenticate(text) is None


def test_the_key_of_the_first_start_is_named_in_the_language_of_the_page(client: Client) -> None:
    keys.create(name=keys.OF_FIRST_START, scopes=["read"])
    assert "Key from the first start" in client.get(reverse("api_keys")).text
    page = client.get(reverse("api_keys"), headers={"Accept-Language": "zh-Hans"}).text
    assert "首次启动时的密钥" in page and keys.OF_FIRST_START not in page


def test_whom_the_page_is_shown_to_is_here_now(client: Client, owner: User, maya: User) -> None:
    row = client.get(PEOPLE).text.split(f'/people/{owner.pk}/"')[1].split("</li>")[0]
    assert "here now" in row and "seen " not in row
