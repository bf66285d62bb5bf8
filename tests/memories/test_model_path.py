"""Learning by a model from end to end: the worker, the database and a real server on loopback."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from pytest_django import Settings

from conversations.models import Conversation, Summary
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories import language_steps
from memories.models import Arbitration, Memory, MemoryStatus, Refusal, Source
from ops.models import Attempt, AttemptOutcome, Kind, ModelCall, Operation, Status
from ops.queue import worker
from tests.chat_server import Answer, ChatServer, refused, said
from tests.conversations.answers import exchange
from tests.factories import make_turn
from tests.memories.language_model import forget_model
from tests.memories.plain_reader import PlainReader
from tests.pair_reader import FakePairs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]

SAYS_TEA = "Well, I really adore oolong tea, you know."
TEA = {
    "quote": "I really adore oolong tea",
    "content": "Adores oolong tea",
    "kind": "preference",
    "importance": 0.5,
    "confidence": 0.9,
    "tags": ["tea"],
    "date": None,
    "corrects": False,
}
NOTHING = said({"memories": []})


def say(conversation: Conversation, text: str, reply: str = "I see.") -> turns.RecordedTurn:
    return turns.record_turn(
        user=conversation.user,
        conversation=conversation,
        user_message=MessageInput(text),
        assistant_message=MessageInput(reply),
    )


def learning() -> Operation:
    return Operation.objects.filter(kind=Kind.EXTRACT_TURN).latest("pk")


def time_passes() -> None:
    """What waits for its next attempt is due."""
    waiting = Operation.objects.filter(status=Status.PENDING)
    waiting.update(run_after=timezone.now() - timedelta(seconds=1))
    worker.drain()


def test_the_model_learns_from_a_turn(conversation: Conversation, server: ChatServer) -> None:
    server.answers = [said({"memories": [TEA]})]
    turn = say(conversation, SAYS_TEA)
    worker.drain()
    memory = Memory.objects.get()
    assert (memory.content, memory.status) == ("Adores oolong tea", MemoryStatus.ACTIVE)
    source = Source.objects.get(memory=memory)
    assert (source.message, source.quote) == (turn.user_message, "I really adore oolong tea")
    assert turn.user_message.content[source.quote_start :].startswith(source.quote)


def test_the_model_decides_where_the_pair_head_is_unsure(
    conversation: Conversation, server: ChatServer, pairs: FakePairs
) -> None:
    pairs.says("Lives in Leeds", "Lives in York", "newer", 0.55)
    leeds = TEA | {"quote": "I live in Leeds", "content": "Lives in Leeds", "kind": "fact"}
    server.answers = [said({"memories": [leeds]})]
    say(conversation, "I live in Leeds")
    worker.drain()
    york = TEA | {"quote": "I live in York", "content": "Lives in York", "kind": "fact"}
    server.answers = [said({"memories": [york]}), said({"verdict": "REPLACE", "id": "m1"})]
    say(conversation, "I live in York now")
    worker.drain()
    memory = Memory.objects.get()
    assert (memory.content, memory.current_version) == ("Lives in York", 2)
    decided = Arbitration.objects.latest("pk")
    assert (decided.verdict, decided.decided_by) == ("REPLACE", "model")


def test_every_call_is_in_the_accounts_with_its_price(
    conversation: Conversation, server: ChatServer, settings: Settings
) -> None:
    settings.MODEL_PRICE_INPUT, settings.MODEL_PRICE_OUTPUT = 2.5, 10
    server.answers = [said({"memories": [TEA]}, usage=(1_000, 200))]
    say(conversation, SAYS_TEA)
    worker.drain()
    call = ModelCall.objects.get()
    assert call.subject == conversation.user.subject
    assert call.operation_public_id == learning().public_id
    assert (call.step, call.provider, call.model) == ("extract", "openai_compatible", "tiny")
    assert (call.prompt_version, call.outcome) == ("extract-3", "ok")
    assert (call.input_tokens, call.output_tokens) == (1_000, 200)
    assert call.cost == Decimal("0.004500")
    assert call.took_ms >= 0


@pytest.mark.parametrize(
    "failure",
    [
        refused(500),
        refused(429, headers={"Retry-After": "60"}),
        said("I'd rather not."),
        said('{"memories": [{"quo', finish="length"),
        said(""),
    ],
)
def test_a_turn_is_learned_from_when_the_model_is_well_again(
    conversation: Conversation, server: ChatServer, failure: Answer
) -> None:
    server.answers = [failure]
    say(conversation, SAYS_TEA)
    worker.drain()
    assert not Memory.objects.exists()
    assert learning().status == Status.PENDING
    assert Attempt.objects.get(operation=learning()).outcome == AttemptOutcome.RETRIED
    server.answers = [said({"memories": [TEA]})]
    time_passes()
    assert learning().status == Status.SUCCEEDED
    assert Memory.objects.get().content == "Adores oolong tea"
    assert ModelCall.objects.count() == 2


def test_a_server_that_is_down_loses_nothing(
    conversation: Conversation, server: ChatServer, settings: Settings
) -> None:
    settings.MODEL_BASE_URL = "http://127.0.0.1:9/v1"
    say(conversation, SAYS_TEA)
    worker.drain()
    assert learning().status == Status.PENDING
    assert "can’t be reached" in learning().last_error
    assert ModelCall.objects.get().outcome == "failed"
    forget_model()
    settings.MODEL_BASE_URL = server.url
    server.answers = [said({"memories": [TEA]})]
    time_passes()
    assert Memory.objects.count() == 1


def test_an_arbiter_that_fails_half_way_learns_nothing_twice(
    conversation: Conversation, server: ChatServer, pairs: FakePairs
) -> None:
    pairs.says("Adores oolong tea", "Also drinks green tea", "unrelated", 0.5)
    server.answers = [said({"memories": [TEA]})]
    say(conversation, SAYS_TEA)
    worker.drain()
    cello = TEA | {"quote": "I play the cello", "content": "Plays the cello", "kind": "skill"}
    green = TEA | {"quote": "I also drink green tea", "content": "Also drinks green tea"}
    both = said({"memories": [cello, green]})
    server.by_step = {"memories": both, "verdict": refused(500)}
    say(conversation, "I play the cello. I also drink green tea.")
    worker.drain()
    assert learning().status == Status.PENDING
    server.by_step = {"memories": both, "verdict": said({"verdict": "KEEP_BOTH", "id": "m1"})}
    time_passes()
    assert learning().status == Status.SUCCEEDED
    found = sorted(Memory.objects.values_list("content", flat=True))
    assert found == ["Adores oolong tea", "Also drinks green tea", "Plays the cello"]


def test_a_model_that_refuses_for_good_can_be_retried_by_hand(
    conversation: Conversation, server: ChatServer
) -> None:
    server.answers = [refused(401)]
    turn = say(conversation, SAYS_TEA)
    worker.drain()
    assert learning().status == Status.FAILED
    assert "401" in learning().last_error
    turn.turn.refresh_from_db()
    assert turn.turn.extracted_at is None


def test_the_bundled_reader_stands_in_where_the_setting_says_so(
    conversation: Conversation, server: ChatServer, settings: Settings
) -> None:
    settings.MODEL_FALLBACK = True
    server.answers = [refused(500)]
    say(conversation, "I live in Leeds")
    worker.drain()
    assert learning().status == Status.SUCCEEDED
    assert Memory.objects.get().content == "I live in Leeds"
    assert ModelCall.objects.get().outcome == "failed"


def test_nothing_of_what_was_said_is_logged_or_put_down(
    conversation: Conversation, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    echo = refused(500, message=SAYS_TEA)
    server.answers = [echo, said({"memories": [TEA]})]
    say(conversation, SAYS_TEA)
    worker.drain()
    time_passes()
    assert Memory.objects.exists()
    kept = [caplog.text, learning().last_error, str(learning().payload), str(learning().result)]
    kept += [str(row) for row in ModelCall.objects.values()]
    kept += list(Attempt.objects.values_list("error", flat=True))
    assert not [text for text in kept if "oolong" in text]


def test_a_secret_is_refused_and_never_sent(conversation: Conversation, server: ChatServer) -> None:
    server.answers = [said({"memories": [TEA | {"content": "Password is hunter2x99"}]})]
    say(conversation, f"My wifi password is hunter2x99. {SAYS_TEA}")
    worker.drain()
    assert Refusal.objects.get().category == "password"
    assert "hunter2x99" not in str(server.asked)
    assert not Memory.objects.filter(content__contains="hunter2x99").exists()


def test_the_model_summarizes_what_left_the_window(
    conversation: Conversation, server: ChatServer, settings: Settings
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2
    server.by_step = {
        "memories": NOTHING,
        "over_turns": said({"over_turns": []}),
        "summary": said({"summary": "Plans a trip to Kyoto."}),
    }
    for text in ("I plan a trip to Kyoto", "In May", "For a week"):
        say(conversation, text)
    worker.drain()
    assert Summary.objects.latest("pk").text == "Plans a trip to Kyoto."
    assert ModelCall.objects.filter(step="summarize", outcome="ok").exists()


def test_the_chats_answer_never_waits_for_the_model(
    conversation: Conversation, server: ChatServer
) -> None:
    server.answers = [refused(500)]
    assert exchange("I live in Leeds", user=conversation.user, conversation=conversation).turn.pk
    assert server.asked == []


def test_asking_to_forget_is_understood_without_the_model(
    conversation: Conversation, server: ChatServer, pairs: FakePairs, plain_reader: PlainReader
) -> None:
    asked = "Forget that I adore oolong tea."
    plain_reader.hears(asked, flags=["forget"])
    pairs.means("Adores oolong tea")
    server.answers = [said({"memories": [TEA]})]
    say(conversation, SAYS_TEA)
    worker.drain()
    server.answers = [NOTHING]
    say(conversation, asked)
    worker.drain()
    assert not Memory.objects.exists()


def test_nothing_is_asked_of_a_model_by_default(conversation: Conversation) -> None:
    make_turn(conversation, "I live in Leeds")
    say(conversation, "I live in Leeds")
    worker.drain()
    assert Memory.objects.get().content == "I live in Leeds"
    assert not ModelCall.objects.exists()
    assert language_steps.extractor().name == language_steps.arbiter().name == "bundled"
    assert language_steps.summarizer().name == "bundled"
