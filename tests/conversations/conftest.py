"""A conversation about a roof, its owner at the pages, and a model that answers there."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from conversations.models import Conversation, Turn
from conversations.recording import temporary
from ops.models import User
from tests.chat_server import ChatServer, serving, streamed
from tests.conversations.talks import Talk, make_talk
from tests.factories import make_conversation, make_turn
from tests.memories.pages import signed_in


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return make_conversation(alice, title="The roof")


@pytest.fixture
def turn(conversation: Conversation) -> Turn:
    return make_turn(conversation, "I keep bees on the roof.", "How nice.")


@pytest.fixture
def client(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def talk(alice: User) -> Talk:
    return make_talk(alice)


@pytest.fixture
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
