"""A conversation about a roof, and its owner at the pages."""

import pytest
from django.test import Client

from conversations.models import Conversation, Turn
from ops.models import User
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
