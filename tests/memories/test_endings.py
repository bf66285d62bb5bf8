"""A remark that isn't worth keeping by itself ends the memory that no longer holds."""

from __future__ import annotations

import pytest

from conversations.models import Conversation
from memories.models import Arbitration, Memory, Origin
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
