"""A message is edited that others came after: they go with it, once the person has been told."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conversations.models import Conversation, Message, Role, Turn
from conversations.recording import temporary
from memories.models import Memory
from ops.models import Kind, Operation, Receipt, User
from ops.queue import worker
from tests.chat_server import ChatServer, streamed
from tests.conversations.answers import STREAM, edit, events_of, say, texts_of
from tests.factories import make_memory, make_message, make_summary, make_turn
from tests.memories.pages import address, htmx, signed_in, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_under_way")]


@pytest.fixture
def turns(conversation: Conversation) -> list[Turn]:
    """Three exchanges."""
    words = ("My name is Ana.", "Where shall I go?", "And by train?")
    return [make_turn(conversation, one, f"Answer to: {one}") for one in words]


def newest(conversation: Conversation) -> str:
    return Message.objects.filter(conversation=conversation).latest("number").public_id


def confirmed(client: Client, conversation: Conversation, message: Message, text: str) -> None:
    response = edit(client, conversation, message, text, newest=newest(conversation))
    assert response.status_code == 302, text_of(response)


def page_of(client: Client, conversation: Conversation) -> str:
    return text_of(client.get(address("conversation", conversation.public_id)))


def form_of(client: Client, message: Message) -> str:
    url = address("conversation_edit", message.conversation.public_id, message=message.public_id)
    return text_of(client.get(url))


def test_every_message_of_the_person_can_be_edited_and_no_answer(
    client: Client, conversation: Conversation, turns: list[Turn]
) -> None:
    page = page_of(client, conversation)
    for turn in turns:
        assert f"/edit/?message={turn.user_message.public_id}" in page
        assert f"/edit/?message={turn.assistant_message.public_id}" not in page


def test_the_form_of_an_earlier_message_says_how_many_come_after_it(
    client: Client, turns: list[Turn]
) -> None:
    form = form_of(client, turns[0].user_message)
    assert "My name is Ana.</textarea>" in form
    assert "5 messages after it will be forgotten too" in form and "Send…" in form
    assert "messages after it" not in form_of(client, turns[-1].user_message)


def test_what_would_go_is_shown_before_anything_goes(
    alice: User, client: Client, conversation: Conversation, turns: list[Turn]
) -> None:
    make_memory(alice, "Goes by train", turns=[turns[2]])
    make_memory(alice, "Has a sister", turns=[turns[1]])
    make_memory(alice, "Keeps bees", turns=[turns[0], turns[1]])
    make_summary(conversation, "They spoke of trains.", through=4)
    response = edit(client, conversation, turns[1].user_message, "Where to?", asks="yes")
    page = text_of(response)
    assert response.status_code == 200 and "Where to?</textarea>" in page
    assert "3 messages after it, beginning with its answer" in page
    assert "2 memories based only on them: “Goes by train”, “Has a sister”" in page
    assert "1 memory that something else also supports" in page
    assert "the summary, rewritten without this" in page
    assert "Send and forget the rest" in page and "everything said before it" in page
    assert len(texts_of(conversation)) == 6 and Memory.objects.count() == 3


def test_a_confirmed_edit_goes_on_from_there(
    alice: User,
    client: Client,
    conversation: Conversation,
    turns: list[Turn],
    model: ChatServer,
) -> None:
    make_memory(alice, "Is called Ana", turns=[turns[0]])
    make_memory(alice, "Goes by train", turns=[turns[2]])
    model.answers = [streamed("Norwich.")]
    confirmed(client, conversation, turns[1].user_message, "Where shall I go by bus?")
    said = texts_of(conversation)
    assert said == [
        "My name is Ana.",
        "Answer to: My name is Ana.",
        "Where shall I go by bus?",
        "Norwich.",
    ]
    asked = [one["content"] for one in model.asked[0]["messages"][1:]]
    assert asked == ["My name is Ana.", "Answer to: My name is Ana.", "Where shall I go by bus?"]
    page = page_of(client, conversation)
    assert "the 3 messages after it and 1 memory based only on them were forgotten" in page
    assert "train" not in page.split('id="bubbles"')[1].split("</ol>")[0]


def test_all_that_goes_leaves_one_receipt_and_no_trace(
    alice: User, client: Client, conversation: Conversation, model: ChatServer
) -> None:
    say(client, conversation, "I'm allergic to kiwis.")
    say(client, conversation, "I'm allergic to penicillin.")
    worker.drain()
    assert Memory.objects.count() == 2
    first = Message.objects.earliest("number")
    confirmed(client, conversation, first, "I'm allergic to latex.")
    (operation,) = Operation.objects.filter(kind=Kind.FORGET_MESSAGE)
    worker.drain()
    assert Receipt.objects.get().operation == operation
    kept = str(list(Message.everything.values())) + str(list(Memory.everything.values()))
    assert "kiwis" not in kept and "penicillin" not in kept and "latex" in kept
    page = text_of(client.get(address("receipt_page", Receipt.objects.get().public_id)))
    assert "A part of a conversation was forgotten" in page


def test_what_was_said_meanwhile_is_shown_before_it_goes(
    client: Client, conversation: Conversation, turns: list[Turn]
) -> None:
    seen = newest(conversation)
    make_turn(conversation, "One more thing.")
    response = edit(client, conversation, turns[0].user_message, "I am Ana.", newest=seen)
    page = text_of(response)
    assert response.status_code == 422 and "Something newer has been said since." in page
    assert "7 messages after it" in page and "I am Ana.</textarea>" in page
    assert len(texts_of(conversation)) == 8


def test_the_last_message_of_a_page_that_is_old_by_now_asks_too(
    client: Client, conversation: Conversation
) -> None:
    first = make_turn(conversation, "Hello").user_message
    make_turn(conversation, "Are you there?")
    response = edit(client, conversation, first, "Good day")
    assert response.status_code == 422
    page = text_of(response)
    assert "Something newer has been said since." in page and "3 messages after it" in page
    assert "Good day" in page
    assert texts_of(conversation)[0] == "Hello"


def test_a_message_that_has_gone_meanwhile_keeps_what_was_typed(
    client: Client, conversation: Conversation, turns: list[Turn]
) -> None:
    gone = turns[1].user_message
    client.post(address("message_forget", gone.public_id))
    for more in ({}, {"asks": "yes"}, {"newest": newest(conversation)}):
        response = edit(client, conversation, gone, "Where to?", **more)
        page = text_of(response)
        assert response.status_code == 422
        assert "This message isn’t here any more." in page and "Where to?</textarea>" in page
    assert len(texts_of(conversation)) == 4


def test_the_pencil_of_a_message_that_has_gone_shows_what_is_there(
    client: Client, conversation: Conversation, turns: list[Turn]
) -> None:
    gone = turns[1].user_message
    url = address("conversation_edit", conversation.public_id, message=gone.public_id)
    client.post(address("message_forget", gone.public_id))
    response = client.get(url, headers=htmx(f"text-{gone.public_id}"))
    assert response.headers["HX-Retarget"] == "#bubbles"
    page = text_of(response)
    assert "This message isn’t here any more." in page and turns[0].user_message.public_id in page
    assert client.get(url).status_code == 302


def test_no_answer_and_nobody_elses_message_is_edited(
    alice: User, mallory: User, client: Client, conversation: Conversation, turns: list[Turn]
) -> None:
    for message in (turns[0].assistant_message, Message(public_id="msg_none"), Message()):
        response = edit(client, conversation, message, "Mine", newest=newest(conversation))
        assert response.status_code == 422
    stranger = signed_in(mallory)
    for more in ({}, {"asks": "yes"}, {"newest": newest(conversation)}):
        response = edit(stranger, conversation, turns[0].user_message, "Mine", **more)
        assert response.status_code == 404
    assert len(texts_of(conversation)) == 6


def test_the_page_is_told_at_once_which_bubbles_go(
    client: Client, conversation: Conversation, turns: list[Turn], model: ChatServer
) -> None:
    gone = list(Message.objects.filter(number__gte=3).order_by("number"))
    given = {
        "text": "Where to?",
        "message": turns[1].user_message.public_id,
        "newest": newest(conversation),
    }
    url = address("conversation_edit", conversation.public_id)
    events = events_of(client.post(url, given, headers=htmx("bubbles") | STREAM))
    assert events[0] == ("begun", {"gone": [one.public_id for one in gone]})
    assert events[-1][1]["how"] == "whole"


def test_a_conversation_that_does_not_end_with_an_answer_can_be_edited(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    question = make_message(conversation, "What is the weather?")
    make_message(conversation, '{"rain": true}', role=Role.TOOL)
    confirmed(client, conversation, question, "Does it rain?")
    assert texts_of(conversation) == ["Does it rain?", "Rice with **beans**."]


def test_an_earlier_message_of_a_temporary_chat_is_edited(
    alice: User, client: Client, model: ChatServer
) -> None:
    temporary.erase_all(alice)
    client.post(address("temporary_new"), {"text": "What shall I cook?"})
    (passing,) = temporary.list_conversations(alice)
    client.post(address("conversation", passing.public_id), {"text": "And to drink?"})
    first, *_, last = temporary.read(passing)
    url = address("conversation_edit", passing.public_id)
    given = {"text": "What shall I bake?", "message": first.public_id}
    asked = text_of(client.post(url, given | {"asks": "yes"}))
    assert "3 messages after it" in asked and "receipt" not in asked
    assert "said before it" not in asked  # there was nothing
    assert client.post(url, given).status_code == 422
    client.post(url, given | {"newest": last.public_id})
    said = [one.content for one in temporary.read(passing)]
    assert said == ["What shall I bake?", "Rice with **beans**."]
    assert not Message.everything.exists()


def test_asking_costs_the_same_however_much_was_said(
    alice: User, client: Client, conversation: Conversation
) -> None:
    first = make_turn(conversation, "Hello").user_message
    counts = []
    for _ in range(2):
        for number in range(10):
            turn = make_turn(conversation, f"Thing {number}")
            make_memory(alice, f"Likes thing {number}", turns=[turn])
        with CaptureQueriesContext(connection) as queries:
            assert edit(client, conversation, first, "Hi", asks="yes").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 40
