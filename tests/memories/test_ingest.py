from typing import Any

import pytest

from conversations.models import Conversation
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memories import language_steps
from memories.extraction.types import Candidate, Extraction, RefusedSecret, TurnText
from memories.models import (
    Arbitration,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    Refusal,
    Source,
    TargetKind,
    Vector,
)
from memories.writing import direct_writes, memory_writes
from memories.writing.direct_writes import MemoryInput
from ops.accounts import users
from ops.models import Operation, Status, User
from ops.queue import worker
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


class Scripted:
    """An extractor that finds what the test says, where the message holds it."""

    name = "scripted"

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.refused: tuple[RefusedSecret, ...] = ()

    def extract(self, turn: TurnText) -> Extraction:
        found = [one for one in self.candidates if one.quote in turn.user.text]
        return Extraction(candidates=tuple(found), refused=self.refused)


@pytest.fixture
def extractor(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    one = Scripted()
    monkeypatch.setattr(language_steps, "extractor", lambda: one)
    return one


def candidate(content: str, quote: str, **fields: object) -> Candidate:
    values: dict[str, object] = {
        "kind": "preference",
        "importance": 0.6,
        "confidence": 0.8,
        "content": content,
        "quote": quote,
    }
    return Candidate(**values | fields)  # type: ignore[arg-type]


def say(conversation: Conversation, text: str) -> turns.RecordedTurn:
    return turns.record_turn(
        user=conversation.user,
        conversation=conversation,
        user_message=MessageInput(text),
        assistant_message=MessageInput("I see."),
    )


def memories() -> list[Memory]:
    return list(Memory.objects.order_by("pk"))


def test_a_memory_knows_the_words_it_came_from(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.candidates = [candidate("Likes tea", "I like tea", quote_start=6)]
    turn = say(conversation, "Well, I like tea.")
    worker.drain()
    memory = Memory.objects.get()
    source = Source.objects.get(memory=memory)
    assert (memory.content, memory.status) == ("Likes tea", MemoryStatus.ACTIVE)
    assert (source.turn, source.message) == (turn.turn, turn.user_message)
    assert turn.user_message.content[source.quote_start :].startswith(source.quote)
    assert Vector.objects.filter(target_kind=TargetKind.MEMORY, target_id=memory.pk).exists()
    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


def test_what_is_said_again_adds_its_source_and_nothing_else(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.candidates = [candidate("Likes tea", "I like tea")]
    say(conversation, "I like tea.")
    worker.drain()
    before = Memory.objects.get()
    say(conversation, "As I said, I like tea.")
    worker.drain()
    memory = Memory.objects.get()
    assert Source.objects.filter(memory=memory).count() == 2
    assert memory.importance > before.importance
    assert MemoryVersion.objects.count() == 1


def test_a_correction_replaces_the_text_and_keeps_the_old_as_a_version(
    conversation: Conversation, extractor: Scripted, pairs: FakePairs
) -> None:
    pairs.says("Lives in Leeds", "Lives in Hangzhou", "contradicts")
    extractor.candidates = [candidate("Lives in Leeds", "I live in Leeds", kind="fact")]
    say(conversation, "I live in Leeds.")
    worker.drain()
    extractor.candidates = [
        candidate("Lives in Hangzhou", "I moved to Hangzhou", kind="fact", corrects=True)
    ]
    say(conversation, "Actually I moved to Hangzhou.")
    worker.drain()
    memory = Memory.objects.get()
    assert memory.content == "Lives in Hangzhou"
    versions = MemoryVersion.objects.order_by("number")
    assert [one.content for one in versions] == ["Lives in Leeds", "Lives in Hangzhou"]
    assert [one.sources.count() for one in versions] == [1, 1]


def test_learning_twice_from_one_turn_changes_nothing(
    conversation: Conversation, extractor: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    extractor.candidates = [
        candidate("Likes tea", "I like tea"),
        candidate("Has a cat named Biscuit", "my cat Biscuit", kind="fact"),
    ]
    say(conversation, "I like tea, and so does my cat Biscuit.")
    note = memory_writes.record_refusals
    killed: list[bool] = []

    def die_once(*refused: Any, **about: Any) -> None:
        if not killed:
            killed.append(True)
            raise RuntimeError("killed")
        note(*refused, **about)

    monkeypatch.setattr(memory_writes, "record_refusals", die_once)
    worker.drain()
    Operation.objects.filter(status=Status.PENDING).update(run_after="2020-01-01T00:00Z")
    worker.drain()
    assert [one.content for one in memories()] == ["Likes tea", "Has a cat named Biscuit"]
    assert Source.objects.count() == 2
    assert Arbitration.objects.count() == 2
    assert killed == [True]


def test_what_is_hardly_important_is_dropped(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.candidates = [candidate("Ate soup", "I ate soup", importance=0.1)]
    say(conversation, "I ate soup.")
    worker.drain()
    assert not Memory.objects.exists()


def test_doubtful_candidates_wait_for_review(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.candidates = [candidate("Likes tea", "I like tea", confidence=0.3)]
    say(conversation, "I like tea, perhaps.")
    worker.drain()
    assert Memory.objects.get().status == MemoryStatus.CANDIDATE


def test_everything_waits_when_the_person_wants_to_confirm(
    conversation: Conversation, extractor: Scripted
) -> None:
    users.change_settings(user=conversation.user, changes={"confirm_before_remembering": True})
    extractor.candidates = [candidate("Likes tea", "I like tea")]
    say(conversation, "I like tea.")
    worker.drain()
    assert Memory.objects.get().status == MemoryStatus.CANDIDATE


def test_switching_off_after_the_turn_still_stops_learning(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.candidates = [candidate("Likes tea", "I like tea")]
    say(conversation, "I like tea.")
    users.change_settings(user=conversation.user, changes={"longterm_enabled": False})
    worker.drain()
    assert not Memory.objects.exists()


def test_a_refused_secret_is_noted_without_the_secret(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.refused = (RefusedSecret("password", redacted=False),)
    turn = say(conversation, "my password is hunter2")
    worker.drain()
    refusal = Refusal.objects.get()
    assert (refusal.turn, refusal.category) == (turn.turn, "password")


def test_an_accepted_claim_rests_on_the_accepting(conversation: Conversation) -> None:
    turns.record_turn(
        user=conversation.user,
        conversation=conversation,
        user_message=MessageInput("What should I eat tonight?"),
        assistant_message=MessageInput("So you are vegetarian, right?"),
    )
    accepted = say(conversation, "Yes, that's right.")
    worker.drain()
    source = Source.objects.get(memory__content__icontains="vegetarian")
    assert (source.turn, source.message) == (accepted.turn, accepted.user_message)
    assert source.quote in accepted.user_message.content


def test_one_persons_memories_never_meet_anothers(
    conversation: Conversation, mallory: User, extractor: Scripted
) -> None:
    extractor.candidates = [candidate("Likes tea", "I like tea")]
    say(conversation, "I like tea.")
    say(conversation_names.find_or_create(user=mallory, reference="c1"), "I like tea.")
    worker.drain()
    assert sorted(str(one.user.external_id) for one in memories()) == ["alice", "mallory"]


def test_what_a_person_wrote_is_not_overwritten_by_what_was_overheard(
    conversation: Conversation, extractor: Scripted, pairs: FakePairs
) -> None:
    pairs.says("Lives in Leeds", "Lives in Hangzhou", "newer")
    written = direct_writes.remember(
        direct_writes.prepare(MemoryInput("Lives in Leeds"), origin=Origin.USER),
        user=conversation.user,
    ).memory
    extractor.candidates = [candidate("Lives in Hangzhou", "at home in Hangzhou", kind="fact")]
    say(conversation, "I was at home in Hangzhou.")
    worker.drain()
    written.refresh_from_db()
    assert written.content == "Lives in Leeds"
    other = Memory.objects.exclude(pk=written.pk).get()
    assert (other.status, other.conflicts_with) == (MemoryStatus.CANDIDATE, written)
