"""An answer on its way: streamed, stopped, left, dropped."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from conversations.chat import answer_stream, answer_text, chat_messages
from conversations.chat.answer_stream import Answering, End
from conversations.chat.chat_messages import Thread
from conversations.models import Conversation, Turn
from conversations.pages import answers
from memcenter.rest.throttling import ConcurrencyLimit
from memories.extraction import masking
from memories.models import MemoryVersion
from ops.models import ModelCall, User
from tests.chat_server import Answer, ChatServer
from tests.conversations.answers import STREAM, again, exchange, hang_up, say, texts_of, thread_of
from tests.factories import make_memory, make_turn
from tests.memories.pages import address, htmx, signed_in, text_of
from tests.pair_reader import FakePairs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_under_way")]


def begun(thread: Thread) -> Answering:
    assert answer_stream.begin_answer(thread.public_id)
    return Answering(thread)


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
    monkeypatch.setattr(answer_stream, "_CHECK_EVERY", 0.0)
    chat_messages.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = begun(thread_of(conversation))
    pieces = iter(thread)
    first = next(piece for piece in pieces if piece)
    assert client.post(address("conversation_stop", conversation.public_id)).status_code == 302
    assert thread.finish() is End.STOPPED
    assert texts_of(conversation)[1] == first == thread.text
    assert Turn.objects.get().assistant_message.completed
    assert not answer_stream.is_answering(conversation.public_id)
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "You stopped this answer here." in page


def test_who_looks_while_an_answer_is_stopping_goes_on_looking(
    alice: User, client: Client, conversation: Conversation, model: ChatServer
) -> None:
    chat_messages.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = begun(thread_of(conversation))
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
    chat_messages.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = begun(thread_of(conversation))
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


def test_one_conversation_is_answered_once_at_a_time(
    client: Client, conversation: Conversation
) -> None:
    chat_messages.ask("Hello", user=conversation.user, conversation=conversation)
    answer_stream.begin_answer(conversation.public_id)
    url = address("conversation", conversation.public_id)
    assert "An answer is being written…" in text_of(client.get(url))
    response = client.post(url, {"text": "Are you there?"})
    assert response.status_code == 422
    assert "Are you there?" in text_of(response)
    assert texts_of(conversation) == ["Hello"]


def test_a_message_that_is_sent_twice_at_the_same_time_is_recorded_once(
    client: Client, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, ask, statuses = address("conversation", conversation.public_id), chat_messages.ask, []

    def ask_again_meanwhile(text: str, **arguments: Any) -> Any:
        monkeypatch.setattr(chat_messages, "ask", ask)
        statuses.append(client.post(url, {"text": text}).status_code)
        return ask(text, **arguments)

    monkeypatch.setattr(chat_messages, "ask", ask_again_meanwhile)
    statuses.append(client.post(url, {"text": "Hello"}).status_code)
    assert statuses == [422, 302]
    assert texts_of(conversation)[0] == "Hello" and texts_of(conversation).count("Hello") == 1
    assert client.post(url, {"text": "And now?"}).status_code == 302


def test_an_answer_to_what_was_forgotten_meanwhile_is_dropped(
    alice: User, client: Client, conversation: Conversation, model: ChatServer
) -> None:
    chat_messages.ask("What shall I cook?", user=alice, conversation=conversation)
    thread = begun(thread_of(conversation))
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
    share = ConcurrencyLimit(1)
    monkeypatch.setattr(answers, "long_answers", lambda: share)
    place = share.acquire()
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


def test_a_temporary_chat_answers_with_what_fits_and_not_with_every_constraint(
    alice: User, client: Client
) -> None:
    make_memory(alice, "Allergic to peanuts", kind="constraint")
    make_memory(alice, "Has a cat named Biscuit")
    asked = chat_messages.ask(
        "What is my cat called?", user=alice, conversation=None, is_temporary=True
    )
    thread = begun(asked)
    thread.finish()
    assert "Biscuit" in thread.text and "peanuts" not in thread.text


def test_the_chat_names_the_model_that_answers(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    assert answer_text.model_name() == "tiny"
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert "Answers by tiny." in page
    assert "No model is connected" not in page


def test_what_was_asked_to_be_forgotten_is_told_to_the_model(
    alice: User, client: Client, conversation: Conversation, model: ChatServer, pairs: FakePairs
) -> None:
    pairs.means("Has a cat")
    make_memory(alice, "Has a cat")
    say(client, conversation, "Please forget that I have a cat. What shall I cook tonight?")
    told = model.asked[0]["messages"][0]["content"]
    assert "is no longer known" in told and "a cat" not in told
    say(client, conversation, "Please forget that I have a motorbike. What shall I cook?")
    assert "no memory matched" in model.asked[1]["messages"][0]["content"]


def test_a_message_that_only_asks_to_forget_is_answered_without_the_model(
    alice: User, client: Client, conversation: Conversation, model: ChatServer, pairs: FakePairs
) -> None:
    pairs.means("Has a cat")
    make_memory(alice, "Has a cat")
    say(client, conversation, "Please forget that I have a cat.")
    assert model.asked == []
    assert texts_of(conversation)[-1].startswith("Forgotten.")


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


@pytest.mark.parametrize(
    ("said", "is_listed"),
    [
        ("ugh so tired", False),
        ("we've got a cat now too, biscuit, ginger tom", False),
        ("what days do i work", True),
        ("i work too much", False),
        ("dinner with Marta tonight", False),
        ("Marta died last night", False),
        ("good morning", False),
        ("does Marta work at the vets", True),
    ],
)
def test_the_demo_assistant_lists_memories_that_fit_and_no_others(
    conversation: Conversation, said: str, is_listed: bool
) -> None:
    user = conversation.user
    make_memory(user, "i work mon tue and thurs at the vets, nights every other saturday")
    make_memory(user, "Marta works at the vets too")
    made = exchange(said, user=user, conversation=conversation)
    assert ("at the vets" in made.assistant_message.content) is is_listed


def test_a_memory_that_begins_with_i_is_never_about_somebody_else(
    conversation: Conversation,
) -> None:
    user = conversation.user
    memory = make_memory(user, "I'm pescatarian")
    MemoryVersion.objects.filter(memory=memory).update(reason="bundled:related.lasting")
    made = exchange("what can I eat, am I pescatarian?", user=user, conversation=conversation)
    answer = made.assistant_message.content
    assert "I'm pescatarian" in answer
    assert "somebody else" not in answer


def test_what_is_known_begins_with_name_family_work_and_health(
    conversation: Conversation,
) -> None:
    user = conversation.user
    told = {
        "likes tea": ["food"],
        "migraines": ["health"],
        "a nurse": ["work"],
        "two kids": ["family"],
        "is 42": ["self"],
        "my name is Lan": ["self"],
    }
    for content, tags in told.items():
        make_memory(user, content, tags=tags)
    made = exchange("what do you know about me", user=user, conversation=conversation)
    lines = made.assistant_message.content.splitlines()[1:]
    assert lines == [f"- {content}" for content in reversed(told)]


def test_texts_for_the_demo_assistant_are_collected_only_where_it_answers(
    conversation: Conversation, model: ChatServer, settings: Settings
) -> None:
    user, asked = conversation.user, "what do you know about me"
    make_memory(user, "a nurse", tags=["work"])
    prepared = answer_text.prepare(asked, user=user, conversation=conversation)
    assert not prepared.remembered
    settings.MODEL_BASE_URL = ""
    prepared = answer_text.prepare(asked, user=user, conversation=conversation)
    assert list(prepared.remembered) == ["a nurse"]


@pytest.mark.parametrize("reason", ["related.lasting", "others.lasting"])
def test_a_question_about_oneself_is_not_answered_first_with_somebody_elses_memory(
    conversation: Conversation, reason: str
) -> None:
    user = conversation.user
    theirs = make_memory(user, "works at the co op in knowle")
    MemoryVersion.objects.filter(memory=theirs).update(reason=reason)
    make_memory(user, "i work mon tue and thurs at the vets, nights every other saturday")
    made = exchange("where do i work", user=user, conversation=conversation)
    quoted = [line for line in made.assistant_message.content.splitlines() if line.startswith("- ")]
    assert quoted[0].startswith("- i work mon") and "- works at the co op in knowle" in quoted


@pytest.mark.parametrize(
    ("asked", "own", "others", "lead"),
    [
        (
            "what am I allergic to",
            "I'm allergic to penicillin",
            "my son Theo is allergic to peanuts",
            "And closest to that:",
        ),
        ("我对什么过敏", "我对青霉素过敏", "儿子对花生过敏", "与此相近的还有："),
        ("我有什么过敏", "我对青霉素过敏", "儿子[乐乐]对花生过敏", "与此相近的还有："),
    ],
)
def test_what_is_about_somebody_else_is_said_to_be(
    conversation: Conversation, asked: str, own: str, others: str, lead: str
) -> None:
    user = conversation.user
    make_memory(user, others)
    made = exchange(asked, user=user, conversation=conversation)
    said = made.assistant_message.content
    assert "fits:" not in said and "与此相关" not in said
    assert "Closest to that, you told me:" in said or "与此最接近的，你告诉过我：" in said
    make_memory(user, own)
    made = exchange(asked, user=user, conversation=conversation)
    before, _, behind = made.assistant_message.content.partition(lead)
    assert own in before and "花生" not in before and "Theo" not in before
    assert "花生" in behind or "Theo" in behind


@pytest.mark.parametrize(
    ("asked", "name", "others"),
    [
        ("what's my name", "my name is Dana", "my sister's name is Lena"),
        ("do you know my name?", "call me Dana", "my cat is called Momo"),
        ("我叫什么", "我叫林晓，今年34岁", "我女儿叫豆豆"),
        ("我的名字是什么", "我叫林晓", "猫叫咪咪"),
        ("你知道我叫什么吗", "叫我小林", "我女儿的名字是豆豆"),
    ],
)
def test_the_own_name_is_known_and_no_other(
    conversation: Conversation, asked: str, name: str, others: str
) -> None:
    user = conversation.user
    for content in (name, others, "call me back after six"):
        make_memory(user, content)
    made = exchange(asked, user=user, conversation=conversation)
    said = made.assistant_message.content
    assert [line for line in said.splitlines() if line.startswith("- ")] == [f"- {name}"]


def test_a_secret_in_an_earlier_message_is_not_sent_to_the_model_again(
    client: Client, conversation: Conversation, model: ChatServer
) -> None:
    say(client, conversation, "My wifi password is Tr0ub4dor&3, please keep it.")
    say(client, conversation, "What shall I cook?")
    earlier = model.asked[1]["messages"][1]
    assert earlier["role"] == "user" and earlier["content"].startswith("My wifi password is")
    assert "Tr0ub4dor" not in str(model.asked[1])
    assert "Tr0ub4dor" in texts_of(conversation)[0]


def test_an_account_number_is_refused_as_what_it_is(conversation: Conversation) -> None:
    said = "Rent is due 15 December, pay to account 20-11-33 / 44556677, ref ALLOT14."
    made = exchange(said, user=conversation.user, conversation=conversation)
    assert "I left the secret out" in made.assistant_message.content
    assert {one.category for one in masking.screen(said).refused} == {"bank_account"}


def test_a_secret_that_isnt_to_be_kept_is_answered_as_asked(conversation: Conversation) -> None:
    asked = "dont keep this one but mme fournier smells of camphor and i think she is sweet on paul"
    made = exchange(asked, user=conversation.user, conversation=conversation)
    assert made.assistant_message.content == "All right, I won’t keep this."
