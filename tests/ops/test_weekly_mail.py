"""The weekly mail is switched on, confirmed and stopped; `memories/test_week_mail.py` sends it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from foundation.errors import Conflict, Invalid
from ops import registry, weekly_mail
from ops.access import as_system, as_user
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.models import AuditEvent, Kind, Operation, Role, User, WeeklyMail
from ops.queue import webhook_events, worker
from ops.weekly_mail import Link
from tests.draining import cleaned_up
from tests.memories.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "alice@example.org"
PAGE = "/settings/"


@pytest.fixture(autouse=True)
def public_address(settings: Settings) -> None:
    settings.PUBLIC_URL = "https://memory.example.org/"


def asked(user: User, address: str = ADDRESS, language: str = "en") -> WeeklyMail:
    with as_user(user, changing=True):
        weekly_mail.switch_on(user=user, address=address, language=language)
    return WeeklyMail.objects.get(user=user)


def confirmed(user: User, address: str = ADDRESS) -> WeeklyMail:
    row = asked(user, address)
    WeeklyMail.objects.filter(pk=row.pk).update(confirmed_at=timezone.now())
    row.refresh_from_db()
    return row


def path_of(link: Link, row: WeeklyMail) -> str:
    return weekly_mail.url_of(link, row).removeprefix("https://memory.example.org")


def test_an_address_is_confirmed_by_the_link_that_is_sent_to_it(alice: User) -> None:
    browser = signed_in(alice)
    sent = browser.post(reverse("weekly_mail_on"), {"address": ADDRESS})
    assert (sent.status_code, sent["Location"]) == (302, "/settings/#weekly-mail")
    assert f"A link was sent to {ADDRESS}" in browser.get(PAGE).text
    assert mail.outbox == []  # an operation does it
    worker.drain()
    (letter,) = mail.outbox
    assert (letter.to, letter.from_email) == ([ADDRESS], "memory@example.org")
    assert "List-Unsubscribe" not in letter.message()
    (link,) = re.findall(r"https://memory\.example\.org(/mail/confirm/\S+)", str(letter.body))
    assert WeeklyMail.objects.get().confirmed_at is None
    visitor = Client()
    assert "Have the weekly email sent" in visitor.get(link).text  # opening it confirms nothing
    assert WeeklyMail.objects.get().confirmed_at is None
    assert "The weekly email is on" in visitor.post(link).text
    assert WeeklyMail.objects.get().confirmed_at is not None
    page = browser.get(PAGE).text
    assert f"It goes to {ADDRESS}." in page and "Send the link again" not in page


def test_the_question_is_in_the_language_of_the_page(alice: User) -> None:
    asked(alice, language="zh-hans")
    worker.drain()
    assert mail.outbox[0].subject == "请确认接收每周邮件的地址"
    users.change_settings(user=alice, changes={"language": "en"})
    assert weekly_mail.language_of(WeeklyMail.objects.get()) == "en"


def test_a_link_confirms_only_what_it_was_made_for(alice: User, settings: Settings) -> None:
    row = asked(alice)
    stop, confirm = path_of(Link.STOP, row), path_of(Link.CONFIRM, row)
    wrong = (
        stop.replace("/stop/", "/confirm/"),
        confirm.replace(str(row.nonce), str(row.nonce)[::-1]),
        confirm[:-2] + "/",
        reverse("weekly_mail_confirm", args=["nothing"]),
    )
    for address in wrong:
        for answer in (Client().get(address), Client().post(address)):
            assert answer.status_code == 410 and "no longer works" in answer.text
    assert WeeklyMail.objects.get().confirmed_at is None
    assert Client().post(confirm.replace("/confirm/", "/stop/")).status_code == 410
    assert WeeklyMail.objects.exists()


def test_a_link_that_is_too_old_confirms_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = path_of(Link.CONFIRM, asked(alice))
    monkeypatch.setattr(weekly_mail, "CONFIRM_DAYS", -1)
    assert Client().post(link).status_code == 410
    assert WeeklyMail.objects.get().confirmed_at is None


def test_another_address_begins_anew_and_the_earlier_link_is_over(alice: User) -> None:
    first = path_of(Link.CONFIRM, confirmed(alice))
    row = asked(alice, "other@example.org")
    assert (row.address, row.confirmed_at, row.sent_on) == ("other@example.org", None, None)
    assert Client().post(first).status_code == 410
    assert Client().post(path_of(Link.CONFIRM, row)).status_code == 200
    assert WeeklyMail.objects.get().confirmed_at is not None


def test_a_confirmed_address_is_not_asked_again(alice: User) -> None:
    row = confirmed(alice)
    worker.drain()
    assert asked(alice).confirmed_at == row.confirmed_at
    assert Operation.objects.filter(kind=Kind.CONFIRM_MAIL).count() == 1


def test_it_is_switched_off_in_the_settings(alice: User) -> None:
    confirmed(alice)
    browser = signed_in(alice)
    assert browser.post(reverse("weekly_mail_off")).status_code == 302
    assert not WeeklyMail.objects.exists()
    assert ADDRESS not in browser.get(PAGE).text
    assert browser.post(reverse("weekly_mail_off")).status_code == 302


def test_one_click_in_a_mail_program_stops_it(alice: User) -> None:
    """Without signing in, a cookie or a CSRF token (RFC 8058)."""
    link = path_of(Link.STOP, confirmed(alice))
    program = Client(enforce_csrf_checks=True)
    assert "Stop the weekly email?" in program.get(link).text
    assert WeeklyMail.objects.exists()  # programs look at links
    for _ in range(2):
        answer = program.post(link, {"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200 and "The weekly email is off" in answer.text
    assert not WeeklyMail.objects.exists()
    assert "The weekly email is off" in program.get(link).text
    event = AuditEvent.objects.get(action="weekly_mail.stopped")
    assert (event.actor, event.surface, event.subject) == ("visitor", "page", alice.subject)


def test_other_pages_still_want_a_csrf_token(alice: User) -> None:
    link = path_of(Link.CONFIRM, asked(alice))
    assert Client(enforce_csrf_checks=True).post(link).status_code == 403


@pytest.mark.parametrize(
    "address",
    ["", "alice", "alice@", "a@b", f"{'a' * 250}@example.org", "a@example.org\nBcc: b@example.org"],
)
def test_what_is_no_address_is_refused(alice: User, address: str) -> None:
    answer = signed_in(alice).post(reverse("weekly_mail_on"), {"address": address})
    assert answer.status_code == 422 and 'id="weekly-mail"' in answer.text
    with pytest.raises(Invalid):
        asked(alice, address)
    assert not WeeklyMail.objects.exists() and not Operation.objects.exists()


def test_nobody_is_flooded_with_questions(alice: User, mallory: User) -> None:
    for n in range(5):
        asked(alice, f"stranger{n}@example.org")
        worker.drain()
    with pytest.raises(Conflict):
        asked(alice, "one-more@example.org")
    answer = signed_in(alice).post(reverse("weekly_mail_on"), {"address": ADDRESS})
    assert answer.status_code == 422 and "Please try again tomorrow." in answer.text
    assert len(mail.outbox) == 5
    asked(mallory)  # of others this says nothing


def test_without_a_mail_server_only_owners_hear_why(alice: User, settings: Settings) -> None:
    settings.EMAIL_HOST = ""
    owner = users.register(username="olga", password="correct-horse-battery")
    users.give_role(owner, Role.OWNER)
    words, _, details = signed_in(owner).get(PAGE).text.partition("once an email server is set up")
    told, _, details = details.partition("<details")
    assert "MEMCENTER_SMTP_HOST" not in words + told
    assert "MEMCENTER_SMTP_HOST" in details.partition("</details>")[0]
    page = signed_in(alice).get(PAGE).text
    assert "MEMCENTER_SMTP_HOST" not in page and "weekly-mail" not in page
    answer = signed_in(alice).post(reverse("weekly_mail_on"), {"address": ADDRESS})
    assert answer.status_code == 422 and not WeeklyMail.objects.exists()


def test_an_address_from_before_can_be_switched_off_without_a_mail_server(
    alice: User, settings: Settings
) -> None:
    confirmed(alice)
    settings.EMAIL_HOST = ""
    page = signed_in(alice).get(PAGE).text
    assert ADDRESS in page and reverse("weekly_mail_off") in page


def test_a_restored_instance_asks_nobody(alice: User) -> None:
    asked(alice)
    with as_system():
        webhook_events.hold_deliveries()
    worker.drain()
    assert mail.outbox == []
    assert "restored from a backup" in signed_in(alice).get(PAGE).text
    with as_system():
        webhook_events.resume_deliveries()
    worker.drain()
    assert len(mail.outbox) == 1


def test_an_address_that_nobody_confirms_is_erased(alice: User, mallory: User) -> None:
    asked(alice)
    confirmed(mallory)
    long_ago = timezone.now() - timedelta(days=weekly_mail.CONFIRM_DAYS, minutes=1)
    WeeklyMail.objects.update(asked_at=long_ago)
    cleaned_up()
    assert [one.user for one in WeeklyMail.objects.all()] == [mallory]


def test_the_address_is_exported_and_erased_with_the_person(alice: User, mallory: User) -> None:
    confirmed(alice)
    confirmed(mallory, "mallory@example.org")
    (own,) = (one for one in registry.user_data_kinds() if one.name == "weeklymail")
    (row,) = own.export(alice)
    assert row["address"] == ADDRESS and "nonce" not in row
    link = path_of(Link.STOP, WeeklyMail.objects.get(user=alice))
    with as_user(alice):
        person_forgets.forget_user(user=alice)
    assert Client().post(link).status_code == 200
    worker.drain()
    assert [one.address for one in WeeklyMail.objects.all()] == ["mallory@example.org"]
    assert mail.outbox == []


def test_what_is_done_is_audited_without_the_address(alice: User) -> None:
    link = path_of(Link.CONFIRM, asked(alice))
    for _ in range(2):
        Client().post(link)
    with as_user(alice, changing=True):
        weekly_mail.switch_off(alice)
    found = AuditEvent.objects.filter(action__startswith="weekly_mail").order_by("pk")
    events: list[Any] = list(found)
    assert [one.action.partition(".")[2] for one in events] == ["asked", "confirmed", "stopped"]
    assert {one.subject for one in events} == {alice.subject}
    assert ADDRESS not in str([(one.target, one.details) for one in events])
