"""A remark that isn't worth keeping by itself ends the memory that no longer holds."""

from __future__ import annotations

import pytest
from django.utils import timezone

from conversations.models import Conversation
from memories import review
from memories.models import Arbitration, Memory, MemoryStatus, Origin
from memories.review import ReviewInput
from ops.queue import worker
from tests.factories import make_memory
from tests.memories.test_ingest import say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("learned_pairs")]


@pytest.mark.parametrize(
    ("known", "kind", "said"),
    [
        ("Driving test on Tuesday 3 December", "event", "driving test got cancelled"),
        ("Going to Yunnan with the hiking group in May", "event", "yunnan trip's off"),
        ("周六带爸去医院做检查", "event", "周六的检查取消了"),
        ("国庆节去成都看大熊猫", "event", "成都去不成了"),
        ("Plays in a pub quiz team every Monday", "fact", "the quiz team called it a day"),
        ("我参加了读书会，每周四", "fact", "读书会黄了"),
    ],
)
def test_what_is_called_off_in_passing_ends_the_memory(
    conversation: Conversation, known: str, kind: str, said: str
) -> None:
    wanted = make_memory(conversation.user, known, kind=kind, origin=Origin.EXTRACTED)
    other = make_memory(conversation.user, "Plays the cello")
    say(conversation, said)
    worker.drain()
    wanted.refresh_from_db()
    assert wanted.content != known and Memory.objects.count() == 2
    assert wanted.versions.filter(content=known).exists()
    other.refresh_from_db()
    assert other.content == "Plays the cello"


@pytest.mark.parametrize("known", ["Plays the cello", "Passed the driving theory in May"])
def test_where_nothing_ends_nothing_is_stored_or_logged(
    conversation: Conversation, known: str
) -> None:
    make_memory(conversation.user, known)
    say(conversation, "driving test got cancelled")
    worker.drain()
    assert [one.content for one in Memory.objects.all()] == [known]
    assert not Arbitration.objects.exists()


SWIMATHON = "I'm training for the swimathon in March"
LENGTHS = "swims 64 lengths every tuesday for the swimathon"


def test_what_may_have_ended_too_stays_in_use_and_waits_in_the_inbox(
    conversation: Conversation,
) -> None:
    ended, lengths = (make_memory(conversation.user, one) for one in (SWIMATHON, LENGTHS))
    other = make_memory(conversation.user, "swims in the lido every sunday")
    say(conversation, "ive stopped the swimathon training")
    worker.drain()
    for one in (ended, lengths, other):
        one.refresh_from_db()
    assert ended.content == "ive stopped the swimathon training"
    assert (lengths.content, lengths.status) == (LENGTHS, MemoryStatus.ACTIVE)
    assert lengths.removal_asked_at and lengths.conflicts_with == ended
    assert other.removal_asked_at is None


@pytest.mark.parametrize("decision", ["keep_old", "accept"])
def test_the_person_decides_what_has_ended_too_and_may_undo_it(
    conversation: Conversation, decision: str
) -> None:
    user = conversation.user
    ended = make_memory(user, "ive stopped the swimathon training")
    asked = timezone.now()
    lengths = make_memory(user, LENGTHS, removal_asked_at=asked, conflicts_with=ended)
    before = review.undecided(user, lengths.public_id)
    review.confirm(user=user, decisions=[ReviewInput(lengths.public_id, decision)], undoable=True)
    lengths.refresh_from_db()
    assert (lengths.removal_asked_at, lengths.conflicts_with) == (None, None)
    assert (lengths.deleted_at is None) == (decision == "keep_old")
    assert before is not None
    review.undo(user=user, before=before)
    lengths.refresh_from_db()
    assert lengths.removal_asked_at and lengths.conflicts_with == ended
    assert lengths.deleted_at is None
