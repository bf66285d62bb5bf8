"""Reading a conversation and saying something in it."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conversations.chat import answer_text
from conversations.models import Conversation
from conversations.pages import turn_memories
from foundation.errors import ProviderError
from memories.models import Kind, RecallHit
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests.conversations.answers import exchange
from tests.factories import make_conversation, make_memory, make_message, make_trace, make_turn
from tests.memories.pages import address, htmx, queries_of, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return make_conversation(alice, title="The roof")


def page_of(conversation: Conversation, **query: str) -> str:
    url = address("conversation", conversation.public_id, **query)
    return text_of(signed_in(conversation.user).get(url))


def test_somebody_new_is_shown_what_to_say(alice: User) -> None:
    client = signed_in(alice)
    text = text_of(client.get("/"))
    assert "Tell me something about yourself" in text
    assert "What do you know about me?" in text
    assert "我对花生过敏" not in text
    users.change_settings(user=alice, changes={"language": "zh-hans"})
    text = text_of(signed_in(alice).get("/"))
    assert "我对花生过敏" in text
    assert "What do you know about me?" not in text


def test_a_new_chat_promises_no_memory_while_it_is_off(alice: User) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    text = text_of(signed_in(alice).get("/"))
    assert "memory is off" in text
    assert "Anything worth keeping" not in text
    assert "I’m allergic to peanuts" not in text


def test_a_suggestion_works_without_javascript(alice: User) -> None:
    text = text_of(signed_in(alice).get(address("conversation_new", text="I keep bees.")))
    assert re.search(r"<textarea[^>]*>I keep bees\.</textarea>", text)


def test_the_home_page_is_the_newest_conversation(alice: User) -> None:
    make_turn(make_conversation(alice), "The older one")
    make_turn(make_conversation(alice), "The newer one")
    text = text_of(signed_in(alice).get("/"))
    assert "The newer one" in text
    assert "The older one" not in text


def test_a_conversation_shows_what_was_said_as_text(conversation: Conversation) -> None:
    make_turn(conversation, "Is 1 < 2?", "<b>Yes</b>")
    text = page_of(conversation)
    assert "Is 1 &lt; 2?" in text
    assert "&lt;b&gt;Yes&lt;/b&gt;" in text


def test_the_chat_says_that_no_model_is_connected(conversation: Conversation) -> None:
    assert "No model is connected" in page_of(conversation)


def test_a_first_message_begins_a_conversation_without_javascript(alice: User) -> None:
    response = signed_in(alice).post(address("conversation_new"), {"text": "I keep bees."})
    made = Conversation.objects.get(user=alice)
    assert (response.status_code, made.message_count) == (302, 2)
    assert response["Location"] == f"/c/{made.public_id}/#end"


def test_a_first_message_leads_to_the_new_page_with_htmx(alice: User) -> None:
    url = address("conversation_new")
    response = signed_in(alice).post(url, {"text": "I keep bees."}, headers=htmx("bubbles"))
    made = Conversation.objects.get(user=alice)
    assert response["HX-Redirect"] == f"/c/{made.public_id}/"


def test_saying_something_goes_back_to_the_page_without_javascript(
    conversation: Conversation,
) -> None:
    url = address("conversation", conversation.public_id)
    response = signed_in(conversation.user).post(url, {"text": "Hello"})
    assert response["Location"] == f"{url}#end"
    assert conversation.messages.count() == 2


def test_saying_something_gives_the_two_bubbles_with_htmx(conversation: Conversation) -> None:
    make_turn(conversation, "Said before")
    url = address("conversation", conversation.public_id)
    client = signed_in(conversation.user)
    response = client.post(url, {"text": "Hello there"}, headers=htmx("bubbles"))
    text = text_of(response)
    assert text.count('class="bubble bubble--') == 2
    assert "Hello there" in text
    assert "Said before" not in text
    assert response["HX-Trigger"] == "conversation-changed"
    assert "HX-Request" in response["Vary"]


def test_an_untitled_conversation_is_named_by_what_is_said(conversation: Conversation) -> None:
    Conversation.objects.update(title="")
    url = address("conversation", conversation.public_id)
    client = signed_in(conversation.user)
    response = client.post(url, {"text": "I keep bees."}, headers=htmx("bubbles"))
    assert response["HX-Trigger"] == "conversation-changed, title-changed"
    assert "I keep bees" in text_of(client.get(url, headers=htmx("chat-title")))


def test_line_breaks_are_kept_as_they_were_typed(conversation: Conversation) -> None:
    url = address("conversation", conversation.public_id)
    signed_in(conversation.user).post(url, {"text": "One\r\n\r\nTwo "})
    assert conversation.messages.filter(content="One\n\nTwo").exists()


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 32_001])
def test_what_can_not_be_sent_comes_back_with_its_text(
    conversation: Conversation, text: str
) -> None:
    url = address("conversation", conversation.public_id)
    response = signed_in(conversation.user).post(url, {"text": text})
    assert response.status_code == 422
    assert "composer-error" in text_of(response)
    assert text.strip() in text_of(response)
    assert not conversation.messages.exists()


def test_htmx_gets_the_composer_alone_where_nothing_was_sent(conversation: Conversation) -> None:
    url = address("conversation", conversation.public_id)
    client = signed_in(conversation.user)
    response = client.post(url, {"text": "x" * 32_001}, headers=htmx("bubbles"))
    assert (response.status_code, response["HX-Retarget"]) == (422, "#composer")
    assert "x" * 32_001 in text_of(response)
    assert "<html" not in text_of(response)


def test_nothing_typed_is_lost_when_no_answer_comes(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ProviderError("The model can't be reached.", retryable=True)

    monkeypatch.setattr(answer_text, "prepare", fail)
    client = signed_in(alice)
    page = client.post(address("conversation_new"), {"text": "I keep bees."})["Location"]
    text = text_of(client.get(page))
    assert "I keep bees." in text
    assert "This message has no answer yet." in text


def test_who_is_being_forgotten_is_told_so(conversation: Conversation) -> None:
    User.objects.filter(pk=conversation.user_id).update(hidden_at=timezone.now())
    url = address("conversation", conversation.public_id)
    response = signed_in(conversation.user).post(url, {"text": "Hello"})
    assert response.status_code == 422
    assert "being forgotten" in text_of(response)


def test_an_answer_says_how_many_memories_it_used(conversation: Conversation) -> None:
    make_memory(conversation.user, "Has a cat named Biscuit")
    exchange("What is my cat called?", user=conversation.user, conversation=conversation)
    assert "1 memory used" in page_of(conversation)


def test_the_panel_shows_a_memory_with_its_fit_and_its_words(conversation: Conversation) -> None:
    turn = make_turn(conversation, "My cat is called Biscuit.")
    memory = make_memory(conversation.user, "Has a cat named Biscuit", turns=[turn])
    later = make_turn(conversation, "What is my cat called?")
    trace = make_trace(conversation.user, "cat", answer=later.assistant_message)
    RecallHit.objects.create(
        user=conversation.user,
        trace=trace,
        type="memory",
        target_public_id=memory.public_id,
        rank=1,
        score=0.9,
        components={"raw_relevance": 0.92},
        in_block=True,
    )
    text = page_of(conversation)
    assert "same words: cat" in text and "%" not in text.split("used__meta")[1].split("</p>")[0]
    assert "“My cat is called Biscuit.”" in text
    assert address("memory_page", memory.public_id) in text


def test_a_constraint_that_does_not_fit_is_said_to_be_always_there(
    conversation: Conversation,
) -> None:
    make_memory(conversation.user, "Allergic to penicillin", kind=Kind.CONSTRAINT)
    exchange("Which film shall we watch?", user=conversation.user, conversation=conversation)
    page = page_of(conversation)
    assert "always included" in page
    assert "memory used" not in page
    assert "This answer only used what is always included." in page


def test_used_memories_are_counted_with_two_queries(
    conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    user = conversation.user
    for text in ("Has a cat named Biscuit", "Feeds the cat at seven"):
        make_memory(user, text, kind=Kind.CONSTRAINT)
    answer = exchange("What does my cat eat?", user=user, conversation=conversation)
    RecallHit.objects.update(components={})
    with django_assert_num_queries(2):
        assert not turn_memories.counts_of(user, [answer.assistant_message])


def test_the_number_of_memories_used_is_that_of_the_opened_list(
    conversation: Conversation,
) -> None:
    user = conversation.user
    cat = make_memory(user, "Has a cat named Biscuit", kind=Kind.CONSTRAINT)
    made = exchange("What shall we watch?", user=user, conversation=conversation)
    answer = made.assistant_message
    assert not turn_memories.counts_of(user, [answer])
    # A long memory is found by its parts: one of them fits.
    fits = make_trace(user, "cats", hits=[cat.public_id], answer=answer)
    RecallHit.objects.filter(trace=fits).update(components={"raw_relevance": 1.0}, in_block=True)
    panel = turn_memories.panel_of(user, answer)
    assert [one.memory for one in panel.used] == [cat] and not panel.always
    assert turn_memories.counts_of(user, [answer])[answer.pk] == 1


@pytest.mark.parametrize("asked", ["what do you know about me", "what's my name"])
def test_what_the_demo_assistant_lists_counts_as_used(
    conversation: Conversation, asked: str
) -> None:
    user = conversation.user
    memory = make_memory(user, "My name is Lan")
    made = exchange(asked, user=user, conversation=conversation)
    assert "- My name is Lan" in made.assistant_message.content
    assert "1 memory used" in page_of(conversation)
    assert "This answer didn’t use any memories." not in page_of(conversation)
    memory.refresh_from_db()
    assert memory.access_count == 1 and memory.last_accessed_at is not None


def test_a_memory_that_went_to_the_bin_is_not_counted_any_more(
    conversation: Conversation,
) -> None:
    memory = make_memory(conversation.user, "Has a cat named Biscuit")
    exchange("What is my cat called?", user=conversation.user, conversation=conversation)
    now = timezone.now()
    memory.deleted_at, memory.purge_at = now, now + timedelta(days=7)
    memory.save()
    text = page_of(conversation)
    assert "1 memory used" not in text
    assert "This answer didn’t use any memories." in text


def test_the_panel_can_be_asked_about_an_earlier_answer(conversation: Conversation) -> None:
    memory = make_memory(conversation.user, "Has a cat named Biscuit")
    first = exchange("What is my cat called?", user=conversation.user, conversation=conversation)
    conversation.refresh_from_db()
    make_turn(conversation, "Thanks")
    answer = first.assistant_message.public_id
    url = address("conversation", conversation.public_id, answer=answer)
    response = signed_in(conversation.user).get(url, headers=htmx("used-here"))
    assert memory.public_id in text_of(response)
    assert "<html" not in text_of(response)


def test_the_page_says_so_where_memory_is_off(conversation: Conversation) -> None:
    users.change_settings(user=conversation.user, changes={"longterm_enabled": False})
    text = page_of(conversation)
    assert "Long-term memory is off" in text and "“Earlier moments” is still on" in text
    users.change_settings(user=conversation.user, changes={"episodic_enabled": False})
    text = page_of(conversation)
    assert "Memory is off" in text and "“Earlier moments” is still on" not in text
    assert "Go to the switches" in text


def test_the_page_asks_whether_memory_is_off_when_it_is_seen_again(
    conversation: Conversation,
) -> None:
    client = signed_in(conversation.user)
    url = address("conversation", conversation.public_id)
    assert 'hx-trigger="page-seen from:body"' in text_of(client.get(url))
    for is_on in (False, True):
        users.change_settings(user=conversation.user, changes={"longterm_enabled": is_on})
        part = text_of(client.get(url, headers=htmx("memory-off")))
        assert ("memory is off" in part) is not is_on
        assert part.count("<div id=") == 1 and "bubble" not in part and "<html" not in part


def test_a_long_conversation_shows_its_newest_twenty_and_a_way_to_the_earlier_ones(
    conversation: Conversation,
) -> None:
    for number in range(1, 41):
        make_message(conversation, f"Message number {number}.")
    text = page_of(conversation)
    assert "Message number 20." not in text
    assert "Message number 21." in text
    earlier = page_of(conversation, before="21")
    assert "Message number 20." in earlier
    assert "Message number 21." not in earlier
    assert "Newest messages" in earlier


def test_long_messages_fill_a_page_sooner_and_none_is_left_out(
    conversation: Conversation,
) -> None:
    for number in range(1, 6):
        make_message(conversation, f"Message number {number}. " + "so " * 1_700)
    text = page_of(conversation)
    assert "Message number 4." in text
    assert "Message number 3." not in text
    assert "before=4" in text
    earlier = page_of(conversation, before="4")
    assert "Message number 3." in earlier and "Message number 2." in earlier
    assert "Message number 1." in page_of(conversation, before="2")


def test_htmx_gets_the_earlier_messages_alone(conversation: Conversation) -> None:
    for number in range(1, 41):
        make_message(conversation, f"Message number {number}.")
    url = address("conversation", conversation.public_id, before="11")
    text = text_of(signed_in(conversation.user).get(url, headers=htmx("")))
    assert text.count('class="bubble bubble--') == 10
    assert "Newest messages" not in text


def test_a_message_far_back_can_be_linked_to(conversation: Conversation) -> None:
    made = [make_message(conversation, f"Message number {number}.") for number in range(1, 101)]
    text = page_of(conversation, at=made[4].public_id)
    assert "Message number 5." in text
    assert "Message number 100." not in text
    assert "Message number 100." in page_of(conversation, at=made[90].public_id)


@pytest.mark.parametrize("before", ["x", "-1", "²", "9" * 30])
def test_a_place_that_makes_no_sense_shows_the_newest(
    conversation: Conversation, before: str
) -> None:
    make_message(conversation, "Hello")
    assert "Hello" in page_of(conversation, before=before)


def test_a_longer_conversation_takes_no_more_queries(alice: User) -> None:
    counts = []
    for size in (5, 50):
        conversation = make_conversation(alice)
        for number in range(size):
            turn = make_turn(conversation, f"I like colour {number}.")
            make_memory(alice, f"Likes colour {number}", turns=[turn])
        exchange("Which colours do I like?", user=alice, conversation=conversation)
        worker.drain()
        counts.append(queries_of(alice, address("conversation", conversation.public_id)))
    assert counts[0] == counts[1]
