from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from foundation.errors import Conflict
from memories.forgetting import memory_forgets
from memories.models import Memory
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput
from ops import webhooks
from ops.accounts import users
from ops.models import AuditEvent, Delivery, Kind, Operation, Status, User, Webhook
from ops.queue import outbox, webhook_events, worker
from ops.queue.webhook_events import Event
from tests.draining import cleaned_up
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db
EVERYTHING = list(Event.values)
OPEN = "https://93.184.216.34/told"


@dataclass
class Heard:
    """A server that keeps what it is told and answers what it is asked to."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(one) for one in self.bodies]


@pytest.fixture
def heard(settings: Any) -> Iterator[Heard]:
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    kept = Heard()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            kept.headers.append(dict(self.headers))
            status = kept.statuses.pop(0) if kept.statuses else 204
            self.send_response(status)
            if status == 302:
                self.send_header("Location", kept.url + "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield kept
        server.shutdown()
        thread.join()


def listen(heard: Heard, *, user: User | None = None, told: list[str] | None = None) -> Webhook:
    return webhooks.create(user=user, url=heard.url, events=told or EVERYTHING, secret="s3cret")


def remember(user: User, text: str) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(text), origin="api")  # type: ignore[arg-type]
    return direct_writes.remember(prepared, user=user).memory


def again() -> None:
    """As if the waiting time were over."""
    waiting = Operation.objects.filter(status=Status.PENDING)
    waiting.update(run_after=Operation.objects.latest("pk").created_at)
    worker.drain()


def test_whatever_becomes_of_a_memory_is_told_by_its_id(alice: User, heard: Heard) -> None:
    listen(heard, user=alice, told=EVERYTHING[:3])
    memory = remember(alice, "Alice plays chess.")
    curation.pin(user=alice, memory=memory)
    curation.recycle(user=alice, memory=memory)
    curation.restore_from_bin(user=alice, memory=memory)
    memory_forgets.forget_memory(user=alice, memory=memory)
    worker.drain()
    assert [one["event"] for one in heard.told] == [
        *("memory.created", "memory.updated", "memory.deleted", "memory.created"),
        "memory.deleted",
    ]
    for one in heard.told:
        assert set(one) == {"id", "event", "created_at", "user_id", "memory_id"}
        assert (one["user_id"], one["memory_id"]) == ("alice", memory.public_id)
    assert b"chess" not in b"".join(heard.bodies)


def test_a_newer_text_is_told_as_a_change(alice: User, heard: Heard, pairs: FakePairs) -> None:
    pairs.says("Lives in Leeds.", "Moved from Leeds to Paris.", "newer")
    remember(alice, "Lives in Leeds.")
    listen(heard, user=alice, told=["memory.updated"])
    remember(alice, "Moved from Leeds to Paris.")
    worker.drain()
    assert [one["event"] for one in heard.told] == ["memory.updated"]


def test_that_an_operation_is_over_is_told_with_how_it_ended(alice: User, heard: Heard) -> None:
    listen(heard, user=alice, told=["operation.finished"])
    memory = make_memory(alice, "Alice plays chess.")
    forgotten = memory_forgets.forget_memory(user=alice, memory=memory)
    cancelled = outbox.enqueue(Kind.CONSOLIDATE, subject=alice.subject, payload={})
    outbox.cancel(cancelled)
    failed = outbox.enqueue(Kind.REINDEX, subject=alice.subject, payload={"space": "none"})
    failed.attempt = 0
    worker.drain()
    ended = {one["op_id"]: one["status"] for one in heard.told}
    assert ended[forgotten.public_id] == "succeeded"
    assert ended[cancelled.public_id] == "cancelled"
    assert not {one["kind"] for one in heard.told} & {"deliver_webhook"}


def test_messages_are_signed_over_their_time_and_body(alice: User, heard: Heard) -> None:
    listen(heard, user=alice)
    make = webhook_events.memories
    make(Event.MEMORY_CREATED, user_id=alice.pk, ids=["mem_1"])
    worker.drain()
    [headers], [body] = heard.headers, heard.bodies
    parts = dict(one.split("=", 1) for one in headers["X-Memcenter-Signature"].split(","))
    signed = f"{parts['t']}.".encode() + body
    assert parts["v1"] == hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert headers["X-Memcenter-Event"] == "memory.created"
    assert headers["X-Memcenter-Delivery"] == heard.told[0]["id"]


def test_what_is_not_taken_is_sent_again_with_the_same_id_and_then_given_up(
    alice: User, heard: Heard, settings: Any
) -> None:
    settings.OPERATION_ATTEMPTS = 3
    heard.statuses = [500, 302, 204]
    hook = listen(heard, user=alice)
    webhook_events.memories(Event.MEMORY_CREATED, user_id=alice.pk, ids=["mem_1"])
    worker.drain()
    delivery = Delivery.objects.get()
    assert (delivery.status_code, delivery.delivered_at, delivery.attempts) == (500, None, 1)
    assert "500" in delivery.error
    again()
    assert Delivery.objects.get().status_code == 302
    again()
    delivery.refresh_from_db()
    assert delivery.delivered_at is not None and delivery.error == ""
    assert {one["id"] for one in heard.told} == {delivery.public_id} and len(heard.told) == 3
    heard.statuses = [500] * 9
    webhook_events.memories(Event.MEMORY_CREATED, user_id=alice.pk, ids=["mem_2"])
    for _ in range(5):
        again()
    assert len(heard.told) == 6
    assert webhooks.log_of(hook).latest("pk").attempts == 3


def test_sending_twice_sends_once_what_was_taken(alice: User, heard: Heard) -> None:
    listen(heard, user=alice)
    webhook_events.memories(Event.MEMORY_CREATED, user_id=alice.pk, ids=["mem_1"])
    worker.drain()
    Operation.objects.filter(kind=Kind.DELIVER_WEBHOOK).update(status="pending", finished_at=None)
    worker.drain()
    assert len(heard.bodies) == 1


def test_nothing_is_told_of_what_did_not_happen(alice: User, heard: Heard) -> None:
    from django.db import transaction

    listen(heard, user=alice)

    def broken() -> None:
        with transaction.atomic():
            remember(alice, "Never was.")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert not Delivery.objects.exists()


def test_a_person_hears_of_themselves_and_the_product_of_whom_it_reaches(
    alice: User, mallory: User, heard: Heard
) -> None:
    maya = users.register(username="maya", password="correct-horse-battery")
    own, product = listen(heard, user=alice), listen(heard)
    for user in (alice, mallory, maya):
        webhook_events.memories(Event.MEMORY_CREATED, user_id=user.pk, ids=["mem_1"])
    subjects = set(Delivery.objects.filter(webhook=own).values_list("subject", flat=True))
    assert subjects == {alice.subject}
    subjects = set(Delivery.objects.filter(webhook=product).values_list("subject", flat=True))
    assert subjects == {alice.subject, mallory.subject}


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://localhost:8000/", "http://10.1.2.3/", "http://[::1]/"),
        *("http://169.254.169.254/", "http://192.168.0.1/", "http://172.16.0.1/", "http://0/"),
        *("http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[fe80::1]/"),
        *("http://0x7f.1/", "http://2130706433/", "http://[2002:7f00:1::]/", "http://100.64.0.1/"),
        *("ftp://example.com/", "https://", "https://me:pw@example.com/", "https://e.com/#x"),
        *("https://example.com:99999/", "https://exa mple.com/", "javascript:1", "https://ä.de/"),
    ],
)
def test_an_address_that_we_may_not_reach_is_refused_when_it_is_saved(
    alice_key: str, url: str
) -> None:
    body = {"url": url, "events": ["memory.created"]}
    assert refused(Api(alice_key).post("/webhooks", body), "url")
    assert not Webhook.objects.exists()


def test_an_address_is_looked_at_again_when_something_is_sent(
    alice: User, heard: Heard, settings: Any
) -> None:
    hook = listen(heard, user=alice)
    settings.WEBHOOKS_MAY_BE_PRIVATE = False
    webhooks.try_out(hook)
    worker.drain()
    delivery = Delivery.objects.get()
    assert "private" in delivery.error and delivery.status_code is None
    assert heard.bodies == []


def test_we_connect_to_the_very_address_that_was_checked(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(heard.url.rsplit(":", 1)[1])
    place = webhooks.public_address(f"http://localhost:{port}/x?y=1")

    def no_more_names(*args: Any, **more: Any) -> None:
        raise AssertionError("it was resolved again")

    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: (
            real(host, *rest, **more) if host == place.address else no_more_names()
        ),
    )
    if place.address == "127.0.0.1":
        assert webhooks.post_to_address(place, body=b"{}", headers={}) == 204
        assert heard.headers[0]["Host"] == f"localhost:{port}"


def test_webhooks_are_made_listed_changed_tried_and_removed(
    alice: User, alice_key: str, heard: Heard
) -> None:
    api = Api(alice_key)
    body = {"url": heard.url, "events": ["memory.created", "memory.created"]}
    made = answer(api.post("/webhooks", body), 201)
    assert made["events"] == ["memory.created"] and made["secret"].startswith("whsec_")
    [listed] = answer(api.get("/webhooks"))["results"]
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    path = f"/webhooks/{made['id']}"
    assert answer(api.get(path)) == listed
    changed = answer(api.patch(path, {"is_active": False, "events": ["operation.finished"]}))
    assert (changed["is_active"], changed["events"]) == (False, ["operation.finished"])
    answer(api.post(f"{path}/test"), 202)
    worker.drain()
    assert [one["event"] for one in heard.told] == ["test"]
    [sent] = answer(api.get(f"{path}/deliveries"))["results"]
    assert (sent["status_code"], sent["error"]) == (204, "") and sent["delivered_at"]
    assert refused(api.delete("/webhooks"), "id")
    assert answer(api.delete("/webhooks", id=made["id"]))["status"] == "removed"
    error(api.get(path), 404)
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {f"webhook.{one}" for one in ("made", "changed", "tried", "removed")} <= actions


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"events": []}, "events"),
        ({"events": ["memory.read"]}, "events"),
        ({"events": "memory.created"}, "events"),
        ({"secret": "a\nb"}, "secret"),
        ({"url": None}, "url"),
    ],
)
def test_a_webhook_that_is_not_valid_names_the_field(
    alice_key: str, changes: dict[str, Any], named: str
) -> None:
    body = {"url": OPEN, "events": ["memory.created"]} | changes
    assert refused(Api(alice_key).post("/webhooks", body), named)


def test_the_products_webhooks_are_no_persons(
    alice: User, product_key: str, alice_key: str
) -> None:
    body = {"url": OPEN, "events": ["memory.created"]}
    product = answer(Api(product_key).post("/webhooks", body), 201)
    hers = answer(Api(product_key).post("/webhooks", {**body, "user_id": "alice"}), 201)
    assert (product["user_id"], hers["user_id"]) == (None, "alice")
    for key, asked, seen in (
        (product_key, {}, product),
        (product_key, {"user_id": "alice"}, hers),
        (alice_key, {}, hers),
    ):
        found = answer(Api(key).get("/webhooks", **asked))["results"]
        assert [one["id"] for one in found] == [seen["id"]]
    error(Api(alice_key).get(f"/webhooks/{product['id']}"), 404, "not_found")


def test_there_are_only_so_many(alice: User) -> None:
    for _ in range(webhooks.MOST):
        webhooks.create(user=alice, url=OPEN, events=["memory.created"])
    with pytest.raises(Conflict):
        webhooks.create(user=alice, url=OPEN, events=["memory.created"])


def test_forgetting_somebody_takes_their_webhooks_and_tells_the_product(
    alice: User, heard: Heard, product_key: str
) -> None:
    own, product = listen(heard, user=alice), listen(heard, told=["operation.finished"])
    webhook_events.memories(Event.MEMORY_CREATED, user_id=alice.pk, ids=["mem_1"])
    body = {"scope": "user", "user_id": "alice"}
    accepted = answer(Api(product_key).post("/memory/forget", body), 202)
    worker.drain()
    assert not Webhook.objects.filter(pk=own.pk).exists()
    assert not Delivery.objects.filter(webhook_id=own.pk).exists()
    told = [one for one in heard.told if one.get("op_id") == accepted["op_id"]]
    assert [(one["status"], one["user_id"]) for one in told] == [("succeeded", None)]
    assert list(Webhook.objects.all()) == [product]


def test_the_log_is_kept_as_long_as_traces(alice: User, heard: Heard, settings: Any) -> None:
    hook = listen(heard, user=alice)
    webhooks.try_out(hook)
    settings.TRACE_DAYS = 0
    cleaned_up()
    assert not Delivery.objects.exists()
