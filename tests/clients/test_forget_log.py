"""The example that follows operations by their events: its requests survive its restarts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client
from memcenter_client import MemoryCenter, MemoryCenterError

from memories.models import Memory
from ops.models import Operation, User
from ops.queue import worker
from tests.clients.examples import example
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


class Server:
    """The product in this process; the answer to one call in `lost` never arrives."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self.at_events: Callable[[], object] = lambda: None

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        if path.split("?")[0].endswith("/events"):
            self.at_events()
        names = ("Authorization", "Idempotency-Key", "Last-Event-ID")
        headers = {name: request.headers[name] for name in names if name in request.headers}
        reply = Client().generic(
            request.method, path, request.content, "application/json", headers=headers
        )
        if request.method in self.lost:
            self.lost.remove(request.method)
            raise httpx.ReadError("The answer was lost.")
        return httpx.Response(reply.status_code, content=reply.getvalue())


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def start(alice_key: str, server: Server, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Start the program on its database, as if for the first time or again."""
    module, transport = example("forget_log"), httpx.MockTransport(server.answer)
    with MemoryCenter("http://testserver", alice_key, transport=transport, retries=0) as center:
        yield lambda: module.ForgetLog(str(tmp_path / "log.db"), center=center)


def logged(log: Any) -> list[tuple[str, str]]:
    return list(log.database.execute("SELECT status, receipt FROM request"))


def test_an_operation_is_followed_to_its_receipt(
    start: Callable[[], Any], server: Server, alice: User
) -> None:
    tea, log = make_memory(alice, "Drinks tea."), start()
    server.at_events = worker.drain
    log.ask([tea.public_id])
    log.work()
    [(status, receipt)] = logged(log)
    assert status == "succeeded" and json.loads(receipt)["erased"]
    assert not Memory.objects.exists()
    operations = Operation.objects.count()
    log.work()
    assert Operation.objects.count() == operations


def test_a_request_whose_answer_was_lost_is_sent_again_after_a_restart_and_done_once(
    start: Callable[[], Any], server: Server, alice: User
) -> None:
    tea, first = make_memory(alice, "Drinks tea."), start()
    first.ask([tea.public_id])
    server.lost = ["POST"]
    with pytest.raises(MemoryCenterError):
        first.work()
    first.database.close()  # killed before it knew of the operation
    again = start()
    server.at_events = worker.drain
    again.work()
    assert [status for status, _ in logged(again)] == ["succeeded"]
    assert Operation.objects.filter(kind__startswith="forget").count() == 1


def test_what_ended_while_the_program_was_away_is_told_when_it_asks_again(
    start: Callable[[], Any], server: Server, alice: User
) -> None:
    tea, first = make_memory(alice, "Drinks tea."), start()
    first.ask([tea.public_id])
    server.lost = ["GET"]
    with pytest.raises(MemoryCenterError):
        first.work()
    first.database.close()
    worker.drain()
    again = start()
    again.work()
    [(status, receipt)] = logged(again)
    assert status == "succeeded" and receipt
