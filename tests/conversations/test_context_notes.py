"""Daily notes in the memory block: today's and yesterday's, in main conversations only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from conversations.block import builder
from conversations.block.builder import BlockOptions, Context
from conversations.models import ConversationKind
from foundation.text import tokens
from memories.files import daily_notes
from memories.models import DailyNote
from memories.recall import search
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from tests.factories import make_conversation, make_memory

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOON)


def note(user: User, text: str, *, at: datetime = NOON) -> DailyNote:
    with as_user(user):
        made = daily_notes.append(text, user=user).note
    day = at.astimezone(UTC).date()
    number = DailyNote.objects.filter(user=user, day=day).count() + 1000
    DailyNote.objects.filter(pk=made.pk).update(created_at=at, day=day, number=number)
    return made


def built(user: User, *, kind: str = "main", **wanted: object) -> Context:
    conversation = make_conversation(user, kind=kind)
    with as_user(user):
        return builder.build(
            search.prepare_query("What now?"),
            user=user,
            conversation=conversation,
            options=BlockOptions(**wanted),  # type: ignore[arg-type]
        )


def in_files(found: Context) -> str:
    return next((one.text for one in found.sections if one.name == "files"), "")


def test_the_notes_of_today_and_yesterday_are_in_the_block_newest_first(alice: User) -> None:
    note(alice, "The boiler was fixed.", at=NOON - timedelta(days=1))
    newest = note(alice, "Booked the ferry.")
    note(alice, "Long ago.", at=NOON - timedelta(days=2))
    found = built(alice)
    lines = in_files(found).splitlines()[1:]
    assert lines == ["- Booked the ferry.", "- The boiler was fixed."]
    assert found.items[0].type == "note" and found.items[0].id == newest.public_id


def test_in_a_group_no_note_is_read(alice: User) -> None:
    note(alice, "Booked the ferry.")
    assert "ferry" not in built(alice, kind=ConversationKind.GROUP).block
    with as_user(alice):
        query = search.prepare_query("What now?")
        alone = builder.build(query, user=alice, options=BlockOptions(conversation_kind="group"))
    assert "ferry" not in alone.block


def test_with_long_term_memory_off_no_note_is_read(alice: User) -> None:
    note(alice, "Booked the ferry.")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert "ferry" not in built(alice).block


def test_notes_have_their_share_of_the_budget_and_the_oldest_go_first(alice: User) -> None:
    for number in range(40):
        note(alice, f"Note number {number} says something of about ten words here.")
    text = in_files(built(alice, token_budget=1_000))
    assert "number 39" in text and "number 0 " not in text
    assert tokens.count(text) < 1_000


def test_what_a_memory_says_already_is_not_said_again(alice: User) -> None:
    make_memory(alice, "Allergic to peanuts", kind="constraint")
    note(alice, "Allergic to peanuts")
    assert built(alice).block.count("peanuts") == 1


def test_another_s_notes_and_hidden_ones_are_not_read(alice: User, mallory: User) -> None:
    note(mallory, "Hers alone.")
    hidden = note(alice, "Being forgotten.")
    DailyNote.objects.filter(pk=hidden.pk).update(hidden_at=NOON)
    assert in_files(built(alice)) == ""
