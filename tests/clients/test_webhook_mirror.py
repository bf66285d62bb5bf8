"""The example of a receiver of webhooks: what it was told survives its restarts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client
from memcenter_client import MemoryCenter

from memories.models import Memory
from memories.writing import curation
from ops import webhooks
from ops.models import Delivery, User
from ops.webhooks import signature
from tests.clients.examples import example
from tests.factories import make_memory

pytestmark = pytest.mark.django_db
SECRET = "s3cret"


@pytest.fixture
def center(alice_key: str) -> Iterator[MemoryCenter]:
    """The client, answered in this process and its transaction."""
    transport = httpx.MockTransport(answered)
    with MemoryCenter("http://testserver", alice_key, transport=transport) as one:
        yield one


def answered(request: httpx.Request) -> httpx.Response:
    told = {"Authorization": request.headers["Authorization"]}
    reply = Client().get(request.url.raw_path.decode(), headers=told)
    return httpx.Response(reply.status_code, content=reply.content)


@pytest.fixture
def webhook_id(alice: User) -> str:
    url = "https://93.184.216.34/told"
    return webhooks.create(user=alice, url=url, events=["memory.created"], secret=SECRET).public_id


@pytest.fixture
def start(center: MemoryCenter, webhook_id: str, tmp_path: Path) -> Callable[[], Any]:
    """Start the program on its database, as if for the first time or again."""

    module = example("webhook_mirror")

    def started() -> Any:
        path = str(tmp_path / "mirror.db")
        return module.Mirror(path, center=center, webhook_id=webhook_id, secret=SECRET)

    return started


def message(memory: Memory, *, number: int) -> bytes:
    told = {"id": f"dlv_{number}", "event": "memory.created", "memory_id": memory.public_id}
    return json.dumps(told).encode()


def tell(mirror: Any, body: bytes) -> bool:
    accepted: bool = mirror.receive(body, signature(body, secret=SECRET, at=int(time.time())))
    return accepted


def mirrored(mirror: Any) -> list[str]:
    return [row[0] for row in mirror.database.execute("SELECT content FROM memory ORDER BY 1")]


def test_what_was_answered_before_a_restart_is_done_after_it_and_once(
    start: Callable[[], Any], alice: User
) -> None:
    chess, tea = make_memory(alice, "Plays chess."), make_memory(alice, "Drinks tea.")
    first = start()
    assert tell(first, message(chess, number=1)) and first.work() == 1
    assert tell(first, message(tea, number=2))
    first.database.close()  # killed before it came to the second
    again = start()
    assert tell(again, message(tea, number=2)) and tell(again, message(chess, number=1))
    assert again.work() == 1 and again.work() == 0
    assert mirrored(again) == ["Drinks tea.", "Plays chess."]


def test_what_is_gone_leaves_the_mirror(start: Callable[[], Any], alice: User) -> None:
    chess, mirror = make_memory(alice, "Plays chess."), start()
    tell(mirror, message(chess, number=1))
    mirror.work()
    curation.recycle(user=alice, memory=chess)
    tell(mirror, message(chess, number=2))
    mirror.work()
    assert mirrored(mirror) == []


def test_what_never_arrived_is_noticed_at_the_next_start_and_once(
    start: Callable[[], Any], alice: User, webhook_id: str
) -> None:
    make_memory(alice, "Plays chess.")
    webhook = webhooks.find(webhook_id, user=alice)
    Delivery.objects.create(webhook=webhook, event="memory.created", subject=alice.subject)
    mirror = start()
    assert mirror.catch_up() == 1 and mirrored(mirror) == ["Plays chess."]
    mirror.database.close()
    assert start().catch_up() == 0


def test_a_forged_or_stale_message_is_refused(start: Callable[[], Any], alice: User) -> None:
    body, mirror, now = b'{"id": "dlv_1"}', start(), int(time.time())
    assert not mirror.receive(body, signature(body, secret="other", at=now))
    assert not mirror.receive(body, signature(body, secret=SECRET, at=now - 301))
    assert not mirror.receive(body, "")
    assert mirror.work() == 0
