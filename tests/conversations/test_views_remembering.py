""" "Remember this…" on a message of the person: the whole text, or the part that is selected."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.models import Conversation, Message, Turn, Withheld
from conversations.recording import temporary
from memories.models import Memory, Origin, Source
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory, make_turn
from tests.memories.pages import address, htmx, signed_in, text_of

pytestmark = pytest.mark.django_db

SAID = "Hi! 👋 I keep bees on the roof. My sister Marta lives in Lyon."
PART = "My sister Marta lives in Lyon."


@pytest.fixture
def turn(conversation: Conversation) -> Turn:
    return make_turn(conversation, SAID, extracted_at=conversation.created_at)


def url_of(message: Message) -> str:
    return address("message_remember", message.public_id)


def form_of(content: str, **more: Any) -> dict[str, Any]:
    return {"content": content, "kind": "fact", "tags": ""} | more


def part(text: str, said: str = SAID) -> dict[str, int]:
    """The place of a part, counted in characters as the page's script counts them."""
    start = said.index(text)
    return {"start": start, "end": start + len(text)}


def source_of(memory: Memory) -> Source:
    return Source.objects.get(memory=memory)


def test_the_menu_of_a_message_of_the_person_offers_it_and_that_of_an_answer_does_not(
    client: Client, turn: Turn
) -> None:
    page = text_of(client.get(address("conversation", turn.conversation.public_id)))
    assert page.count("Remember this…") == 1
    assert f'href="{url_of(turn.user_message)}"' in page
    assert client.get(url_of(turn.assistant_message)).status_code == 404


def test_the_whole_text_is_proposed_with_kind_and_topic(
    client: Client, conversation: Conversation
) -> None:
    message = make_turn(conversation, "I'm allergic to peanuts.").user_message
    page = text_of(client.get(url_of(message)))
    assert "I&#x27;m allergic to peanuts.</textarea>" in page
    assert '<option value="constraint" selected>' in page
    assert 'name="tags" value="' in page.replace("\n", "")


def test_a_selected_part_is_proposed_alone(client: Client, turn: Turn) -> None:
    response = client.get(url_of(turn.user_message), part(PART), headers=htmx("dialogs"))
    page = text_of(response)
    assert page.strip().startswith("<dialog") and f"{PART}</textarea>" in page
    assert "bees" not in page and "The part that you selected" in page


@pytest.mark.parametrize("given", [{"start": "x"}, {"start": 900}, {"start": 3, "end": 3}])
def test_a_place_that_holds_nothing_means_the_whole_message(
    client: Client, turn: Turn, given: dict[str, Any]
) -> None:
    assert f"{SAID}</textarea>" in text_of(client.get(url_of(turn.user_message), given))


def test_the_memory_has_the_message_as_its_source_with_the_quoted_span(
    client: Client, turn: Turn
) -> None:
    given = form_of("My sister Marta lives in Lyon", tags="family", **part(PART))
    response = client.post(url_of(turn.user_message), given)
    assert response.status_code == 302
    assert response.headers["Location"].endswith(f"#{turn.user_message.public_id}")
    memory = Memory.objects.get()
    assert (memory.content, memory.origin) == ("My sister Marta lives in Lyon", Origin.USER)
    assert "family" in memory.tags and memory.occurred_at == turn.user_message.created_at
    source = source_of(memory)
    assert (source.turn, source.message) == (turn, turn.user_message)
    assert (source.quote, source.quote_start) == (PART, SAID.index(PART))
    page = text_of(client.get(address("memory_page", memory.public_id)))
    assert f"<mark>{PART}</mark>" in page


def test_the_chip_under_the_answer_says_it_at_once(client: Client, turn: Turn) -> None:
    response = client.post(
        url_of(turn.user_message), form_of("Keeps bees"), headers=htmx("dialogs")
    )
    assert response.status_code == 200 and response.headers["HX-Reswap"] == "none"
    assert "dialog-done" in response.headers["HX-Trigger"]
    page = text_of(response)
    assert f'id="lessons-{turn.public_id}" hx-swap-oob="true"' in page
    assert "1 memory learned" in page and "Remembered." in page


def test_what_is_known_already_gets_the_message_as_a_further_source(
    client: Client, alice: User, turn: Turn
) -> None:
    memory = make_memory(alice, PART)
    client.post(url_of(turn.user_message), form_of(PART))
    assert Memory.objects.get() == memory
    assert turn.user_message in [one.message for one in Source.objects.filter(memory=memory)]


