import re
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.block import builder
from conversations.block.builder import preview
from conversations.models import Conversation, ConversationKind, Message
from memories.models import Kind, Memory, RecallTrace
from memories.recall.search import prepare_query
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from tests.factories import make_conversation, make_episode, make_memory, make_summary, make_turn
from tests.memories.pages import address, htmx, queries_of, signed_in, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    conversation = make_conversation(alice, title="Trip to Hangzhou")
    make_episode(make_turn(conversation, "Where can I see tea fields?", "Try Longjing."))
    return conversation


def shown(user: User, **query: str) -> str:
    response = signed_in(user).get(address("memory_conversation", **query))
    assert response.status_code == 200
    return text_of(response)


def test_without_a_conversation_the_page_says_what_will_be_here(alice: User) -> None:
    assert "No conversation yet" in shown(alice)


def test_an_empty_conversation_has_no_stack_yet(alice: User) -> None:
    make_conversation(alice)
    assert "Nothing has been said here yet" in shown(alice)


def test_the_newest_conversation_is_shown(alice: User, conversation: Conversation) -> None:
    older = make_conversation(alice, title="Long ago")
    make_turn(older, "Remember the alps?")
    Conversation.objects.filter(pk=older.pk).update(
        last_message_at=timezone.now() - timedelta(days=9)
    )
    page = shown(alice)
    assert "Where can I see tea fields?" in page
    assert "Remember the alps?" not in page
    assert "Remember the alps?" in shown(alice, conversation=older.public_id)


def test_the_layers_stand_in_the_order_that_the_model_reads(
    alice: User, conversation: Conversation
) -> None:
    make_memory(alice, "Allergic to peanuts", kind=Kind.CONSTRAINT)
    make_memory(alice, "Prefers tea fields", kind=Kind.PREFERENCE)
    make_summary(conversation, "They asked about tea fields.", through=2)
    page = shown(alice)
    names = ("constraints", "preferences", "summary", "episodes", "window")
    places = [page.index(f'id="layer-{name}"') for name in names]
    assert places == sorted(places)
    assert places[0] < page.index("Allergic to peanuts") < places[1]


def test_people_are_spoken_to_first_and_developers_find_the_tokens_behind(
    alice: User, conversation: Conversation
) -> None:
    make_memory(alice, "Allergic to peanuts", kind=Kind.CONSTRAINT)
    people, developers = shown(alice).split('id="for-developers"')
    assert "I have this in mind" in people and "What I always keep in mind" in people
    assert "oken" not in people.split('id="stack"')[1]
    assert '<th scope="row">Always kept in mind</th>' in developers
    assert "The exact text" in developers and "Recent messages, one by one" in developers


def test_what_is_empty_says_why_behind_details(alice: User, conversation: Conversation) -> None:
    page = shown(alice)
    assert 'id="layer-constraints"' not in page
    empty = page.split('id="not-in-mind"')[1].split('id="for-developers"')[0]
    assert "What I always keep in mind" in empty and "Things like an allergy." in empty


def test_the_window_fades_what_has_slid_out(
    alice: User, conversation: Conversation, settings: object
) -> None:
    settings.WINDOW_MESSAGES = 2  # type: ignore[attr-defined]
    make_turn(conversation, "And where is good silk?", "On Silk Street.")
    page = shown(alice)
    window = page.split('id="layer-window"')[1]
    out, inside = window.split("Older messages, above this line, are no longer in mind.")
    assert "Where can I see tea fields?" in out
    assert "And where is good silk?" in inside
    assert "The last 2 messages of 4, word for word." in window


def test_the_window_says_that_older_messages_are_only_in_the_summary(
    alice: User, conversation: Conversation, settings: object
) -> None:
    settings.WINDOW_MESSAGES = 2  # type: ignore[attr-defined]
    make_turn(conversation, "And where is good silk?", "On Silk Street.")
    make_summary(conversation, "They asked about tea fields.", through=2)
    window = shown(alice).split('id="layer-window"')[1]
    out, inside = window.split("Older messages, above this line, are only in the summary.")
    assert "Where can I see tea fields?" in out
    assert "And where is good silk?" in inside


def test_the_summary_says_plainly_what_it_covers_and_developers_find_its_versions(
    alice: User, conversation: Conversation
) -> None:
    make_summary(conversation, "They asked.", through=1, version=2)
    make_summary(conversation, "They asked about tea fields.", through=2, version=3)
    people, developers = shown(alice).split('id="for-developers"')
    assert "They asked about tea fields." in people
    assert "A summary of the first 2 messages, from " in people
    assert "ersion" not in people.split('id="stack"')[1] and "They asked.<" not in people
    assert "Version 3, messages 1 to 2" in developers and "covers 2 of 2 messages" in developers
    assert "Version 2, messages 1 to 1" in developers and "They asked.<" in developers


