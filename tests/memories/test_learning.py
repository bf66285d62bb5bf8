"""Several turns of one person that are learned from together."""

import pytest
from django.db import OperationalError

from conversations.models import Conversation, Episode
from conversations.recording import turns
from memories import language_steps
from memories.extraction.types import Extraction, ForgetRequest, RefusedSecret, TurnText
from memories.learning import turn_batches, turn_learning
from memories.models import Arbitration, Memory, Refusal, Source, TargetKind, Vector
from ops.accounts import users
from ops.models import Kind, Operation, Status, User
from ops.queue import run, worker
from tests.memories.test_ingest import Scripted, candidate, say
from tests.memories.test_ingest import extractor as extractor

pytestmark = pytest.mark.django_db
TEA = ("Likes tea", "I like tea")
LEEDS = ("Lives in Leeds", "I live in Leeds")


def operations(kind: Kind = Kind.EXTRACT_TURN) -> list[Operation]:
    return list(Operation.objects.filter(kind=kind).order_by("pk"))


@pytest.fixture
def three_turns(conversation: Conversation, extractor: Scripted) -> list[int]:
    extractor.candidates = [candidate(*TEA), candidate(*LEEDS, kind="fact")]
    said = ["Well, I like tea.", "Nothing much.", "I like tea. I live in Leeds."]
    return [say(conversation, text).turn.pk for text in said]


def test_turns_that_wait_are_learned_in_one_run_and_each_tells_its_own(
    alice: User, three_turns: list[int]
) -> None:
    worker.drain(limit=1)
    assert [one.content for one in Memory.objects.order_by("pk")] == ["Likes tea", "Lives in Leeds"]
    found = operations()
    assert {one.status for one in found} == {Status.SUCCEEDED}
    told = [[one["result"] for one in op.result["memories"]] for op in found]
    assert told == [["created"], [], ["skipped", "created"]]
    tea = Memory.objects.get(content="Likes tea")
    assert [one.turn_id for one in Source.objects.filter(memory=tea).order_by("pk")] == [
        three_turns[0],
        three_turns[2],
    ]


def test_they_are_indexed_in_one_run_as_well(alice: User, three_turns: list[int]) -> None:
    worker.drain(limit=2)
    assert {one.status for one in operations(Kind.INDEX_EPISODE)} == {Status.SUCCEEDED}
    assert Episode.objects.count() == 3
    kinds = Vector.objects.filter(user=alice).values_list("target_kind", flat=True)
    assert sorted(kinds) == sorted(
        [TargetKind.MEMORY] * 2 + [TargetKind.EPISODE] * 3 + [TargetKind.MESSAGE] * 6
    )


def test_a_message_that_waits_alone_and_with_its_turn_is_indexed_once(
    alice: User, conversation: Conversation
) -> None:
    asked = turns.MessageInput("Where does my sister live?")
    question = turns.record_message(user=alice, conversation=conversation, message=asked)
    reply = turns.MessageInput("In Lyon.")
    turns.record_answer(user=alice, question=question.message, answer=reply)
    worker.drain()
    assert {one.status for one in operations(Kind.INDEX_EPISODE)} == {Status.SUCCEEDED}
    assert Vector.objects.filter(target_kind=TargetKind.MESSAGE).count() == 2


def test_what_is_learned_together_is_what_is_learned_alone(
    alice: User, three_turns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "find_queued", lambda operation, *, limit: [])
    worker.drain()
    assert [one.content for one in Memory.objects.order_by("pk")] == ["Likes tea", "Lives in Leeds"]
    told = [[one["result"] for one in op.result["memories"]] for op in operations()]
    assert told == [["created"], [], ["skipped", "created"]]


def test_a_turn_that_asks_to_forget_is_not_learned_from_with_others(
    conversation: Conversation, extractor: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = extractor.extract

    def extract(turn: TurnText) -> Extraction:
        asks = (ForgetRequest("tea", turn.user.text),) if "Forget" in turn.user.text else ()
        return Extraction(real(turn).candidates, (), asks)

    monkeypatch.setattr(extractor, "extract", extract)
    extractor.candidates = [candidate(*TEA)]
    for text in ("I like tea.", "Fine.", "Forget that I like tea.", "Good."):
        say(conversation, text)
    worker.drain(limit=1)
    states = [one.status for one in operations()]
    assert states == [Status.SUCCEEDED, Status.SUCCEEDED, Status.PENDING, Status.PENDING]


def test_what_was_refused_stands_beside_its_own_turn(
    conversation: Conversation, extractor: Scripted
) -> None:
    extractor.refused = (RefusedSecret("password", redacted=True),)
    for text in ("One.", "Two."):
        say(conversation, text)
    worker.drain(limit=1)
    assert Refusal.objects.values_list("turn", flat=True).distinct().count() == 2


def test_switched_off_meanwhile_nothing_is_learned(
    alice: User, three_turns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = turn_learning.extract

    def extract(text: TurnText) -> Extraction:
        users.change_settings(user=alice, changes={"longterm_enabled": False})
        return real(text)

    monkeypatch.setattr(turn_learning, "extract", extract)
    worker.drain(limit=1)
    assert not Memory.objects.exists() and not Arbitration.objects.exists()


def test_where_somebody_holds_a_row_the_turn_is_learned_from_alone(
    alice: User, three_turns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(*given: object, **named: object) -> None:
        raise OperationalError

    monkeypatch.setattr(turn_batches, "_learn_drafts", held)
    worker.drain(limit=1)
    states = [one.status for one in operations()]
    assert states == [Status.SUCCEEDED, Status.PENDING, Status.PENDING]
    assert [one.content for one in Memory.objects.all()] == ["Likes tea"]


def test_by_a_model_each_turn_is_learned_from_alone(
    alice: User, three_turns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_steps, "are_steps_local", lambda: False)
    worker.drain(limit=1)
    assert [one.status for one in operations()][1:] == [Status.PENDING, Status.PENDING]
