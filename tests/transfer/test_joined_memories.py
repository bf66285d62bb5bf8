"""What was put together from several turns or memories stays so after it came in elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Message, Turn
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memories import language_steps, tasks
from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Candidate, JointCandidate, JointTurn
from memories.models import Kind, Memory, MemoryStatus, MemoryVersion, Source
from memories.writing import consolidation
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.memories.extraction.readings import FakeReader, statement
from tests.transfer.rich import content_of, export
from tests.transfer.test_round_trip import bring_in, report

pytestmark = pytest.mark.django_db

TRIP = ("I'm planning a trip to Kyoto.", "It's on May 3rd.")
PLAN = "I'm planning a trip to Kyoto"
TEAS = ("Likes oolong tea", "Likes green tea", "Likes black tea")


@dataclass
class DatedPlan:
    """A joint reader that puts the date of the last turn to the plan of the turn before it."""

    name = "fake"
    asked: int = 0

    def read(self, turns: Sequence[JointTurn]) -> list[JointCandidate]:
        self.asked += 1
        plan, day = turns[-2:]
        dated = Candidate(
            kind=Kind.TASK,
            content=f"{PLAN} on May 3rd",
            importance=0.6,
            confidence=0.6,
            quote=day.text.user.text,
        )
        return [JointCandidate(dated, day.turn, needs=(plan.turn,))]


@pytest.fixture
def joint(monkeypatch: pytest.MonkeyPatch) -> DatedPlan:
    """What is put together from the two turns; by itself only the first one says something."""
    reader, found = FakeReader(), DatedPlan()
    reader.hears(TRIP[0], statement(TRIP[0], PLAN, kind=Kind.TASK))
    monkeypatch.setattr(language_steps, "bundled_extractor", lambda: BundledExtractor(reader))
    monkeypatch.setattr(language_steps, "joint_reader", lambda: found)
    return found


def moved(user: User) -> User:
    """The same person elsewhere, with all that an export holds."""
    bob = users.find_or_create("bob")
    report(bring_in(bob, content_of(export(user))))
    return bob


def forget(user: User, text: str) -> None:
    message = Message.objects.get(user=user, content=text)
    message_forgets.forget_message(user=user, message=message, cascade=True)
    worker.drain()


def active(user: User) -> list[str]:
    found = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE).order_by("pk")
    return list(found.values_list("content", flat=True))


@pytest.fixture
def planned(alice: User, joint: DatedPlan) -> User:
    conversation = conversation_names.find_or_create(user=alice, reference="c1")
    for text in TRIP:
        turns.record_turn(
            user=alice,
            conversation=conversation,
            user_message=MessageInput(text),
            assistant_message=MessageInput("I see."),
        )
    worker.drain()
    then = timezone.now() - timedelta(minutes=31)
    Conversation.objects.filter(pk=conversation.pk).update(last_message_at=then)
    tasks.request_examinations()
    worker.drain()
    return alice


def test_a_fact_of_two_turns_still_rests_on_both(planned: User) -> None:
    before = active(planned)
    bob = moved(planned)
    assert active(bob) == before == [f"{PLAN} on May 3rd"]
    memory = Memory.objects.get(user=bob)
    rests = Source.objects.filter(memory=memory, version__number=memory.current_version, joint=True)
    assert set(rests.values_list("turn", flat=True)) == set(
        Turn.objects.filter(user=bob).values_list("pk", flat=True)
    )


@pytest.mark.parametrize(("text", "left"), [(TRIP[0], []), (TRIP[1], [PLAN])])
def test_it_goes_with_either_turn_there_too(planned: User, text: str, left: list[str]) -> None:
    bob = moved(planned)
    forget(bob, text)
    assert active(bob) == left


def test_a_conversation_is_not_examined_again_there(planned: User, joint: DatedPlan) -> None:
    bob = moved(planned)
    known, asked = Memory.everything.filter(user=bob).count(), joint.asked
    Conversation.objects.update(last_message_at=timezone.now() - timedelta(hours=1))
    tasks.request_examinations()
    worker.drain()
    assert (Memory.everything.filter(user=bob).count(), joint.asked) == (known, asked)


def test_a_consolidated_memory_is_derived_again_there(alice: User) -> None:
    conversation = make_conversation(alice)
    then = timezone.now() - timedelta(days=40)
    for text in TEAS:
        turn = make_turn(conversation, f"I say: {text}", extracted_at=then)
        make_memory(alice, text, turns=[turn], kind="preference", created_at=then)
    consolidation.request(user=alice)
    worker.drain()
    bob = moved(alice)
    assert active(bob) == active(alice) == ["Likes oolong tea; Likes green tea; Likes black tea"]
    version = MemoryVersion.objects.get(memory=Memory.objects.get(user=bob, status="active"))
    assert {one.content for one in version.inputs.all()} == set(TEAS)
    forget(bob, f"I say: {TEAS[0]}")
    assert active(bob) == ["Likes green tea; Likes black tea"]
    assert active(alice) == ["Likes oolong tea; Likes green tea; Likes black tea"]
