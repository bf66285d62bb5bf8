"""An answer on its way: streamed, stopped, broken off, asked for again, its question edited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client
from pytest_django import Settings

from conversations.models import Conversation, Message, Turn
from conversations.services import (
    answering,
    asking,
    asking_in_passing,
    speaking,
    temporary,
    under_way,
)
from conversations.services.answering import Answering, End
from conversations.services.asking import Kept
from conversations.views import answers
from memcenter.lib.errors import Conflict
from memcenter.rest.sharing import Share
from memories.models import Memory, RecallTrace
from ops.access import as_user
from ops.models import ModelCall, Receipt, User
from ops.services import worker
from tests.chat_server import Answer, ChatServer, refused, serving, streamed
from tests.factories import make_memory, make_turn
from tests.memories.pages import address, htmx, signed_in, text_of

pytestmark = pytest.mark.django_db
STREAM = {"Accept": "text/event-stream"}


@pytest.fixture(autouse=True)
def nothing_under_way() -> Iterator[None]:
    """Redis is not rolled back after each test as the database is."""
    yield
    for key in temporary.client().scan_iter("mc:answering:*"):
        temporary.client().delete(key)


@pytest.fixture
def model(settings: Settings) -> Iterator[ChatServer]:
    with serving(streamed("Rice ", "with ", "**beans**.")) as server:
        settings.MODEL_BASE_URL = server.url
        settings.MODEL_NAME = "tiny"
        settings.MODEL_TIMEOUT = 5
        settings.MODEL_RETRIES = 0
        yield server


def events_of(response: Any) -> list[tuple[str, dict[str, Any]]]:
    """What a stream said, without its signs of life."""
    text = b"".join(response.streaming_content).decode()
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event:")]
    return [(name[7:], json.loads(data[6:])) for name, data in blocks]


def hang_up(response: Any) -> None:
    """As a server does it; the signal would close what this test's transaction is in."""
    request_finished.disconnect(close_old_connections)
    response.close()
    request_finished.connect(close_old_connections)


def say(client: Client, conversation: Conversation, text: str) -> list[tuple[str, dict[str, Any]]]:
    url = address("conversation", conversation.public_id)
    return events_of(client.post(url, {"text": text}, headers=htmx("bubbles") | STREAM))


def again(client: Client, conversation: Conversation) -> dict[str, Any]:
    """What the stream of another answer ends with."""
    url = address("conversation_answer", conversation.public_id)
    return events_of(client.post(url, headers=htmx("bubbles") | STREAM))[-1][1]


def edit(client: Client, conversation: Conversation, message: Message, text: str) -> Any:
    url = address("conversation_edit", conversation.public_id)
    return client.post(url, {"text": text, "message": message.public_id})


def texts_of(conversation: Conversation) -> list[str]:
    found = Message.objects.filter(conversation=conversation).order_by("number")
    return list(found.values_list("content", flat=True))


def thread_of(conversation: Conversation) -> Kept:
    with as_user(conversation.user):
        return asking.last(user=conversation.user, conversation=conversation)


