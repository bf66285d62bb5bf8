"""Renaming, clearing and deleting a conversation."""

import re

import pytest
from django.test import Client

from conversations.models import Conversation, Message, Turn
from memories.models import Change, Memory
from ops.models import User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn, make_version
from tests.memories.pages import address, htmx, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def memory(alice: User, turn: Turn) -> Memory:
    return make_memory(alice, "Keeps bees", turns=[turn])


def test_a_conversation_is_renamed_on_a_page_of_its_own(
    client: Client, conversation: Conversation
) -> None:
    url = address("conversation_rename", conversation.public_id)
    assert 'value="The roof"' in text_of(client.get(url))
    assert client.post(url, {"title": " 屋顶 "}).status_code == 302
    conversation.refresh_from_db()
    assert conversation.title == "屋顶"


def test_a_conversation_is_renamed_in_its_place(client: Client, conversation: Conversation) -> None:
    url = address("conversation_rename", conversation.public_id)
    line = f"conversation-{conversation.public_id}"
    field = text_of(client.get(url, headers=htmx(line)))
    assert f'<li class="conversation" id="{line}"' in field
    response = client.post(url, {"title": "Bees"}, headers=htmx(line))
    assert response.status_code == 204
    assert response["HX-Trigger"] == "conversation-changed, title-changed"
    title = client.get(address("conversation", conversation.public_id), headers=htmx("chat-title"))
    assert "Bees" in text_of(title)
    assert "<title>Bees · Memory Center</title>" in title.text  # of the browser's tab


@pytest.mark.parametrize("title", ["", "   ", "x" * 201])
def test_a_name_that_is_none_is_refused(
    client: Client, conversation: Conversation, title: str
) -> None:
    url = address("conversation_rename", conversation.public_id)
    assert client.post(url, {"title": title}).status_code == 422
    assert client.post(url, {"title": title}, headers=htmx("chat-title")).status_code == 422
    conversation.refresh_from_db()
    assert conversation.title == "The roof"


def test_deleting_lists_every_memory_that_goes_and_names_those_that_change(
    alice: User, client: Client, conversation: Conversation, turn: Turn
) -> None:
    for number in range(5):
        make_memory(alice, f"Hive {number} stands on the roof", turns=[turn])
    elsewhere = make_turn(make_conversation(alice), "I like honey.")
    changed = make_memory(alice, "Likes honey", turns=[elsewhere])
    make_version(changed, "Likes acacia honey", change=Change.REPLACED, turns=[turn])
    text = text_of(client.get(address("conversation_delete", conversation.public_id)))
    assert "1 memory, rewritten from what remains: “Likes acacia honey”" in text
    listed = text[text.index("All memories that will be forgotten") :].split("</details>")[0]
    assert all(f"Hive {number} stands on the roof" in listed for number in range(5))
    assert "All memories that will be rewritten" not in text


def test_deleting_says_what_goes_and_what_stays(
    alice: User, client: Client, conversation: Conversation, memory: Memory
) -> None:
    elsewhere = make_turn(make_conversation(alice), "I like honey.")
    said_twice = make_turn(conversation, "I love honey.")
    make_memory(alice, "Likes honey", turns=[elsewhere, said_twice])
    text = text_of(client.get(address("conversation_delete", conversation.public_id)))
    assert "2 messages and 2 replies" in text
    assert "Also forget the 1 memory learned only here" in text
    assert "“Keeps bees”" in text
    assert "1 memory that something else also supports" in text


def test_asking_what_would_go_changes_nothing(
    client: Client, conversation: Conversation, memory: Memory
) -> None:
    client.get(address("conversation_delete", conversation.public_id))
    client.get(address("conversation_clear", conversation.public_id), headers=htmx("dialogs"))
    memory.refresh_from_db()
    assert memory.hidden_at is None
    assert not memory.sources.filter(hidden_at__isnull=False).exists()


def test_the_question_comes_as_a_dialog_to_htmx(client: Client, conversation: Conversation) -> None:
    url = address("conversation_delete", conversation.public_id)
    text = text_of(client.get(url, headers=htmx("dialogs")))
    assert text.strip().startswith("<dialog")


def test_a_deleted_conversation_goes_with_what_it_taught(
    client: Client, conversation: Conversation, memory: Memory
) -> None:
    url = address("conversation_delete", conversation.public_id)
    assert client.post(url, {"memories": "on"})["Location"] == "/"
    assert "The roof" not in text_of(client.get("/"))
    worker.drain()
    assert not Conversation.everything.exists()
    assert not Memory.everything.exists()


def test_a_conversation_deleted_from_the_data_pages_is_followed_there(
    client: Client, conversation: Conversation
) -> None:
    (link,) = re.findall(
        r'href="([^"]+/delete/[^"]*)"', text_of(client.get("/memory/data/conversations/"))
    )
    asked = text_of(client.get(link))
    assert f'action="{link}"' in asked and 'href="/memory/data/conversations/"' in asked
    answer = client.post(link, {"memories": "on"}, follow=True)
    assert answer.redirect_chain[0][0] == "/memory/data/#activity"
    page = text_of(answer)
    assert "Deleted. “Activity” shows what is still being erased" in page
    assert "In progress. This list updates by itself." in page


def test_a_deleted_conversation_leaves_what_it_taught_where_that_is_wished(
    client: Client, conversation: Conversation, memory: Memory
) -> None:
    client.post(address("conversation_delete", conversation.public_id), {})
    worker.drain()
    assert not Conversation.everything.exists()
    assert list(Memory.objects.all()) == [memory]


def test_a_cleared_conversation_stays_and_is_empty(
    client: Client, conversation: Conversation, memory: Memory
) -> None:
    url = address("conversation_clear", conversation.public_id)
    response = client.post(url, {"memories": "on"})
    page = address("conversation", conversation.public_id)
    assert response["Location"].startswith(f"{page}?forgotten=op_")
    assert "Nothing has been said here" in text_of(client.get(response["Location"]))
    worker.drain()
    assert list(Conversation.objects.all()) == [conversation]
    assert not Message.everything.exists()
    assert not Memory.everything.exists()


def test_a_cleared_conversation_leaves_what_it_taught_where_that_is_wished(
    client: Client, conversation: Conversation, memory: Memory
) -> None:
    client.post(address("conversation_clear", conversation.public_id), {})
    worker.drain()
    assert list(Memory.objects.all()) == [memory]
