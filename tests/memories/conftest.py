"""A conversation of Alice's own, and a model that is asked what her words teach."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from conversations.models import Conversation
from conversations.recording import conversation_names
from memories import language_steps
from memories.extraction.bundled import BundledExtractor
from memories.screening import learned_secrets
from memories.screening.secret_search import PositionCache
from ops.models import User
from tests.chat_server import ChatServer, serving
from tests.memories.language_model import forget_model
from tests.memories.plain_reader import PlainReader


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return conversation_names.find_or_create(user=alice, reference="c1")


@pytest.fixture
def server(settings: Settings) -> Iterator[ChatServer]:
    with serving() as one:
        settings.LANGUAGE_METHOD = "model"
        settings.MODEL_BASE_URL = one.url
        settings.MODEL_NAME = "tiny"
        settings.MODEL_RETRIES = 0
        settings.MODEL_TIMEOUT = 5
        yield one
        forget_model()


@pytest.fixture
def plain_reader() -> Iterator[PlainReader]:
    """Stands in for the learned reader, also after a test undid what it patched itself."""
    fake = PlainReader()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(language_steps, "bundled_extractor", lambda: BundledExtractor(fake))
        patched.setattr(learned_secrets, "reader", lambda: fake)
        patched.setattr(learned_secrets, "_known", PositionCache())
        yield fake
