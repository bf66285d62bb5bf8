"""What got no reply is learned from all the same, and never twice."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Learning, Message
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memories.forgetting import spoken_requests
from memories.learning import turn_learning
from memories.models import Arbitration, Memory, Refusal, Source
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Operation, Status
from ops.queue import worker
from tests.killing import Kill, revive
from tests.memories.pages import address, signed_in, text_of
from tests.memories.plain_reader import PlainReader
from tests.memories.quiet import falls_quiet, texts
from tests.pair_reader import FakePairs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]

HOME = "I live in Leeds."


def say(conversation: Conversation, text: str, *, role: str = "user") -> Message:
    given = MessageInput(text, role=role)
    found = turns.record_message(user=conversation.user, conversation=conversation, message=given)
    return found.message


def state_of(message: Message) -> str:
    return Message.objects.get(pk=message.pk).learning


def test_a_message_without_a_reply_is_learned_from_when_it_falls_quiet(
    conversation: Conversation,
) -> None:
    message = say(conversation, HOME)
    worker.drain()
    assert texts() == []
    falls_quiet(conversation)
    assert texts() == ["I live in Leeds"]
    source = Source.objects.get()
    assert (source.message, source.turn, source.quote) == (message, None, "I live in Leeds")
    assert state_of(message) == Learning.DONE


def test_after_a_first_message_of_the_assistant_what_was_accepted_counts(
    conversation: Conversation,
) -> None:
    claim, answer = "So you are vegan, right?", "Yes, exactly."
    say(conversation, claim, role="assistant")
    say(conversation, answer)
    falls_quiet(conversation)
    assert texts() == [f"[{claim}] {answer}"]


def test_an_assistant_who_speaks_first_teaches_nothing(conversation: Conversation) -> None:
    say(conversation, "I live in a data centre in Oslo.", role="assistant")
    falls_quiet(conversation)
    assert texts() == []


def test_the_reply_that_comes_in_time_makes_it_a_turn(conversation: Conversation) -> None:
    message = say(conversation, HOME)
    say(conversation, "I see.", role="assistant")
    assert state_of(message) == Learning.WITH_TURN
    falls_quiet(conversation)
    assert texts() == ["I live in Leeds"]
    assert Arbitration.objects.count() == 1


def test_a_reply_that_comes_late_teaches_nothing_again(conversation: Conversation) -> None:
    say(conversation, HOME)
    falls_quiet(conversation)
    say(conversation, "I see.", role="assistant")
    falls_quiet(conversation)
    assert not Operation.objects.exclude(status=Status.SUCCEEDED).exists()
    assert Operation.objects.filter(kind=Kind.EXTRACT_TURN).count() == 1
    assert Arbitration.objects.count() == Source.objects.count() == 1


def test_what_leaves_the_window_is_learned_from_first(
    conversation: Conversation, settings: Settings
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 2, 2
    for text in (HOME, "I play the cello.", "Hm.", "Well."):
        say(conversation, text)
    worker.drain()
    assert texts() == ["I live in Leeds", "I play the cello"]
    falls_quiet(conversation)
    assert Arbitration.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_killed_half_way_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    user = users.find_or_create("alice")
    with as_user(user):
        conversation = conversation_names.find_or_create(user=user, reference="c1")
        say(conversation, f"{HOME} I play the cello.")
    real = turn_learning.learn_candidate
    calls: list[int] = []

    def deadly(*args: object, **more: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise Kill
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(turn_learning, "learn_candidate", deadly)
    with pytest.raises(Kill):
        falls_quiet(conversation)
    revive(monkeypatch)
    worker.drain()
    assert texts() == ["I live in Leeds", "I play the cello"]
    assert Arbitration.objects.count() == Source.objects.count() == 2


def test_what_it_asks_to_be_forgotten_is_forgotten(
    conversation: Conversation, pairs: FakePairs, plain_reader: PlainReader
) -> None:
    asked = "Please forget that I live in Leeds."
    plain_reader.hears(asked, flags=["forget"])
    pairs.means("I live in Leeds")
    say(conversation, HOME)
    falls_quiet(conversation)
    say(conversation, asked)
    falls_quiet(conversation)
    assert texts() == []


def test_a_secret_is_refused_and_told(conversation: Conversation) -> None:
    say(conversation, "My password is hunter2-Xy81.")
    falls_quiet(conversation)
    assert texts() == []
    assert Refusal.objects.get().category == "password"


@pytest.mark.parametrize("when", ["before", "after"])
def test_nothing_is_learned_while_memory_is_off(conversation: Conversation, when: str) -> None:
    user = conversation.user
    if when == "before":
        users.change_settings(user=user, changes={"longterm_enabled": False})
    say(conversation, HOME)
    users.change_settings(user=user, changes={"longterm_enabled": False})
    falls_quiet(conversation)
    users.change_settings(user=user, changes={"longterm_enabled": True})
    say(conversation, "Hm.")
    falls_quiet(conversation)
    assert texts() == []


@pytest.mark.parametrize("is_on", [True, False])
def test_a_request_that_is_not_plain_is_a_question_of_the_operation(
    conversation: Conversation, pairs: FakePairs, is_on: bool
) -> None:
    say(conversation, HOME)
    falls_quiet(conversation)
    users.change_settings(user=conversation.user, changes={"longterm_enabled": is_on})
    asked = say(conversation, "Forget that I live in Lyon.")
    falls_quiet(conversation)

    told = Operation.objects.filter(kind=Kind.EXTRACT_CONVERSATION).latest("pk").forget_outcome
    assert texts() == ["I live in Leeds"]
    assert told["status"] == spoken_requests.NEEDS_CHOICE and asked.public_id in told["message_ids"]
    assert told["memory_ids"] == [Memory.objects.get().public_id]


def test_forgetting_the_message_forgets_what_was_learned(conversation: Conversation) -> None:
    message = say(conversation, HOME)
    falls_quiet(conversation)
    message_forgets.forget_message(user=conversation.user, message=message, cascade=True)
    worker.drain()
    assert not Memory.everything.exists()


def test_the_memorys_page_quotes_it(conversation: Conversation) -> None:
    message = say(conversation, HOME)
    falls_quiet(conversation)
    url = address("memory_page", Memory.objects.get().public_id)
    page = text_of(signed_in(conversation.user).get(url))
    assert "You said so." in page
    assert f"#{message.public_id}" in page
