"""An answer that failed and is asked for once more, a second one instead, its question edited."""

from __future__ import annotations

import pytest
from django.test import Client

from conversations.models import Conversation, Message, Turn
from conversations.recording import temporary
from memories.models import Memory, RecallTrace, Source
from ops.models import ModelCall, Receipt, User
from ops.queue import worker
from tests.chat_server import Answer, ChatServer, refused, streamed
from tests.conversations.answers import again, edit, say, texts_of
from tests.factories import make_memory, make_turn
from tests.memories.pages import address, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_under_way")]


def test_a_model_that_fails_leaves_the_message_with_a_way_to_try_again(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    model.answers = [refused(500)]
    ended = say(client, conversation, "What shall I cook?")[-1][1]
    assert ended["how"] == "silent"
    assert "Your message was saved." in ended["html"]
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
    assert "This answer was cut off." in text_of(
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
    assert "1 memory based only on it" in page
    said = "I'm allergic to latex"
    response = edit(client, conversation, old, f"{said}.")
    assert response.status_code == 302
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "1 memory based only on them" in page
    assert "penicillin" not in page
    worker.drain()
    assert "penicillin" not in str(list(Message.everything.values()))
    assert [one.content for one in Memory.everything.all()] == [said]


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


def test_a_temporary_chat_is_answered_again_and_edited_and_leaves_nothing(
    alice: User, client: Client, model: ChatServer
) -> None:
    temporary.erase_all(alice)
    client.post(address("temporary_new"), {"text": "What shall I cook?"})
    (passing,) = temporary.list_conversations(alice)
    model.answers = [streamed("Soup.")]
    client.post(address("conversation_answer", passing.public_id))
    assert [one.content for one in temporary.read(passing)] == ["What shall I cook?", "Soup."]
    question = temporary.read(passing)[0]
    url = address("conversation_edit", passing.public_id)
    client.post(url, {"text": "What shall I drink?", "message": question.public_id})
    assert [one.content for one in temporary.read(passing)] == ["What shall I drink?", "Soup."]
    assert not Message.everything.exists() and not ModelCall.objects.exists()
    (passing,) = temporary.list_conversations(alice)
    assert passing.message_count == 2


def test_what_the_person_had_remembered_outlives_another_answer(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    say(client, conversation, "I keep bees on the roof.")
    worker.drain()
    Memory.objects.all().delete()
    message = Message.objects.get(role="user")
    given = {"content": "Keeps bees", "kind": "fact", "tags": ""}
    client.post(address("message_remember", message.public_id), given)
    kept = Memory.objects.get()
    assert again(client, conversation)["how"] == "whole"
    worker.drain()
    assert not Message.everything.filter(pk=message.pk).exists()
    (source,) = Source.objects.filter(memory=kept, origin="user")
    assert source.turn == Turn.objects.get() and source.message == source.turn.user_message
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "learned" in page or "updated" in page