def test_an_answer_comes_as_a_stream_and_ends_as_two_bubbles(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    events = say(client, conversation, "What shall I cook?")
    assert events[0][0] == "begun"
    name, ended = events[-1]
    assert (name, ended["how"]) == ("ended", "whole")
    assert ended["html"].count('class="bubble bubble--') == 2
    assert "<strong>beans</strong>" in ended["html"]
    assert texts_of(conversation) == ["What shall I cook?", "Rice with **beans**."]
    assert Turn.objects.count() == 1


def test_the_model_is_sent_what_is_remembered_and_what_was_said(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    make_memory(conversation.user, "Is allergic to peanuts", kind="constraint")
    make_turn(conversation, "I am hungry.", "What a pity.")
    say(client, conversation, "What shall I cook?")
    system, *said = model.asked[0]["messages"]
    assert "Is allergic to peanuts" in system["content"]
    assert [one["content"] for one in said] == [
        "I am hungry.",
        "What a pity.",
        "What shall I cook?",
    ]


def test_what_a_model_took_is_accounted_without_words(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    say(client, conversation, "What shall I cook?")
    call = ModelCall.objects.get()
    assert (call.step, call.outcome, call.subject) == ("chat", "ok", conversation.user.subject)
    assert call.input_tokens > 0 and call.output_tokens > 0


def test_without_a_model_the_demo_assistant_streams_too(
    client: Client, conversation: Conversation
) -> None:
    make_memory(conversation.user, "Has a cat named Biscuit")
    ended = say(client, conversation, "What is my cat called?")[-1][1]
    assert "<li>Has a cat named Biscuit</li>" in ended["html"]
    assert "1 memory used" in ended["html"]


def test_a_first_message_is_kept_at_once_and_its_page_asks_for_the_answer(
    alice: User, client: Client, model: ChatServer
) -> None:
    url = address("conversation_new")
    response = client.post(url, {"text": "I keep bees."}, headers=htmx("bubbles") | STREAM)
    made = Conversation.objects.get(user=alice)
    assert response["HX-Redirect"] == f"/c/{made.public_id}/"
    assert texts_of(made) == ["I keep bees."]
    assert model.asked == []
    page = text_of(client.get(response["HX-Redirect"]))
    assert "This message has no answer yet." in page
    assert again(client, made)["how"] == "whole"
    assert texts_of(made) == ["I keep bees.", "Rice with **beans**."]


def test_a_stopped_answer_keeps_what_was_shown_and_is_learned_from(
    alice: User,
    client: Client,
    conversation: Conversation,
    model: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answering, "_LOOK_EVERY", 0.0)
    asking.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = Answering(thread_of(conversation))
    pieces = iter(thread)
    first = next(piece for piece in pieces if piece)
    assert client.post(address("conversation_stop", conversation.public_id)).status_code == 302
    assert thread.finish() is End.STOPPED
    assert texts_of(conversation)[1] == first == thread.text
    assert Turn.objects.get().assistant_message.completed
    assert not under_way.is_answering(conversation.public_id)
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "You stopped this answer here." in page


def test_who_looks_while_an_answer_is_stopping_goes_on_looking(
    alice: User, client: Client, conversation: Conversation, model: ChatServer
) -> None:
    asking.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = Answering(thread_of(conversation))
    next(piece for piece in thread if piece)
    client.post(address("conversation_stop", conversation.public_id))
    page = address("conversation", conversation.public_id)
    assert "An answer is being written…" in text_of(client.get(page))
    refused_now = client.post(page, {"text": "And beans?"}, headers=htmx("bubbles") | STREAM)
    assert refused_now.status_code == 422
    thread.finish()
    assert texts_of(conversation)[0] == "What shall I cook?"
    assert len(texts_of(conversation)) == 2


def test_an_answer_stops_while_the_model_is_still_silent(
    alice: User, conversation: Conversation, model: ChatServer, client: Client
) -> None:
    model.answers = [Answer(silent=True)]
    asking.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = Answering(thread_of(conversation))
    assert next(iter(thread)) == ""
    client.post(address("conversation_stop", conversation.public_id), headers=htmx("x"))
    assert thread.finish() is End.UNSAID
    assert texts_of(conversation) == ["What shall I cook?"]


def test_a_reader_who_leaves_still_has_the_answer_kept(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    url = address("conversation", conversation.public_id)
    response: Any = client.post(url, {"text": "Hello"}, headers=htmx("bubbles") | STREAM)
    next(iter(response.streaming_content))
    response._iterator.close()
    assert texts_of(conversation) == ["Hello", "Rice with **beans**."]


def test_a_reader_who_leaves_before_the_first_word_still_has_the_answer_kept(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    url = address("conversation", conversation.public_id)
    hang_up(client.post(url, {"text": "Hello"}, headers=htmx("bubbles") | STREAM))
    assert texts_of(conversation) == ["Hello", "Rice with **beans**."]


def test_a_model_that_fails_leaves_the_message_with_a_way_to_try_again(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    model.answers = [refused(500)]
    ended = say(client, conversation, "What shall I cook?")[-1][1]
    assert ended["how"] == "silent"
    assert "Your message is kept." in ended["html"]
    assert texts_of(conversation) == ["What shall I cook?"]
    model.answers = [streamed("Rice.")]
    assert again(client, conversation)["how"] == "whole"
    assert texts_of(conversation) == ["What shall I cook?", "Rice."]
    assert Turn.objects.count() == 1


def test_without_javascript_a_failed_answer_is_said_on_the_page(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    model.answers = [refused(500)]
    url = address("conversation", conversation.public_id)
    response = client.post(url, {"text": "What shall I cook?"})
    assert response["Location"] == f"{url}#end"
    page = text_of(client.get(url))
    assert "This message has no answer yet." in page
    model.answers = [streamed("Rice.")]
    client.post(address("conversation_answer", conversation.public_id))
    assert "Rice." in text_of(client.get(url))


def test_half_an_answer_is_kept_as_unfinished_and_gives_way_to_a_whole_one(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    model.answers = [streamed("Rice wi", finished=False)]
    assert say(client, conversation, "What shall I cook?")[-1][1]["how"] == "broken"
    assert list(Message.objects.values_list("completed", flat=True).order_by("number")) == [
        True,
        False,
    ]
    assert not Turn.objects.exists()
    assert "This answer broke off." in text_of(
        client.get(address("conversation", conversation.public_id))
    )
    model.answers = [streamed("Rice.")]
    again(client, conversation)
    worker.drain()
    assert texts_of(conversation) == ["What shall I cook?", "Rice."]
    assert Message.everything.count() == 2


def test_answered_again_the_old_turn_is_forgotten_and_its_words_teach_anew(
    alice: User, client: Client, conversation: Conversation
) -> None:
    say(client, conversation, "I'm allergic to penicillin.")
    worker.drain()
    (before,) = Memory.objects.all()
    old = list(Message.objects.all())
    ended = again(client, conversation)
    assert set(ended["gone"]) == {one.public_id for one in old}
    worker.drain()
    assert not Message.everything.filter(pk__in=[one.pk for one in old]).exists()
    assert texts_of(conversation)[0] == "I'm allergic to penicillin."
    (now,) = Memory.objects.all()
    assert now.content == before.content and now.pk != before.pk
    assert Receipt.objects.count() == 1


def test_the_answer_given_again_knows_its_recall(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    make_memory(conversation.user, "Has a cat named Biscuit")
    say(client, conversation, "What is my cat called?")
    assert "1 memory used" in again(client, conversation)["html"]
    worker.drain()
    assert RecallTrace.objects.get().answer == Message.objects.get(role="assistant")


def test_the_model_does_not_read_the_answer_that_is_to_be_replaced(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    say(client, conversation, "What shall I cook?")
    again(client, conversation)
    assert [one["content"] for one in model.asked[1]["messages"][1:]] == ["What shall I cook?"]


@pytest.mark.parametrize("failing", [refused(500), streamed("Noo", finished=False)])
def test_an_answer_stays_until_the_next_one_is_whole(
    client: Client, conversation: Conversation, model: ChatServer, failing: Answer
) -> None:
    say(client, conversation, "What shall I cook?")
    model.answers = [failing]
    ended = again(client, conversation)
    assert "The earlier one is still here." in ended["html"]
    assert texts_of(conversation) == ["What shall I cook?", "Rice with **beans**."]


def test_an_edited_message_leaves_nothing_of_what_it_had_taught(
    alice: User, client: Client, conversation: Conversation
) -> None:
    say(client, conversation, "I'm allergic to penicillin.")
    worker.drain()
    old = Message.objects.get(role="user")
    page = text_of(client.get(address("conversation_edit", conversation.public_id)))
    assert "1 memory that rests only on it" in page
    response = edit(client, conversation, old, "I'm allergic to latex.")
    assert response.status_code == 302
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "1 memory that rested only on them" in page
    assert "penicillin" not in page
    worker.drain()
    assert "penicillin" not in str(list(Message.everything.values()))
    assert [one.content for one in Memory.everything.all()] == ["Allergic to latex"]


def test_only_the_last_message_is_edited(client: Client, conversation: Conversation) -> None:
    first = make_turn(conversation, "Hello").user_message
    make_turn(conversation, "Are you there?")
    response = edit(client, conversation, first, "Good day")
    assert response.status_code == 422
    assert "said after it meanwhile" in text_of(response)
    assert "Good day" in text_of(response)
    assert texts_of(conversation)[0] == "Hello"


@pytest.mark.parametrize("text", ["", " ", "x" * 32_001])
def test_an_edit_that_can_not_be_sent_changes_nothing(
    client: Client, conversation: Conversation, text: str
) -> None:
    message = make_turn(conversation, "Hello").user_message
    assert edit(client, conversation, message, text).status_code == 422
    assert texts_of(conversation)[0] == "Hello"


def test_an_edited_message_stays_when_no_answer_comes(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    message = make_turn(conversation, "Hello").user_message
    model.answers = [refused(500)]
    edit(client, conversation, message, "Good day")
    assert texts_of(conversation) == ["Good day"]


def test_one_conversation_is_answered_once_at_a_time(
    client: Client, conversation: Conversation
) -> None:
    asking.ask("Hello", user=conversation.user, conversation=conversation)
    under_way.begin(conversation.public_id)
    with pytest.raises(Conflict):
        Answering(thread_of(conversation))
    url = address("conversation", conversation.public_id)
    assert "An answer is being written…" in text_of(client.get(url))
    response = client.post(url, {"text": "Are you there?"})
    assert response.status_code == 422
    assert "Are you there?" in text_of(response)
    assert texts_of(conversation) == ["Hello"]


def test_an_answer_to_what_was_forgotten_meanwhile_is_dropped(
    alice: User, client: Client, conversation: Conversation, model: ChatServer
) -> None:
    asking.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = Answering(thread_of(conversation))
    next(iter(thread))
    client.post(address("conversation_clear", conversation.public_id), {"memories": "on"})
    assert thread.finish() is End.GONE
    assert texts_of(conversation) == []


def test_more_answers_than_there_are_places_leave_the_text_where_it_was(
    client: Client,
    conversation: Conversation,
    model: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    share = Share(1)
    monkeypatch.setattr(answers, "long_answers", lambda: share)
    place = share.take()
    url = address("conversation", conversation.public_id)
    response = client.post(url, {"text": "Hello there"})
    assert response.status_code == 422
    assert "Hello there" in text_of(response)
    assert texts_of(conversation) == []
    place.close()
    for _ in range(3):
        say(client, conversation, "Hello")
    assert len(texts_of(conversation)) == 6


def test_nothing_to_answer_is_said_calmly(client: Client, conversation: Conversation) -> None:
    url = address("conversation_answer", conversation.public_id)
    assert client.post(url)["Location"] == address("conversation", conversation.public_id)
    assert client.post(url, headers=htmx("bubbles") | STREAM).status_code == 409


def test_a_temporary_chat_is_answered_again_and_edited_and_leaves_nothing(
    alice: User, client: Client, model: ChatServer
) -> None:
    temporary.erase_all(alice)
    client.post(address("temporary_new"), {"text": "What shall I cook?"})
    (passing,) = temporary.all_of(alice)
    model.answers = [streamed("Soup.")]
    client.post(address("conversation_answer", passing.public_id))
    assert [one.content for one in temporary.read(passing)] == ["What shall I cook?", "Soup."]
    question = temporary.read(passing)[0]
    url = address("conversation_edit", passing.public_id)
    client.post(url, {"text": "What shall I drink?", "message": question.public_id})
    assert [one.content for one in temporary.read(passing)] == ["What shall I drink?", "Soup."]
    assert not Message.everything.exists() and not ModelCall.objects.exists()
    (passing,) = temporary.all_of(alice)
    assert passing.message_count == 2


def test_a_temporary_chat_answers_with_what_fits_and_not_with_every_constraint(
    alice: User, client: Client
) -> None:
    make_memory(alice, "Allergic to peanuts", kind="constraint")
    make_memory(alice, "Has a cat named Biscuit")
    asked = asking_in_passing.ask("What is my cat called?", user=alice, conversation=None)
    thread = Answering(asked)
    thread.finish()
    assert "Biscuit" in thread.text and "peanuts" not in thread.text


def test_the_chat_names_the_model_that_answers(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    assert speaking.model_name() == "tiny"
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "Answers by tiny." in page
    assert "no model is connected" not in page


def test_what_was_asked_to_be_forgotten_is_told_to_the_model(
    alice: User, client: Client, conversation: Conversation, model: ChatServer
) -> None:
    make_memory(alice, "Has a cat named Biscuit")
    say(client, conversation, "Please forget that I have a cat.")
    assert "Has a cat named Biscuit" in model.asked[0]["messages"][0]["content"]
    say(client, conversation, "Please forget that I have a motorbike.")
    assert "no memory matched" in model.asked[1]["messages"][0]["content"]


@pytest.mark.parametrize("name", ["conversation_answer", "conversation_stop", "conversation_edit"])
def test_a_stranger_can_do_nothing_to_an_answer(
    mallory: User, conversation: Conversation, name: str
) -> None:
    turn = make_turn(conversation, "Hello")
    url = address(name, conversation.public_id)
    given = {"text": "Mine", "message": turn.user_message.public_id}
    assert signed_in(mallory).post(url, given).status_code == 404
    assert Client().post(url, given).status_code in (302, 401)
    assert texts_of(conversation) == ["Hello", "I see."]
