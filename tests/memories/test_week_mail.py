"""The weekly mail: on Monday morning where the person is, once, and without a word of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage

import pytest
from django.db.models import Q
from django.utils import timezone
from pytest_django import Settings

from memories.models import Memory, MemoryVersion, Tombstone
from ops import tasks, weekly_mail
from ops.access import as_system
from ops.accounts import users
from ops.models import Kind, Operation, Status, User, WeeklyMail
from ops.queue import outbox, webhook_events, worker
from tests.factories import make_memory
from tests.killing import Kill
from tests.smtp_server import Mailbox, mailbox

pytestmark = pytest.mark.django_db
ADDRESS = "alice@example.org"
MONDAY = date(2026, 1, 5)
SECRET = "Mein Hund heißt Wölfchen"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)

    def set(self, *moment: int) -> None:
        self.now = datetime(*moment, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", lambda: clock.now)
    return clock


@pytest.fixture
def box(settings: Settings) -> Iterator[Mailbox]:
    with mailbox() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.DEFAULT_FROM_EMAIL = "Memory Center <memory@example.org>"
        settings.PUBLIC_URL = "https://memory.example.org"
        yield box


def learned(user: User, content: str, at: datetime) -> Memory:
    memory = make_memory(user, content, created_at=at, tags=["pets"])
    MemoryVersion.objects.filter(memory=memory).update(created_at=at)
    return memory


def subscribe(user: User, *, zone: str = "UTC", language: str = "") -> WeeklyMail:
    """Somebody who learned something on Saturday, and confirmed the address long before."""
    users.change_settings(user=user, changes={"timezone": zone, "language": language})
    learned(user, SECRET, datetime(2026, 1, 3, 12, 0, tzinfo=UTC))
    long_ago = datetime(2025, 6, 1, tzinfo=UTC)
    return WeeklyMail.objects.create(
        user=user, address=ADDRESS, asked_at=long_ago, confirmed_at=long_ago
    )


def ticked() -> int:
    """What the clock does every quarter of an hour; gives how many mails were asked for."""
    count = tasks.request_weekly_mails()
    worker.drain()
    return int(count)


def due_again() -> None:
    """As if the waiting time before the next attempt were over."""
    Operation.objects.filter(status=Status.PENDING).update(run_after=timezone.now())
    worker.drain()


def operation() -> Operation:
    return Operation.objects.get(kind=Kind.WEEKLY_MAIL)


def texts(mail: EmailMessage) -> list[str]:
    return [part.get_content() for part in mail.walk() if not part.is_multipart()]


@pytest.mark.parametrize(
    ("zone", "before", "then"),
    [
        ("UTC", (2026, 1, 5, 7, 59), (2026, 1, 5, 8, 0)),
        ("Asia/Shanghai", (2026, 1, 4, 23, 59), (2026, 1, 5, 0, 0)),
        ("Pacific/Kiritimati", (2026, 1, 4, 17, 59), (2026, 1, 4, 18, 0)),
        ("Pacific/Honolulu", (2026, 1, 5, 17, 59), (2026, 1, 5, 18, 0)),
        ("Asia/Kathmandu", (2026, 1, 5, 2, 14), (2026, 1, 5, 2, 15)),
    ],
)
def test_it_comes_on_monday_at_eight_where_the_person_is(
    zone: str,
    before: tuple[int, ...],
    then: tuple[int, ...],
    alice: User,
    box: Mailbox,
    clock: Clock,
) -> None:
    subscribe(alice, zone=zone)
    clock.set(*before)
    assert ticked() == 0
    clock.set(*then)
    assert ticked() == 1 and len(box.mails) == 1
    assert WeeklyMail.objects.get().sent_on == MONDAY


def test_it_comes_once_a_week(alice: User, box: Mailbox, clock: Clock) -> None:
    subscribe(alice)
    assert ticked() == 1
    for _ in range(6 * 24):
        clock.now += timedelta(hours=1)
        assert ticked() == 0
    learned(alice, "Another", clock.now)
    clock.set(2026, 1, 12, 8, 0)
    assert ticked() == 1
    assert (len(box.mails), Operation.objects.filter(status=Status.SUCCEEDED).count()) == (2, 2)


def test_it_holds_counts_and_links_and_nothing_else(
    alice: User, box: Mailbox, clock: Clock
) -> None:
    User.objects.filter(pk=alice.pk).update(display_name="Alice Liddell")
    subscribe(alice)
    Tombstone.objects.create(
        user=alice, memory_public_id="mem_x", text_hash="0", forgotten_at=clock.now - timedelta(3)
    )
    ticked()
    (mail,) = box.mails
    assert (mail["To"], mail["From"]) == (ADDRESS, "Memory Center <memory@example.org>")
    assert mail["Subject"] == "What I learned this week"
    plain, html = texts(mail)
    for text in (plain, html):
        assert "1 thing was learned." in text and "1 thing was forgotten." in text
        assert "29 December 2025" in text and "4 January 2026" in text
        assert "https://memory.example.org/memory/week/?last=2026-01-04" in text
        assert "changed" not in text
    whole = " ".join([*map(str, mail.values()), plain, html]).casefold()
    assert "memory.example.org" in whole
    for word in ("hund", "lfchen", "pets", "alice liddell", Memory.objects.get().public_id):
        assert word.casefold() not in whole


def test_mail_programs_are_told_how_to_stop_it(alice: User, box: Mailbox) -> None:
    row = subscribe(alice)
    ticked()
    (mail,) = box.mails
    stop = str(mail["List-Unsubscribe"]).strip(" <>")
    assert stop.startswith("https://memory.example.org/mail/stop/") and stop in texts(mail)[0]
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail["Auto-Submitted"] == "auto-generated" and "memory.example.org" in mail["Message-ID"]
    assert weekly_mail.find(weekly_mail.Link.STOP, stop.split("/")[-2]) == row


def test_it_is_in_the_persons_language(alice: User, box: Mailbox) -> None:
    subscribe(alice, language="zh-hans")
    ticked()
    (mail,) = box.mails
    assert mail["Subject"] == "这一周我记住了什么"
    plain, html = texts(mail)
    assert "记住了 1 件事。" in plain and 'lang="zh-hans"' in html and "不再接收" in html


def test_nothing_is_sent_about_an_empty_week(alice: User, box: Mailbox, clock: Clock) -> None:
    subscribe(alice)
    Memory.objects.all().delete()
    assert ticked() == 1
    learned(alice, "On Monday", clock.now)
    clock.now += timedelta(hours=1)
    assert ticked() == 0 and box.mails == []


def test_nothing_is_sent_while_memory_is_off(alice: User, box: Mailbox) -> None:
    subscribe(alice)
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    ticked()
    assert box.mails == []


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.delete(),
        lambda row: WeeklyMail.objects.update(confirmed_at=None),
        lambda row: User.objects.update(is_active=False),
        lambda row: User.objects.update(hidden_at=timezone.now()),
    ],
    ids=["switched off", "not confirmed", "switched off by an owner", "being forgotten"],
)
def test_whoever_is_not_there_any_more_gets_none(change: object, alice: User, box: Mailbox) -> None:
    row = subscribe(alice)
    with as_system():
        assert weekly_mail.request_due(now=timezone.now()) == 1
    change(row)  # type: ignore[operator]
    worker.drain()
    assert box.mails == []
    Operation.objects.all().delete()
    assert ticked() == 0


def test_who_confirms_on_monday_afternoon_gets_the_next(
    alice: User, box: Mailbox, clock: Clock
) -> None:
    row = subscribe(alice)
    WeeklyMail.objects.filter(pk=row.pk).update(confirmed_at=clock.now + timedelta(hours=4))
    clock.now += timedelta(hours=5)
    assert ticked() == 0
    learned(alice, "Another", clock.now)
    clock.set(2026, 1, 12, 8, 0)
    assert ticked() == 1 and len(box.mails) == 1


def test_what_the_clock_missed_comes_later(alice: User, box: Mailbox, clock: Clock) -> None:
    subscribe(alice)
    clock.set(2026, 1, 6, 13, 0)
    assert ticked() == 1 and len(box.mails) == 1


# What goes wrong.


def test_a_server_that_is_down_is_tried_again(
    alice: User, box: Mailbox, settings: Settings
) -> None:
    subscribe(alice)
    settings.EMAIL_PORT = 1
    ticked()
    waiting = operation()
    assert (waiting.status, waiting.last_error) == (
        Status.PENDING,
        "The email server can’t be reached.",
    )
    assert WeeklyMail.objects.get().sent_on != MONDAY
    assert ticked() == 0  # it is asked for already
    settings.EMAIL_PORT = box.port
    due_again()
    assert operation().status == Status.SUCCEEDED and len(box.mails) == 1


def test_a_mail_that_was_not_taken_is_sent_again(alice: User, box: Mailbox) -> None:
    subscribe(alice)
    box.answers = [b"451 later, please"]
    ticked()
    assert (operation().status, box.mails) == (Status.PENDING, [])
    due_again()
    due_again()
    assert operation().status == Status.SUCCEEDED and len(box.mails) == 1


def test_an_address_that_the_server_does_not_know_is_not_tried_again(
    alice: User, box: Mailbox
) -> None:
    subscribe(alice)
    box.unknown = {ADDRESS.encode()}
    assert ticked() == 1
    failed = operation()
    assert (failed.status, failed.attempt) == (Status.FAILED, 1)
    assert ADDRESS not in failed.last_error
    assert ticked() == 0


def test_a_server_that_hangs_up_while_it_takes_the_mail_is_not_sent_it_again(
    alice: User, box: Mailbox
) -> None:
    """It may have taken it: rather none than two."""
    subscribe(alice)
    box.answers = [b""]
    ticked()
    assert operation().status == Status.SUCCEEDED
    assert WeeklyMail.objects.get().sent_on == MONDAY
    assert ticked() == 0 and box.mails == []


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_worker_that_dies_sends_nothing_twice(
    moment: str, alice: User, box: Mailbox, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscribe(alice)
    real = weekly_mail.send

    def deadly(*args: object) -> None:
        if moment == "after":
            real(*args)  # type: ignore[arg-type]
        raise Kill

    monkeypatch.setattr(weekly_mail, "send", deadly)
    with pytest.raises(Kill):
        ticked()
    monkeypatch.setattr(weekly_mail, "send", real)
    clock.now += timedelta(hours=1)
    with as_system():
        outbox.expire(now=timezone.now())
    worker.drain()
    assert operation().status == Status.SUCCEEDED
    assert ticked() == 0
    assert len(box.mails) == (1 if moment == "after" else 0)


def test_a_mail_of_a_week_that_is_long_over_is_not_sent(
    alice: User, box: Mailbox, clock: Clock
) -> None:
    """Such as one that was held after a restore."""
    subscribe(alice)
    with as_system():
        webhook_events.hold_deliveries()
    ticked()
    assert operation().status == Status.PENDING and box.mails == []
    clock.set(2026, 1, 14, 8, 0)
    learned(alice, "Another", datetime(2026, 1, 8, tzinfo=UTC))
    with as_system():
        webhook_events.resume_deliveries()
    ticked()
    assert box.mails == []  # the old one gave way
    ticked()
    assert len(box.mails) == 1 and "last=2026-01-11" in texts(box.mails[0])[0]
    held = Operation.objects.filter(~Q(status=Status.SUCCEEDED), kind=Kind.WEEKLY_MAIL)
    assert not held.exists()


def test_nobody_is_asked_for_without_a_mail_server(alice: User, settings: Settings) -> None:
    settings.EMAIL_HOST = ""
    subscribe(alice)
    assert ticked() == 0


def test_the_clock_asks_once_for_all_however_many_there_are(alice: User, box: Mailbox) -> None:
    subscribe(alice)
    for n in range(3):
        other = users.find_or_create(f"other{n}")
        subscribe(other, zone="Asia/Tokyo")
    assert ticked() == 4 and len(box.mails) == 4
