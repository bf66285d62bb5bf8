"""One request, one name: in the worker's lines, in calls of models and webhooks, and in traces."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from foundation import telemetry
from foundation.providers.base import ChatMessage
from foundation.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from memcenter.compat.openai_chat.answers import forward
from memories.models import Memory
from ops import registry, webhooks
from ops.access import as_user
from ops.models import User
from ops.queue import worker
from tests.chat_server import said, serving

NAME = "0af7651916cd43dd8448eb211c80319c"
WORDS = ("Zwetschgenmus", "紫藤萝")


class Heard:
    """A server on loopback that keeps what it is sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        heard = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                heard.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                heard.headers.append(dict(self.headers.items()))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}/v1/traces"


@pytest.fixture
def heard() -> Iterator[Heard]:
    heard = Heard()
    thread = threading.Thread(target=heard.http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield heard
    heard.http.shutdown()
    heard.http.server_close()
    thread.join()


def record_a_turn(key: str, **more: Any) -> None:
    client = Client(headers={"Authorization": f"Bearer {key}", "X-Request-ID": NAME})
    turn = {"conversation_id": "c", "assistant_message": f"{WORDS[0]}!", **more}
    turn["user_message"] = f"Remember that I like {WORDS[0]} and {WORDS[1]}."
    answer = client.post("/api/v1/turns", turn, content_type="application/json")
    assert answer.status_code == 201, answer.text


def test_lines_of_the_worker_carry_the_request_that_led_there(
    alice_key: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.handler.addFilter(telemetry.WithRequest())
    record_a_turn(alice_key)
    monkeypatch.setattr(registry, "handler_of", lambda kind: None)
    worker.drain()
    lines = [one for one in caplog.records if one.name == worker.logger.name]
    assert lines and {vars(one)["request_id"] for one in lines} == {NAME}


def test_models_and_whoever_a_chat_is_passed_on_to_are_told_the_request() -> None:
    with serving(said("Yes.")) as server:
        endpoint = Endpoint(base_url=server.url, model="m")
        model = OpenAICompatibleModel(endpoint)
        for name in (NAME, NAME[::-1]):
            with telemetry.use_request_id(name):
                model.complete([ChatMessage("user", "Tea?")], schema={}, max_tokens=5)
                forward("chat/completions", endpoint=endpoint, body=b"{}").close()
        model.close()
        assert server.named == [NAME, NAME, NAME[::-1], NAME[::-1]]


def test_a_webhook_is_told_the_request(
    heard: Heard, alice: User, alice_key: str, settings: LazySettings
) -> None:
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    with as_user(alice):
        webhooks.create(user=alice, url=heard.address, events=["memory.created"])
    record_a_turn(alice_key)
    worker.drain()
    assert {one["X-Request-ID"] for one in heard.headers} == {NAME}


def spans_in(heard: Heard) -> list[Any]:
    found = []
    for body in heard.bodies:
        sent = ExportTraceServiceRequest.FromString(body)
        found += [
            span for one in sent.resource_spans for scope in one.scope_spans for span in scope.spans
        ]
    return found


def test_traces_tell_what_was_done_and_nothing_of_what_was_said(
    heard: Heard, alice: User, alice_key: str, settings: LazySettings
) -> None:
    settings.OTEL_ENDPOINT = heard.address
    settings.OTEL_HEADERS = {"x-of-ours": "secret"}
    record_a_turn(alice_key)
    worker.drain()
    memory = Memory.objects.get(user=alice)
    client = Client(headers={"Authorization": f"Bearer {alice_key}", "X-Request-ID": NAME})
    client.get(f"/api/v1/memory/long_term/{memory.public_id}")
    client.get(f"/api/v1/search?query={WORDS[0]}")
    with (
        pytest.raises(ValueError, match=WORDS[0]),
        telemetry.use_request_id(NAME),
        telemetry.span("broken", {}),
    ):
        raise ValueError(WORDS[0])
    exporting = telemetry.tracer_provider(heard.address)
    exporting.shutdown()
    telemetry.tracer_provider.cache_clear()
    found = spans_in(heard)
    names = {one.name for one in found}
    assert {"POST /api/v1/turns", "operation extract_turn", "broken"} <= names
    assert any("long_term/<" in name for name in names)
    assert {one.trace_id.hex() for one in found} == {NAME}
    assert [one.status.message for one in found if one.name == "broken"] == ["ValueError"]
    assert heard.headers[0]["x-of-ours"] == "secret"
    everything = b"".join(heard.bodies)
    private = (*WORDS, memory.public_id, "mem_", "msg_", "conv_", "turn_", alice.external_id)
    assert not [word for word in private if str(word).encode() in everything]