def test_trying_shows_what_would_be_recalled_with_its_score(
    alice: User, conversation: Conversation
) -> None:
    make_memory(alice, "Prefers green tea", kind=Kind.PREFERENCE)
    page = shown(alice, q="Which tea do I prefer?")
    layer = page.split('id="layer-preferences"')[1].split('id="layer-memories"')[0]
    assert "Prefers green tea" in layer
    assert "scores__numbers" in layer
    assert re.findall(r'score__value">([^<]*)<', layer)
    assert not re.search(r'score__value">[^<]*\d', layer)
    assert "Which tea do I prefer?" in page


def test_trying_shows_why_each_episode_is_like_the_question(
    alice: User, conversation: Conversation
) -> None:
    make_episode(make_turn(conversation, "What is the capital of Peru?", "Lima."))
    page = shown(alice, q="tea fields")
    layer = page.split('id="layer-episodes"')[1].split('id="layer-window"')[0]
    assert layer.index("tea fields") < layer.index("Peru")
    assert "Most similar to your question" in layer
    assert "same words: tea" in layer and "little in common" in layer
    assert "%" not in layer


def test_trying_shows_what_came_nearest_of_the_rest(
    alice: User, conversation: Conversation
) -> None:
    make_memory(alice, "Prefers green tea")
    make_memory(alice, "Works as a roofer in Leeds")
    layer = shown(alice, q="Which tea do I prefer?").split('id="layer-memories"')[1]
    inside, nearest = layer.split("Close, but not used")
    assert "<details open>" not in inside
    assert "green tea" in inside
    assert "roofer" in nearest.split("Not used: they fit less well")[0]
    assert "Close, but not used" not in shown(alice)


def test_looking_is_not_using(alice: User, conversation: Conversation) -> None:
    memory = make_memory(alice, "Prefers green tea", kind=Kind.PREFERENCE)
    shown(alice, q="Which tea do I prefer?")
    memory.refresh_from_db()
    assert (memory.access_count, memory.last_accessed_at) == (0, None)
    assert not RecallTrace.objects.exists()


def test_the_preview_is_what_the_model_gets(alice: User, conversation: Conversation) -> None:
    make_memory(alice, "Prefers green tea", kind=Kind.PREFERENCE)
    prepared = prepare_query("Which tea do I prefer?")
    with as_user(alice):
        looked = preview(prepared, user=alice, conversation=conversation)
        built = builder.build(prepared, user=alice, conversation=conversation)
    assert "green tea" in looked.block
    assert (looked.block, looked.window) == (built.block, built.window)
    assert Memory.objects.get().access_count == 1


def test_htmx_gets_the_stack_alone(alice: User, conversation: Conversation) -> None:
    url = address("memory_conversation", q="tea")
    page = text_of(signed_in(alice).get(url, headers=htmx("stack")))
    assert page.strip().startswith('<div id="stack">')


def test_layers_that_are_off_say_so(alice: User, conversation: Conversation) -> None:
    switches = ("longterm_enabled", "summary_enabled")
    users.change_settings(user=alice, changes=dict.fromkeys(switches, False))
    page = shown(alice)
    assert "Long-term memory is turned off" in page
    assert "Summaries are turned off." in page


def test_a_group_conversation_says_that_nothing_personal_goes_in(
    alice: User, conversation: Conversation
) -> None:
    Conversation.objects.update(kind=ConversationKind.GROUP)
    make_memory(alice, "Allergic to peanuts", kind=Kind.CONSTRAINT)
    page = shown(alice)
    assert "This is a group conversation" in page
    assert "Allergic to peanuts" not in page


def test_what_people_wrote_can_not_become_markup(alice: User, conversation: Conversation) -> None:
    make_turn(conversation, "<img src=x onerror=alert(1)>")
    assert "<img src=x" not in shown(alice)


def test_the_number_of_queries_does_not_grow(alice: User, conversation: Conversation) -> None:
    def fill() -> None:
        for number in range(3):
            turn = make_turn(conversation, f"Tea question {number}")
            make_episode(turn)
            make_memory(alice, f"Likes tea {number}", kind=Kind.PREFERENCE, turns=[turn])
            make_conversation(alice, last_message_at=timezone.now() - timedelta(days=1))

    url = address("memory_conversation", conversation=conversation.public_id, q="tea")
    fill()
    few = queries_of(alice, url)
    fill()
    assert queries_of(alice, url) == few
    assert Message.objects.count() == 14
