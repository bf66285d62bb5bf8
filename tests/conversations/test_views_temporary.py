"""The chat that leaves nothing behind."""

import re

import pytest
from django.test import Client

from conversations.models import Conversation, Message
from conversations.recording import temporary
from conversations.recording.temporary import TemporaryConversation
from memories.models import Memory, RecallTrace
from ops.models import Operation, User
from tests.factories import make_memory
from tests.memories.pages import address, htmx, signed_in, text_of
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User) -> Client:
    """Redis is not rolled back after each test as the database is."""
    temporary.erase_all(alice)
    return signed_in(alice)


@pytest.fixture
def passing(alice: User, client: Client) -> TemporaryConversation:
    client.post(address("temporary_new"), {"text": "I'm allergic to penicillin."})
    return temporary.list_conversations(alice)[-1]


def test_what_is_said_is_shown_and_nothing_of_it_is_stored(
    client: Client, passing: TemporaryConversation
) -> None:
    text = text_of(client.get(address("conversation", passing.public_id)))
    assert "I&#x27;m allergic to penicillin." in text
    assert "Nothing said here becomes a memory." in text
    assert not Conversation.everything.exists()
    assert not Message.everything.exists()
    assert not Operation.objects.exists()
    assert not RecallTrace.objects.exists()


def test_answers_still_use_what_is_remembered(
    alice: User, client: Client, passing: TemporaryConversation
) -> None:
    memory = make_memory(alice, "Has a cat named Biscuit")
    url = address("conversation", passing.public_id)
    text = text_of(client.post(url, {"text": "What is my cat called?"}, headers=htmx("bubbles")))
    assert "Biscuit" in text
    assert text.count('class="bubble bubble--') == 2
    memory.refresh_from_db()
    assert (memory.access_count, RecallTrace.objects.count()) == (0, 0)


def test_asking_to_forget_is_done_all_the_same(
    alice: User, client: Client, passing: TemporaryConversation, pairs: FakePairs
) -> None:
    pairs.means("Has a cat")
    make_memory(alice, "Has a cat")
    kept = make_memory(alice, "Likes green tea")
    url = address("conversation", passing.public_id)
    client.post(url, {"text": "Please forget that I have a cat."})
    assert list(Memory.objects.all()) == [kept]
    assert "Forgotten." in temporary.read(passing)[-1].content


def test_what_is_not_plain_is_not_forgotten_and_no_list_is_kept(
    client: Client, alice: User, passing: TemporaryConversation
) -> None:
    for name in ("Biscuit", "Tiger"):
        make_memory(alice, f"Has a cat named {name}")
    url = address("conversation", passing.public_id)
    client.post(url, {"text": "Please forget that I have a cat."})
    assert Memory.objects.count() == 2
    assert "A temporary chat keeps no list" in temporary.read(passing)[-1].content


def test_forget_that_forgets_nothing_where_nothing_was_taught(
    alice: User, client: Client, passing: TemporaryConversation
) -> None:
    memory = make_memory(alice, "Likes green tea")
    client.post(address("conversation", passing.public_id), {"text": "Forget that."})
    assert list(Memory.objects.all()) == [memory]


def test_it_is_listed_until_it_is_gone(client: Client, passing: TemporaryConversation) -> None:
    assert address("conversation", passing.public_id) in text_of(client.get("/"))
    url = address("conversation_delete", passing.public_id)
    assert "1 message and 1 reply" in text_of(client.get(url))
    assert client.post(url)["Location"] == "/"
    assert address("conversation", passing.public_id) not in text_of(client.get("/"))
    assert client.get(address("conversation", passing.public_id)).status_code == 404


def test_the_list_names_it_by_its_time_and_shows_none_of_its_words(
    client: Client, passing: TemporaryConversation
) -> None:
    page = text_of(client.get("/"))
    assert re.search(r"Temporary chat, \d\d:\d\d", page)
    assert "penicillin" not in page
    assert passing.title == ""


def test_it_can_be_ended_from_its_bar(client: Client, passing: TemporaryConversation) -> None:
    bar = text_of(client.get(address("conversation", passing.public_id))).split("chat__bar")[1]
    assert (
        f'href="{address("conversation_delete", passing.public_id)}"' in bar.split("</header>")[0]
    )


def test_what_can_not_be_sent_comes_back_with_its_text(alice: User, client: Client) -> None:
    response = client.post(address("temporary_new"), {"text": "x" * 32_001})
    assert response.status_code == 422
    assert "x" * 32_001 in text_of(response)
    assert temporary.list_conversations(alice) == []
