"""What the Python client makes of answers: errors, retries, pages, streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from memcenter_client import AsyncMemoryCenter, MemoryCenter, MemoryCenterError

Answer = httpx.Response | Exception


class Server:
    """Gives one answer after the other and keeps what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> MemoryCenter:
        options = {"user_id": "ana", **options}
        transport = httpx.MockTransport(self)
        return MemoryCenter("http://center", "mc_key", transport=transport, **options)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the synchronous client would have waited."""
    waited: list[float] = []
    monkeypatch.setattr("memcenter_client.synchronous.time.sleep", waited.append)
    return waited


def refusal(status: int, code: str, **headers: str) -> httpx.Response:
    told = {"code": code, "message": "No.", "fields": {"content": ["No."]}}
    return httpx.Response(status, json={"error": told, "detail": "No."}, headers=headers)


def event(number: int, status: str) -> bytes:
    data = json.dumps({"op_id": "op_1", "status": status})
    return f"id: {number}\nevent: operation\ndata: {data}\n\n".encode()


def test_a_call_names_the_key_and_the_person() -> None:
    server = Server(httpx.Response(200, json={"op_id": "op_1"}), httpx.Response(201, json={}))
    with server.client() as center:
        center.operation("op_1")
        center.for_user("ben").add_memory(content="Plays chess")
    read, written = server.asked
    assert str(read.url) == "http://center/api/v1/memory/ops/op_1?user_id=ana"
    assert read.headers["Authorization"] == "Bearer mc_key"
    assert "Idempotency-Key" not in read.headers and "Idempotency-Key" in written.headers
    assert json.loads(written.content) == {"user_id": "ben", "content": "Plays chess"}


def test_a_refusal_is_one_error_that_names_field_and_request() -> None:
    server = Server(refusal(400, "invalid", **{"X-Request-ID": "r-1"}))
    with server.client() as center, pytest.raises(MemoryCenterError) as caught:
        center.add_memory(content="")
    error = caught.value
    assert (error.status, error.code, error.message) == (400, "invalid", "No.")
    assert (error.field, error.request_id) == ("content", "r-1")


def test_an_answer_that_is_not_the_apis_is_the_same_error() -> None:
    server = Server(httpx.Response(502, text="<html>"))
    with server.client() as center, pytest.raises(MemoryCenterError, match="http_502"):
        center.get_memory("mem_1")


def test_what_passes_is_tried_again_when_the_server_says(pauses: list[float]) -> None:
    limited = refusal(429, "rate_limited", **{"Retry-After": "7"})
    server = Server(limited, refusal(503, "unavailable"), httpx.Response(200, json={}))
    with server.client() as center:
        center.add_memory(content="Plays chess")
    assert pauses == [7, 1]
    assert len({request.headers["Idempotency-Key"] for request in server.asked}) == 1


def test_a_lost_connection_is_tried_again_until_the_first_call_is_done(
    pauses: list[float],
) -> None:
    lost, running = httpx.ReadTimeout("late"), refusal(409, "conflict")
    with Server(lost, running, httpx.Response(200, json={"id": "mem_1"})).client() as center:
        assert center.add_memory(content="Plays chess")["id"] == "mem_1"
    assert len(pauses) == 2


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([httpx.ConnectError("refused")] * 3, "unreachable"),
        ([refusal(503, "unavailable")] * 3, "unavailable"),
        ([refusal(409, "conflict")], "conflict"),
        ([refusal(500, "unavailable")], "unavailable"),
        ([refusal(429, "rate_limited", **{"Retry-After": "86400"})], "rate_limited"),
    ],
)
def test_trying_again_has_an_end(answers: list[Answer], code: str, pauses: list[float]) -> None:
    server = Server(*answers)
    with server.client(retries=2) as center, pytest.raises(MemoryCenterError) as caught:
        center.get_memory("mem_1")
    assert caught.value.code == code and not server.answers
    assert len(pauses) == len(answers) - 1


def test_pages_follow_one_another_whatever_host_the_server_names() -> None:
    def page(memory_id: str, following: str | None) -> httpx.Response:
        return httpx.Response(200, json={"results": [{"id": memory_id}], "next": following})

    inside = "http://inside:1/api/v1/memory/long_term?cursor=W2Z%3D"
    server = Server(page("mem_1", inside), page("mem_2", None))
    with server.client() as center:
        assert [one["id"] for one in center.memories(kind="fact")] == ["mem_1", "mem_2"]
    first, second = (request.url for request in server.asked)
    assert second.host == "center" and second.params["cursor"] == "W2Z="
    assert first.params["limit"] == "100" and second.params["kind"] == "fact"


def test_a_stream_goes_on_after_the_last_event_that_was_seen(pauses: list[float]) -> None:
    cut = b"retry: 500\n\n" + event(1, "pending") + event(2, "running")[:20]
    server = Server(
        httpx.Response(200, content=cut),
        httpx.ReadError("cut"),
        httpx.Response(200, content=event(2, "running") + event(3, "succeeded")),
    )
    with server.client() as center:
        told = [one["status"] for one in center.events("op_1")]
    assert told == ["pending", "running", "succeeded"] and pauses == [0.5, 0.5]
    assert [one.headers.get("Last-Event-ID") for one in server.asked] == [None, "1", "1"]


def test_a_stream_whose_end_was_seen_is_over() -> None:
    with Server(httpx.Response(204)).client() as center:
        assert list(center.events("op_1")) == []


def test_a_stream_that_is_refused_is_an_error() -> None:
    server = Server(refusal(404, "not_found"))
    with server.client() as center, pytest.raises(MemoryCenterError, match="not_found"):
        list(center.events("op_1"))


@pytest.mark.parametrize(
    ("status", "error"), [("failed", MemoryCenterError), ("running", TimeoutError)]
)
def test_waiting_ends_without_success(
    status: str, error: type[Exception], pauses: list[float]
) -> None:
    told = {"op_id": "op_1", "status": status, "last_error": "No model."}
    with Server(httpx.Response(200, json=told)).client() as center, pytest.raises(error):
        center.wait("op_1", timeout=0)
    assert pauses == []


def test_the_asynchronous_client_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    limited = refusal(429, "rate_limited", **{"Retry-After": "7"})
    server = Server(
        limited,
        httpx.Response(200, json={"results": [{"id": "mem_1"}], "next": None}),
        httpx.Response(200, content=event(1, "succeeded")),
    )

    async def calls() -> list[Any]:
        handler: Callable[[httpx.Request], httpx.Response] = server
        transport = httpx.MockTransport(handler)
        async with AsyncMemoryCenter("http://center", "mc_key", transport=transport) as center:
            found: list[Any] = [one["id"] async for one in center.memories()]
            return found + [one["status"] async for one in center.events("op_1")]

    assert asyncio.run(calls()) == ["mem_1", "succeeded"] and pauses == [7]