def test_a_secret_is_refused_also_where_only_the_message_gives_it_away(
    client: Client, conversation: Conversation
) -> None:
    said = "My password is hunter2horse77."
    message = make_turn(conversation, said).user_message
    for given in (form_of(said), form_of("hunter2horse77", **part("hunter2horse77", said))):
        response = client.post(url_of(message), given)
        assert response.status_code == 422 and "looks like a secret" in text_of(response)
    assert not Memory.objects.exists()
    page = text_of(client.get(url_of(message), part("hunter2horse77", said)))
    assert "hunter2horse77" not in page and "<textarea" not in page
    assert "looks like a secret" in page


def test_a_secret_within_a_longer_text_is_left_out_of_memory_and_quotation(
    client: Client, conversation: Conversation
) -> None:
    said = "I bank with Hartwell and my password is hunter2horse77, since May."
    message = make_turn(conversation, said).user_message
    assert "which is left out" in text_of(client.get(url_of(message)))
    client.post(url_of(message), form_of(said))
    memory = Memory.objects.get()
    assert "hunter2" not in memory.content + source_of(memory).quote
    assert "Hartwell" in memory.content


def test_with_memory_off_it_is_refused_with_the_reason(
    client: Client, alice: User, turn: Turn
) -> None:
    with as_user(alice):
        users.change_settings(user=alice, changes={"longterm_enabled": False})
    page = text_of(client.get(url_of(turn.user_message)))
    assert "Memory is off" in page and "<textarea" not in page
    assert f'href="{reverse("settings_page")}">Go to the switches' in page
    response = client.post(url_of(turn.user_message), form_of("Keeps bees"))
    assert response.status_code == 422
    assert "Long-term memory is turned off" in text_of(response)
    assert not Memory.objects.exists()


def test_what_was_not_to_be_kept_is_kept_when_the_person_says_so(
    client: Client, turn: Turn
) -> None:
    Message.objects.filter(pk=turn.user_message_id).update(withheld=Withheld.ASKED)
    page = address("conversation", turn.conversation.public_id)
    shown = text_of(client.get(page))
    assert "Not kept, as you asked" in shown and "The message itself is still here." in shown
    assert address("message_forget", turn.user_message.public_id) in shown.split("still here.")[1]
    client.post(url_of(turn.user_message), form_of("Keeps bees on the roof"))
    shown = text_of(client.get(page))
    assert "Not kept, as you asked" not in shown and "1 memory learned" in shown


def test_what_was_forgotten_is_told_anew(client: Client, turn: Turn) -> None:
    client.post(url_of(turn.user_message), form_of(PART))
    first = Memory.objects.get()
    client.post(address("memory_forget", first.public_id))
    worker.drain()
    assert not Memory.everything.exists()
    client.post(url_of(turn.user_message), form_of(PART))
    worker.drain()
    again = Memory.objects.get()
    assert again.content == PART and again.public_id != first.public_id


def test_it_goes_with_its_turn(client: Client, turn: Turn) -> None:
    client.post(url_of(turn.user_message), form_of(PART))
    client.post(address("message_forget", turn.user_message.public_id))
    worker.drain()
    assert not Memory.everything.exists()


def test_an_empty_text_is_refused_at_its_field(client: Client, turn: Turn) -> None:
    response = client.post(
        url_of(turn.user_message), form_of(" ", **part(PART)), headers=htmx("dialogs")
    )
    page = text_of(response)
    assert response.status_code == 422 and "Write what should be remembered." in page
    assert page.strip().startswith("<dialog")
    assert f'name="start" value="{SAID.index(PART)}"' in page


def test_a_message_without_an_answer_can_be_remembered(
    client: Client, conversation: Conversation, turn: Turn
) -> None:
    message = turn.user_message
    turn.delete()
    response = client.post(url_of(message), form_of(PART), headers=htmx("dialogs"))
    assert response.status_code == 200 and source_of(Memory.objects.get()).message == message


def test_nobody_else_can_have_it_remembered(mallory: User, turn: Turn) -> None:
    stranger = signed_in(mallory)
    assert stranger.get(url_of(turn.user_message)).status_code == 404
    assert stranger.post(url_of(turn.user_message), form_of("x")).status_code == 404
    assert not Memory.objects.exists()


def test_a_temporary_chat_offers_nothing_of_the_kind(alice: User, client: Client) -> None:
    client.post(address("temporary_new"), {"text": "I'm allergic to penicillin."})
    passing = temporary.list_conversations(alice)[-1]
    page = text_of(client.get(address("conversation", passing.public_id)))
    temporary.erase_all(alice)
    assert "penicillin" in page and "Remember this…" not in page
