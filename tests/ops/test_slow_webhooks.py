"""Whoever answers slowly costs a worker little, and nobody else's work."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.utils import timezone

from ops import registry, webhooks
from ops.models import Delivery, Kind, Operation, Status, User, Webhook
from ops.queue import outbox, webhook_events, worker
from ops.queue.webhook_events import Event

pytestmark = pytest.mark.django_db


@pytest.fixture
def silent(settings: Any) -> Iterator[str]:
    """An address that takes calls and never says a word."""
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(autouse=True)
def nobody_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_paused_until", {})


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "ANSWER_SECONDS", 0.05)


def listen(url: str, user: User) -> Webhook:
    return webhooks.create(user=user, url=url, events=[Event.MEMORY_CREATED.value], secret="s")


def tell(user: User, *ids: str) -> None:
    webhook_events.memories(Event.MEMORY_CREATED, user_id=user.pk, ids=ids)


@pytest.mark.usefixtures("impatient")
def test_a_silent_address_is_waited_for_once_and_then_let_alone(alice: User, silent: str) -> None:
    listen(silent, alice)
    tell(alice, "mem_1", "mem_2", "mem_3")
    worker.drain()
    tried = [one for one in Delivery.objects.all() if one.attempts]
    assert [one.error for one in tried] == ["The address took too long to answer."]
    left = Operation.objects.filter(kind=Kind.DELIVER_WEBHOOK)
    assert {one.status for one in left} == {Status.PENDING}
    assert sum("slow a moment ago" in one.last_error for one in left) == 2


@pytest.mark.usefixtures("impatient")
def test_what_had_to_wait_has_used_up_no_attempt(alice: User, silent: str, settings: Any) -> None:
    settings.OPERATION_ATTEMPTS = 1
    listen(silent, alice)
    tell(alice, "mem_1", "mem_2")
    worker.drain()
    statuses = Operation.objects.filter(kind=Kind.DELIVER_WEBHOOK).order_by("pk")
    assert [one.status for one in statuses] == [Status.FAILED, Status.PENDING]


@pytest.mark.usefixtures("impatient")
def test_a_slow_address_does_not_hold_back_another(alice: User, mallory: User, silent: str) -> None:
    listen(silent, alice)
    tell(alice, "mem_1")
    worker.drain()
    listen(silent, mallory)
    tell(mallory, "mem_2")
    worker.drain()
    assert Delivery.objects.filter(attempts=1).count() == 2


@pytest.mark.usefixtures("impatient")
def test_a_test_message_is_sent_all_the_same(alice: User, silent: str) -> None:
    hook = listen(silent, alice)
    tell(alice, "mem_1")
    worker.drain()
    webhooks.try_out(hook)
    worker.drain()
    assert Delivery.objects.get(event=webhook_events.TEST).attempts == 1


def test_whoever_trickles_is_hung_up_on(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_PATIENCE_SECONDS", 0.05)
    with pytest.raises(webhooks.TooSlow):
        webhooks.post_to_address(webhooks.public_address(silent), body=b"{}", headers={})


def test_the_deadline_holds_for_a_server_that_never_stops_sending(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No step is slow: only the deadline ends the request."""
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    monkeypatch.setattr(webhooks, "_PATIENCE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        sending = threading.Thread(target=send_forever, args=[server])
        sending.start()
        place = webhooks.public_address(f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(webhooks.TooSlow):
            webhooks.post_to_address(place, body=b"{}", headers={})
        sending.join()


def send_forever(server: socket.socket) -> None:
    """Send interim answers until the caller hangs up."""
    calling, _ = server.accept()
    with calling, suppress(OSError):
        while True:
            calling.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def test_one_worker_sends_while_the_others_do_the_rest(alice: User, silent: str) -> None:
    listen(silent, alice)
    tell(alice, "mem_1", "mem_2")
    outbox.enqueue(Kind.CLEANUP, subject=None, payload={})
    kinds = sorted(registry.handled_kinds())
    Operation.objects.filter(kind=Kind.CLEANUP).update(run_after=timezone.now())
    taken = [outbox.claim_next(kinds, now=timezone.now()) for _ in range(3)]
    found = [one.operation.kind for one in taken if one is not None]
    assert sorted(found) == [Kind.CLEANUP, Kind.DELIVER_WEBHOOK]


def test_a_name_that_takes_too_long_to_look_up_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()
    monkeypatch.setattr(webhooks, "LOOKUP_SECONDS", 0.05)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **more: over.wait(60) and [])
    with pytest.raises(webhooks.TooSlow, match="look up"):
        webhooks.public_address("https://slow.example/")
    assert webhooks.problem_with_address("https://slow.example/", looks_up=True) == ""
    over.set()
