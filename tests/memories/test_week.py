"""What I learned this week: seven days of the person's own time zone, and what they show."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memories.forgetting import memory_forgets
from memories.models import Change, Memory, MemoryStatus, MemoryVersion, Origin, Tombstone
from memories.weekly_changes import SHOWN, week_of
from memories.writing import curation
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory, make_version
from tests.memories.pages import address, signed_in, text_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 1, 7, 3, 0, tzinfo=UTC)  # a Wednesday; in Honolulu it is still Tuesday


@pytest.fixture(autouse=True)
def wednesday(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOW)


def made(user: User, content: str, at: datetime, **fields: Any) -> Memory:
    memory = make_memory(user, content, created_at=at, **fields)
    MemoryVersion.objects.filter(memory=memory).update(created_at=at)
    Memory.everything.filter(pk=memory.pk).update(updated_at=at)
    return memory


def changed(memory: Memory, content: str, at: datetime, change: Change = Change.EDITED) -> None:
    version = make_version(memory, content, change=change)
    MemoryVersion.objects.filter(pk=version.pk).update(created_at=at)


def seen(user: User, last: date | None = None) -> dict[str, list[str]]:
    sections = week_of(user, last=last).sections
    return {one.key: [memory.content for memory in one.memories] for one in sections}


def in_zone(user: User, zone: str) -> None:
    users.change_settings(user=user, changes={"timezone": zone})


@pytest.mark.parametrize(
    ("zone", "first", "begins"),
    [
        ("UTC", date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)),
        ("Asia/Shanghai", date(2026, 1, 1), datetime(2025, 12, 31, 16, tzinfo=UTC)),
        ("Pacific/Honolulu", date(2025, 12, 31), datetime(2025, 12, 31, 10, tzinfo=UTC)),
        ("Asia/Kathmandu", date(2026, 1, 1), datetime(2025, 12, 31, 18, 15, tzinfo=UTC)),
    ],
)
def test_the_week_has_the_days_of_the_persons_own_time_zone(
    alice: User, zone: str, first: date, begins: datetime
) -> None:
    in_zone(alice, zone)
    made(alice, "Just before", begins - timedelta(seconds=1))
    made(alice, "Just in", begins)
    found = week_of(alice)
    assert (found.first, found.last) == (first, first + timedelta(days=6))
    assert seen(alice) == {"learned": ["Just in"]}
    assert found.earlier == first - timedelta(days=1) and found.later is None
    before = week_of(alice, last=found.earlier)
    assert seen(alice, found.earlier) == {"learned": ["Just before"]}
    assert before.later == found.last and before.earlier is None


def test_a_day_that_is_an_hour_shorter_belongs_to_the_week(alice: User) -> None:
    in_zone(alice, "Europe/Berlin")  # where the clocks went forward on 30 March 2025
    made(alice, "At midnight", datetime(2025, 3, 23, 23, 0, tzinfo=UTC))
    made(alice, "At the end", datetime(2025, 3, 30, 21, 59, tzinfo=UTC))
    made(alice, "The day after", datetime(2025, 3, 30, 22, 0, tzinfo=UTC))
    assert seen(alice, date(2025, 3, 30)) == {"learned": ["At the end", "At midnight"]}


def test_each_memory_is_in_one_section(alice: User) -> None:
    old, monday = NOW - timedelta(days=60), NOW - timedelta(days=2)
    made(alice, "New", monday)
    corrected = made(alice, "New as well", monday)
    changed(corrected, "Corrected at once", monday + timedelta(hours=1))
    changed(made(alice, "Old", old), "Changed", monday)
    changed(changed_in_december := made(alice, "Older", old), "Then", old + timedelta(days=9))
    made(alice, "Over", old, valid_until=monday)
    made(alice, "Over tonight", old, valid_until=NOW + timedelta(hours=5))
    joined = made(alice, "Joined", monday)
    MemoryVersion.objects.filter(memory=joined).update(change=Change.CONSOLIDATED)
    assert seen(alice) == {
        "learned": ["Corrected at once", "New"],
        "changed": ["Joined", "Changed"],
        "ended": ["Over"],
    }
    assert changed_in_december.content not in str(seen(alice))


def test_only_memories_in_use_show_their_text(alice: User, mallory: User) -> None:
    made(alice, "In use", NOW)
    made(alice, "Disabled", NOW, status=MemoryStatus.DISABLED)
    made(alice, "Waits", NOW, status=MemoryStatus.CANDIDATE)
    made(alice, "In the bin", NOW, deleted_at=NOW, purge_at=NOW + timedelta(days=7))
    made(alice, "Being forgotten", NOW, hidden_at=NOW)
    made(alice, "Left out of a file", NOW, removal_asked_at=NOW)
    made(mallory, "Somebody else's", NOW)
    assert seen(alice) == {"learned": ["In use"]}


def test_what_was_forgotten_is_a_number(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    memory = make_memory(alice, "Plays the oboe")
    curation.edit(
        curation.prepare_edit({"content": "Plays two oboes"}, memory=memory, actor=Origin.USER),
        user=alice,
        memory=memory,
        actor=Origin.USER,
    )
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=memory)
    assert seen(alice) == {}
    worker.drain()
    found = week_of(alice)
    assert Tombstone.objects.filter(user=alice).count() > 1
    assert (found.forgotten, found.sections, found.is_empty) == (1, [], False)
    page = text_of(signed_in(alice).get(address("memory_week")))
    assert "1 memory was forgotten" in page and "oboe" not in page


def test_a_memory_that_was_derived_again_is_not_counted_as_forgotten(alice: User) -> None:
    memory = made(alice, "Plays the oboe", NOW - timedelta(days=30))
    for whose in (memory.public_id, ""):
        Tombstone.objects.create(
            user=alice, memory_public_id=whose, text_hash=whose, forgotten_at=NOW
        )
    assert week_of(alice).forgotten == 0


def test_of_many_the_newest_are_shown_and_all_are_counted(alice: User) -> None:
    for n in range(SHOWN + 3):
        made(alice, f"Fact {n}", NOW - timedelta(minutes=n))
    (section,) = week_of(alice).sections
    assert (section.count, section.rest, section.memories[0].content) == (SHOWN + 3, 3, "Fact 0")


@pytest.mark.parametrize("last", [date.min, date.max, date(1999, 12, 31), date(2026, 3, 1)])
def test_a_week_that_is_none_is_the_nearest(alice: User, last: date) -> None:
    assert date(1999, 12, 1) < week_of(alice, last=last).last <= NOW.date()


def test_it_is_empty_while_memory_is_off(alice: User) -> None:
    made(alice, "Plays the oboe", NOW)
    Tombstone.objects.create(user=alice, memory_public_id="mem_x", text_hash="0", forgotten_at=NOW)
    assert not week_of(alice).is_empty
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert week_of(alice).is_empty and week_of(alice).earlier is None
    page = text_of(signed_in(alice).get(address("memory_week")))
    assert "Memory is off." in page and "oboe" not in page


# The page.


def test_the_page_links_to_each_memory_and_to_the_weeks_beside(alice: User) -> None:
    now = made(alice, "New", NOW)
    then = made(alice, "Of last year", datetime(2025, 12, 31, 23, tzinfo=UTC))
    browser = signed_in(alice)
    page = text_of(browser.get(address("memory_week")))
    assert "What I learned this week" in page and "From 1 Jan to 7 Jan" in page
    assert address("memory_page", now.public_id) in page and "Of last year" not in page
    assert '"?last=2025-12-31"' in page and "The week after" not in page
    page = text_of(browser.get(address("memory_week", last="2025-12-31")))
    assert address("memory_page", then.public_id) in page and "The week before" not in page
    assert '"?last=2026-01-07"' in page


@pytest.mark.parametrize("last", ["yesterday", "2026-02-31", "20260107x", ""])
def test_a_day_that_is_none_shows_this_week(alice: User, last: str) -> None:
    made(alice, "New", NOW)
    assert "New" in text_of(signed_in(alice).get(address("memory_week", last=last)))


def test_a_week_without_anything_says_so(alice: User) -> None:
    assert "Nothing new in these seven days" in text_of(
        signed_in(alice).get(address("memory_week"))
    )


def test_the_page_is_in_both_languages_and_linked_from_about_you(alice: User) -> None:
    made(alice, "New", NOW)
    users.change_settings(user=alice, changes={"language": "zh-hans"})
    browser = signed_in(alice)
    assert address("memory_week") in text_of(browser.get(address("memory_home")))
    page = text_of(browser.get(address("memory_week")))
    assert "这一周我记住了什么" in page and "新记住的" in page and "1月1日至1月7日" in page


def test_a_visitor_and_a_stranger_see_nothing(alice: User, mallory: User) -> None:
    made(alice, "Plays the oboe", NOW)
    assert Client().get(address("memory_week")).status_code == 302
    assert "oboe" not in text_of(signed_in(mallory).get(address("memory_week")))
