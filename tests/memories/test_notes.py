"""Daily notes: one line at a time, whole or not at all."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from foundation.errors import Conflict, Invalid
from memories.files import daily_notes
from memories.models import DailyNote, LexicalEntry, TargetKind, Vector
from memories.recall import search
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import outbox, worker
from tests.memories.test_concurrent_writing import at_once
from tests.processes import Reach, fork

SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.django_db
def test_a_line_stands_under_the_day_where_the_person_is(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    users.change_settings(user=alice, changes={"timezone": "Asia/Shanghai"})
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 1, 22, 5, tzinfo=UTC))
    note = daily_notes.append("Sea trip\nbooked.", user=alice, source="agent").note
    assert daily_notes.path_of(note.on) == "memory/2026-03-02.md"
    assert daily_notes.line_of(note, zone=SHANGHAI) == "- 06:05 [agent] Sea trip\\nbooked."


@pytest.mark.django_db
def test_lines_of_a_day_are_numbered_in_the_order_of_arriving(alice: User, mallory: User) -> None:
    daily_notes.append("One.", user=alice)
    daily_notes.append("Hers.", user=mallory)
    hidden = daily_notes.append("Two.", user=alice).note
    DailyNote.objects.filter(pk=hidden.pk).update(hidden_at=timezone.now())
    assert daily_notes.append("Three.", user=alice).note.number == 3
    assert [one.text for one in DailyNote.objects.filter(user=alice).order_by("pk")] == [
        "One.",
        "Three.",
    ]


@pytest.mark.django_db
def test_a_line_is_found_by_its_words_at_once_and_by_its_meaning_later(alice: User) -> None:
    note = daily_notes.append("The dentist moved to Thursday.", user=alice).note
    found = search.search(search.prepare_query("dentist"), user=alice, types=("note",))
    assert [one.id for one in found.results] == [note.public_id]
    assert not Vector.objects.filter(target_kind=TargetKind.NOTE).exists()
    worker.drain()
    assert Vector.objects.filter(target_kind=TargetKind.NOTE, target_id=note.pk).count() == 1


@pytest.mark.django_db
def test_a_line_that_went_before_it_was_indexed_leaves_no_vector(alice: User) -> None:
    daily_notes.append("Gone soon.", user=alice)
    DailyNote.objects.all().delete()
    worker.drain()
    assert not Vector.objects.filter(target_kind=TargetKind.NOTE).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "source", "field"),
    [("  ", "", "text"), ("x" * 8_001, "", "text"), ("Fine.", "x" * 201, "source")],
)
def test_a_line_that_is_not_valid_names_the_field(
    alice: User, text: str, source: str, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        daily_notes.append(text, user=alice, source=source)
    assert list(caught.value.fields) == [field]
    assert not DailyNote.objects.exists()


@pytest.mark.django_db
def test_secrets_are_refused_or_blanked_out(alice: User) -> None:
    with pytest.raises(Invalid):
        daily_notes.append("My password is hunter2-Zebra!", user=alice)
    told = "Anna lives in Leeds. Her card is 4111 1111 1111 1111. She likes long walks."
    appended = daily_notes.append(told, user=alice)
    assert appended.redacted and "4111" not in appended.note.text and "Anna" in appended.note.text


@pytest.mark.django_db
def test_nothing_is_written_while_long_term_memory_is_off(alice: User) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    with pytest.raises(Conflict) as caught:
        daily_notes.append("Not now.", user=alice)
    assert caught.value.code == "memory_off"
    assert not DailyNote.objects.exists() and not LexicalEntry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_fifty_writers_at_once_lose_no_line_and_share_no_number() -> None:
    bob = users.find_or_create("bob")

    def write(text: str) -> None:
        with as_user(bob):
            daily_notes.append(text, user=bob)

    assert at_once(*[lambda n=n: write(f"Line {n}.") for n in range(50)]) == []
    lines = DailyNote.objects.filter(user=bob).order_by("number")
    assert [one.number for one in lines] == list(range(1, 51))
    assert {one.text for one in lines} == {f"Line {n}." for n in range(50)}
    times = [one.created_at for one in lines]
    assert times == sorted(times)


@pytest.mark.django_db(transaction=True)
def test_writers_killed_in_the_middle_leave_no_half_line_and_hold_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = users.find_or_create("ana")

    def write(text: str) -> None:
        with as_user(user):
            daily_notes.append(text, user=user)

    def stopped(reach: Reach) -> None:
        monkeypatch.setattr(outbox, "enqueue", lambda *_, **__: reach())
        write("Never.")

    for number in range(3):
        write(f"Line {number}.")
        child = fork(stopped)
        child.wait_until_it_reaches()  # the row is written, the transaction open, the lock held
        os.kill(child.pid, signal.SIGKILL)
        assert child.ended() == ""
    write("The last.")
    lines = list(DailyNote.everything.filter(user=user).order_by("number"))
    assert [one.text for one in lines] == ["Line 0.", "Line 1.", "Line 2.", "The last."]
    assert [one.number for one in lines] == [1, 2, 3, 4]
    indexed = LexicalEntry.objects.filter(user=user).values_list("target_id", flat=True)
    assert set(indexed) == {one.pk for one in lines}
