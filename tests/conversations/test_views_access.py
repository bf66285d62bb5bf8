"""Every page of the chat against a visitor and against somebody else."""

import pytest
from django.test import Client

from conversations.models import Conversation, Feedback, Message, Turn
from conversations.recording import temporary
from ops.models import User
from tests.factories import make_conversation, make_turn
from tests.memories.pages import address, htmx, signed_in, text_of

pytestmark = pytest.mark.django_db

PAGES = ["chat_home", "conversation_new", "temporary_new"]
OF_ONE = ["conversation", "conversation_rename", "conversation_clear", "conversation_delete"]


@pytest.fixture
def client() -> Client:
    """A visitor."""
    return Client()


@pytest.fixture
def turn(alice: User) -> Turn:
    return make_turn(make_conversation(alice, title="The roof"), "I keep bees on the roof.")


def addresses_of(turn: Turn) -> list[str]:
    """What belongs to the turn and can be asked for."""
    return [
        *(address(name, turn.conversation.public_id) for name in OF_ONE),
        address("message_forget", turn.user_message.public_id),
        address("turn_lessons", turn.public_id),
    ]


@pytest.mark.parametrize("name", PAGES)
def test_a_visitor_is_sent_to_sign_in(client: Client, db: None, name: str) -> None:
    response = client.get(address(name))
    assert response.status_code == 302
    assert response["Location"].startswith("/signin/?next=")


def test_a_visitor_can_say_nothing(client: Client, db: None) -> None:
    assert client.post(address("conversation_new"), {"text": "Hello"}).status_code == 401
    assert not Message.everything.exists()


def test_a_visitor_learns_nothing_of_a_conversation(client: Client, turn: Turn) -> None:
    assert [client.get(url).status_code for url in addresses_of(turn)] == [302] * 6


def test_a_fragment_for_somebody_signed_out_is_refused(client: Client, turn: Turn) -> None:
    url = address("turn_lessons", turn.public_id)
    assert client.get(url, headers=htmx("lessons")).status_code == 401


def test_a_strangers_conversation_is_not_there(mallory: User, turn: Turn) -> None:
    client = signed_in(mallory)
    assert [client.get(url).status_code for url in addresses_of(turn)] == [404] * 6


def test_a_stranger_can_do_nothing_to_a_conversation(mallory: User, turn: Turn) -> None:
    before = list(Conversation.everything.values()), list(Message.everything.values())
    given = {"text": "Mine", "title": "Mine", "memories": "on"}
    client = signed_in(mallory)
    for url in addresses_of(turn)[:-1]:
        assert client.post(url, given).status_code == 404
    assert (list(Conversation.everything.values()), list(Message.everything.values())) == before


def test_a_stranger_can_not_rate_an_answer(mallory: User, turn: Turn) -> None:
    url = address("message_rate", turn.assistant_message.public_id)
    assert signed_in(mallory).post(url, {"rating": "negative"}).status_code == 404
    assert not Feedback.objects.exists()


def test_the_panel_shows_no_strangers_answer(alice: User, mallory: User, turn: Turn) -> None:
    own = make_turn(make_conversation(mallory), "Hello").conversation
    url = address("conversation", own.public_id, answer=turn.assistant_message.public_id)
    assert signed_in(mallory).get(url).status_code == 404


def test_a_strangers_temporary_chat_is_not_there(alice: User, mallory: User) -> None:
    passing = temporary.create(user=alice, external_id=None, title="Only mine")
    client = signed_in(mallory)
    assert client.get(address("conversation", passing.public_id)).status_code == 404
    assert client.post(address("conversation_delete", passing.public_id)).status_code == 404
    assert temporary.find(user=alice, reference=passing.public_id) is not None
    assert "Only mine" not in text_of(client.get(address("chat_home")))


def test_a_strangers_conversations_are_not_listed(mallory: User, turn: Turn) -> None:
    assert "The roof" not in text_of(signed_in(mallory).get(address("chat_home")))
    assert "The roof" not in text_of(signed_in(mallory).get(address("chat_home", q="roof")))


@pytest.mark.parametrize("name", ["message_rate"])
def test_what_changes_something_is_never_a_get(alice: User, turn: Turn, name: str) -> None:
    url = address(name, turn.assistant_message.public_id)
    assert signed_in(alice).get(url).status_code == 405
