"""Examining conversations that went quiet, and before messages leave the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Summary
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memories import language_steps, tasks
from memories.extraction.message_reading.habits import BundledJointReader
from memories.extraction.types import Candidate, JointCandidate, JointTurn
from memories.forgetting import memory_forgets as known
from memories.learning import joint_learning
from memories.models import Memory, MemoryStatus, Source
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Operation, Status
from ops.queue import worker
from tests.killing import Kill, revive
from tests.memories.plain_reader import PlainReader
from tests.memories.quiet import falls_quiet, texts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]

PLAN = "I'm planning a trip to Kyoto"
TRIP = (f"{PLAN}.", "It's on May 3rd.")
JOINED = f"{PLAN} on May 3rd"
OVERTIME = ("今天又加班了。", "我昨晚加班。", "唉，今天加班了")


class DatingReader:
    """Finds the habits, and gives the plan the day that was told later, as a model does."""

    name = "dating"

    def read(self, turns: Sequence[JointTurn]) -> list[JointCandidate]:
        heard = {one.text.user.text: one for one in turns}
        plan, day = heard.get(TRIP[0]), heard.get(TRIP[1])
        found = BundledJointReader().read(turns)
        if plan and day and (plan.is_new or day.is_new):
            joined = Candidate("task", JOINED, 0.6, 0.8, TRIP[1], reasons=("over_turns",))
            found.append(JointCandidate(joined, day.turn, needs=(plan.turn,)))
        return found


@pytest.fixture(autouse=True)
def dating(plain_reader: PlainReader) -> Iterator[None]:
    """No turn of overtime is a statement by itself."""
    for text in OVERTIME:
        plain_reader.hears(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(language_steps, "joint_reader", DatingReader)
        yield


def say(conversation: Conversation, *texts: str, reply: str = "I see.") -> list[turns.RecordedTurn]:
    return [
        turns.record_turn(
            user=conversation.user,
            conversation=conversation,
            user_message=MessageInput(text),
            assistant_message=MessageInput(reply),
        )
        for text in texts
    ]


def test_a_plan_gets_the_date_that_was_told_later(conversation: Conversation) -> None:
    plan, day = say(conversation, *TRIP)
    falls_quiet(conversation)
    memory = Memory.objects.get()
    assert memory.content.startswith(JOINED)
    rests = Source.objects.filter(memory=memory, version__number=memory.current_version)
    assert set(rests.filter(joint=True).values_list("turn", flat=True)) == {
        plan.turn.pk,
        day.turn.pk,
    }
    assert rests.get(turn=day.turn).quote == TRIP[1]


def test_forgetting_the_turn_with_the_date_leaves_the_plan(conversation: Conversation) -> None:
    _, day = say(conversation, *TRIP)
    falls_quiet(conversation)
    message_forgets.forget_message(user=conversation.user, message=day.user_message, cascade=True)
    worker.drain()
    assert texts() == [PLAN]


def test_forgetting_the_turn_with_the_plan_leaves_nothing(conversation: Conversation) -> None:
    plan, _ = say(conversation, *TRIP)
    falls_quiet(conversation)
    operation = message_forgets.forget_message(
        user=conversation.user, message=plan.user_message, cascade=True
    )
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED
    assert not Memory.everything.exists()


def test_a_habit_rests_on_each_of_its_turns(conversation: Conversation) -> None:
    first, *_ = say(conversation, *OVERTIME)
    falls_quiet(conversation)
    assert texts() == ["经常加班"]
    assert Source.objects.count() == 3
    message_forgets.forget_message(user=conversation.user, message=first.user_message, cascade=True)
    worker.drain()
    assert texts() == ["经常加班"]


def test_nothing_is_examined_before_it_is_quiet_nor_twice(conversation: Conversation) -> None:
    say(conversation, *TRIP)
    worker.drain()
    assert tasks.request_examinations() == 0
    falls_quiet(conversation)
    conversation.refresh_from_db()
    assert conversation.examined_through == 4
    assert tasks.request_examinations() == 0
    say(conversation, "I like tea.")
    falls_quiet(conversation)
    assert Operation.objects.filter(kind=Kind.EXTRACT_CONVERSATION).count() == 2


def test_one_that_waits_is_not_asked_for_twice(conversation: Conversation) -> None:
    say(conversation, *TRIP)
    worker.drain()
    then = timezone.now() - timedelta(hours=1)
    Conversation.objects.filter(pk=conversation.pk).update(last_message_at=then)
    tasks.request_examinations()
    tasks.request_examinations()
    waiting = Operation.objects.get(kind=Kind.EXTRACT_CONVERSATION)
    assert waiting.payload == {"conversation": conversation.pk}


def test_running_it_again_learns_nothing_twice(conversation: Conversation) -> None:
    say(conversation, *TRIP)
    falls_quiet(conversation)
    before = Memory.objects.get().current_version
    Conversation.objects.filter(pk=conversation.pk).update(examined_through=0)
    falls_quiet(conversation)
    assert Memory.objects.get().current_version == before
    assert Source.objects.filter(joint=True).count() == 2


def test_what_was_forgotten_is_not_put_together_again(conversation: Conversation) -> None:
    say(conversation, *TRIP)
    falls_quiet(conversation)
    known.forget_memory(user=conversation.user, memory=Memory.objects.get())
    worker.drain()
    Conversation.objects.filter(pk=conversation.pk).update(examined_through=0)
    falls_quiet(conversation)
    assert not Memory.objects.exists()


@pytest.mark.parametrize("when", ["before", "after"])
def test_nothing_is_learned_while_memory_is_off(conversation: Conversation, when: str) -> None:
    user = conversation.user
    if when == "before":
        users.change_settings(user=user, changes={"longterm_enabled": False})
    say(conversation, *TRIP)
    worker.drain()
    users.change_settings(user=user, changes={"longterm_enabled": when == "before"})
    falls_quiet(conversation)
    assert not Memory.objects.filter(content__startswith=JOINED).exists()
    assert tasks.request_examinations() == 0


def test_a_turn_that_is_hidden_is_not_read(conversation: Conversation) -> None:
    _, day = say(conversation, *TRIP)
    worker.drain()
    message_forgets.forget_message(user=conversation.user, message=day.user_message)
    falls_quiet(conversation)
    assert texts() == [PLAN]


def test_it_waits_for_turns_that_are_not_learned_from_yet(conversation: Conversation) -> None:
    say(conversation, *TRIP)
    later = timezone.now() + timedelta(hours=1)
    turns = Operation.objects.filter(kind=Kind.EXTRACT_TURN)
    turns.exclude(pk=turns.earliest("pk").pk).update(run_after=later)
    worker.drain(limit=1)
    falls_quiet(conversation)
    operation = Operation.objects.get(kind=Kind.EXTRACT_CONVERSATION)
    assert operation.status == Status.PENDING and "not learned" in operation.last_error
    Operation.objects.update(run_after=timezone.now())
    worker.drain()
    assert texts()[0].startswith(JOINED)


def test_confirming_holds_for_what_was_put_together_too(conversation: Conversation) -> None:
    users.change_settings(user=conversation.user, changes={"confirm_before_remembering": True})
    say(conversation, *TRIP)
    falls_quiet(conversation)
    found = Memory.objects.get(content=JOINED)
    assert found.status == MemoryStatus.CANDIDATE


@pytest.mark.django_db(transaction=True)
def test_killed_half_way_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    user = users.find_or_create("alice")
    with as_user(user):
        conversation = conversation_names.find_or_create(user=user, reference="c1")
        say(conversation, *OVERTIME)
    worker.drain()
    real = joint_learning._learn
    calls: list[int] = []

    def deadly(*args: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise Kill
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(joint_learning, "_learn", deadly)
    with pytest.raises(Kill):
        falls_quiet(conversation)
    revive(monkeypatch)
    worker.drain()
    assert texts() == ["经常加班"]
    assert Source.objects.count() == 3


# --- Before messages leave the window ---------------------------------------------------------


@pytest.fixture
def small_window(settings: Settings) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2


@pytest.mark.usefixtures("small_window")
def test_what_leaves_the_window_is_read_together_first(conversation: Conversation) -> None:
    say(conversation, *TRIP, "I like tea.", "Nice day today.")
    worker.drain()
    assert Summary.objects.exists()
    assert any(text.startswith(JOINED) for text in texts())
    conversation.refresh_from_db()
    assert conversation.examined_through >= 4


@pytest.mark.usefixtures("small_window")
def test_a_turn_that_could_not_be_learned_from_is_before_it_leaves(
    conversation: Conversation,
) -> None:
    say(conversation, "I live in Leeds.")
    failed = Operation.objects.get(kind=Kind.EXTRACT_TURN)
    Operation.objects.filter(pk=failed.pk).update(status=Status.FAILED)
    say(conversation, "Nice day.", "What a day.", "So it goes.")
    worker.drain()
    assert "I live in Leeds" in texts()


@pytest.mark.usefixtures("small_window")
def test_nothing_leaves_the_window_before_it_is_learned_from(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Down:
        name = "model"

        def read(self, turns: object) -> object:
            raise joint_learning.NotLearnedYet

    monkeypatch.setattr(language_steps, "joint_reader", Down)
    say(conversation, *TRIP, "I like tea.", "Nice day.")
    worker.drain()
    assert not Summary.objects.exists()
    assert Operation.objects.get(kind=Kind.SUMMARIZE).status == Status.PENDING
    monkeypatch.undo()
    Operation.objects.update(run_after=timezone.now())
    worker.drain()


def test_what_was_said_while_memory_was_off_is_not_learned_later(
    conversation: Conversation, settings: Settings
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2
    users.change_settings(user=conversation.user, changes={"longterm_enabled": False})
    say(conversation, "I live in Leeds.")
    users.change_settings(user=conversation.user, changes={"longterm_enabled": True})
    say(conversation, "Nice day.", "What a day.", "So it goes.")
    worker.drain()
    assert Summary.objects.exists()
    assert texts() == []
