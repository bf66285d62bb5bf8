"""Fixtures for the tests of all integrations, which `make integrations` runs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from integrations.center import Center
from tests.chat_server import ChatServer, said, serving


@pytest.fixture
def center() -> Center:
    return Center(os.environ["MEMORY_CENTER_URL"], os.environ["MEMORY_CENTER_KEY"])


@pytest.fixture
def model() -> Iterator[ChatServer]:
    """A fake OpenAI server that records its requests."""
    with serving(said("Noted.")) as server:
        yield server
