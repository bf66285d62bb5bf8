from collections.abc import Iterator

import pytest

from tests.chat_server import serving
from tests.memories.extraction.modelling import Model


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as server:
        one = Model(server)
        yield one
        one.chat.close()
