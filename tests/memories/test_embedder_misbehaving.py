"""Whatever the embedder's server does: no turn is lost, nothing is half-written or told."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from conversations.models import Episode, Turn
from memories.indexing import search_index
from memories.models import Memory, Source, Vector
from ops.models import Kind, Operation, Status, User
from ops.queue import worker
from tests.chat_server import Answer, ChatServer, refused
from tests.foundation.providers.test_openai_embedder import vectors
from tests.memories.test_model_misbehaving import (
    SECRET,
    assert_silent,
    assert_whole,
    run_again,
    tell,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_reader")]
DIMENSIONS = 16


class EmbeddingServer(ChatServer):
    """Hashes words into vectors, unless it is told what else to answer."""

    misbehaves: Callable[[Answer], Answer] | None = None

    def next_answer(self, question: dict[str, Any]) -> Answer:
        self.asked.append(question)
        right = vectors(*(hashed(text) for text in question["input"]))
        return self.misbehaves(right) if self.misbehaves else right


def hashed(text: str) -> Sequence[float]:
    counts = [0.1] * DIMENSIONS
    for word in text.casefold().split():
        counts[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return counts


MISBEHAVING: dict[str, Callable[[Answer], Answer]] = {
    "broken": lambda right: refused(500, message=SECRET),
    "not implemented": lambda right: refused(501, message=SECRET),
    "overflow": lambda right: refused(400, code="context_length_exceeded", message=SECRET),
    "silent": lambda right: Answer(silent=True),
    "cut": lambda right: replace(right, cut=True),
    "garbage": lambda right: Answer(f'["{SECRET}"]'),
    "a page": lambda right: Answer(f"<html>{SECRET}", content_type="text/html"),
    "too few": lambda right: vectors(),
    "other dimensions": lambda right: vectors([1.0, 0.0]),
    "no numbers": lambda right: vectors([SECRET] * DIMENSIONS),
    "no length": lambda right: vectors([0.0] * DIMENSIONS),
}


@pytest.fixture
def server(settings: Settings) -> Iterator[EmbeddingServer]:
    one = EmbeddingServer()
    settings.EMBEDDER, settings.EMBEDDING_BASE_URL = "openai_compatible", one.url
    settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = "tiny", DIMENSIONS
    settings.MODEL_RETRIES, settings.EMBEDDING_TIMEOUT = 0, 1
    choose_again()
    yield one
    one.stop()
    choose_again()


def choose_again() -> None:
    """Also a breaker that has opened is forgotten."""
    search_index._served.cache_clear()
    search_index.reset_embedder()


def status_of(kind: Kind) -> str:
    return Operation.objects.get(kind=kind).status


@pytest.mark.parametrize("behaviour", MISBEHAVING)
def test_nothing_is_lost_half_written_or_told(
    alice: User, server: EmbeddingServer, caplog: pytest.LogCaptureFixture, behaviour: str
) -> None:
    caplog.set_level("DEBUG")
    server.misbehaves = MISBEHAVING[behaviour]
    tell(alice, "I adore oolong tea.")
    worker.drain()
    for kind in (Kind.EXTRACT_TURN, Kind.INDEX_EPISODE):
        assert status_of(kind) in (Status.PENDING, Status.FAILED)
    assert not Memory.everything.exists() and not Vector.objects.exists()
    assert not Turn.objects.exclude(extracted_at=None).exists()
    assert_silent(caplog)
    server.misbehaves = None
    choose_again()
    run_again()
    assert status_of(Kind.EXTRACT_TURN) == status_of(Kind.INDEX_EPISODE) == Status.SUCCEEDED
    assert [one.content for one in Memory.objects.all()] == ["I adore oolong tea"]
    assert (Source.objects.count(), Episode.objects.count()) == (1, 1)
    assert_whole(alice)
    assert_silent(caplog)
