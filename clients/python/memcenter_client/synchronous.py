"""The synchronous client: asynchronous.py, rewritten by `make clients`."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self, Unpack, cast

import httpx

from memcenter_client import types
from memcenter_client.protocol import (
    LOST,
    OVER,
    Call,
    EventReader,
    MemoryCenterError,
    Retries,
    address,
    check_ended,
    cursor_of,
    lost,
    options,
    refused,
)


class MemoryCenter:
    """A client of Memory Center. With `user_id`, its calls are about this user.

    After 429, 503 or a lost connection a call is repeated up to `retries` times. Writes carry an
    idempotency key, so they are executed only once. Every method raises `MemoryCenterError` if its
    call fails.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        user_id: str | None = None,
        *,
        retries: int = 3,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.user_id = user_id
        self._retries = retries
        self._http = httpx.Client(transport=transport, **options(base_url, key, timeout))

    def for_user(self, user_id: str) -> Self:
        """Return a client for another user, which shares the connections of this client."""
        other = copy.copy(self)
        other.user_id = user_id
        return other

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Make any call to a path below `/api/v1` and return its JSON."""
        response = self._send(Call(method, path, query or {}, body, headers or {}))
        return response.json() if response.content else None

    def pages(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Yield the items of a list, page by page."""
        asked = {"limit": 100, **(query or {})}
        while True:
            page = self.request("GET", path, query=asked)
            for item in page["results"]:
                yield item
            asked["cursor"] = cursor_of(page)
            if asked["cursor"] is None:
                return

    def record_turn(self, **turn: Unpack[types.TurnInputRequest]) -> types.Recorded:
        """Record a user message and its answer. `op_ids` are the operations that learn from it."""
        return cast(types.Recorded, self._post("/turns", turn))

    def context(self, **asked: Unpack[types.ContextInputRequest]) -> types.Context:
        """Return the memory block and the latest messages (the window) for the next prompt."""
        return cast(types.Context, self._post("/memory/context", asked))

    def search(self, **asked: Unpack[types.SearchGetQuery]) -> types.SearchAnswer:
        return cast(types.SearchAnswer, self.request("GET", "/search", query=asked))

    def memories(self, **asked: Unpack[types.LongTermGetQuery]) -> Iterator[types.Memory]:
        """Yield memories, by default the active ones, newest first. `limit` is the page size."""
        return self.pages("/memory/long_term", asked)

    def add_memory(
        self, **memory: Unpack[types.MemoryInputShapeRequest]
    ) -> types.WrittenMemory:
        """Write a memory. `result` says whether it was created, updated or skipped."""
        return cast(types.WrittenMemory, self._post("/memory/long_term", memory))

    def add_memories(
        self, memories: list[types.MemoryItemRequest]
    ) -> list[types.BatchResult]:
        """Write up to 100 memories. Return their results in order; a refused memory has one too."""
        body = {"memories": memories}
        found = self._post("/memory/long_term/batch", body)
        return cast(types.BatchResults, found)["results"]

    def get_memory(self, memory_id: str) -> types.Memory:
        return cast(types.Memory, self.request("GET", _memory(memory_id)))

    def change_memory(
        self, memory_id: str, **changes: Unpack[types.PatchedMemoryChangeRequest]
    ) -> types.Memory:
        return cast(
            types.Memory, self.request("PATCH", _memory(memory_id), body=dict(changes))
        )

    def delete_memory(self, memory_id: str) -> types.Accepted:
        """Hide a memory at once, and start the operation that erases it everywhere."""
        return cast(types.Accepted, self.request("DELETE", _memory(memory_id)))

    def recycle_memory(self, memory_id: str) -> types.Memory:
        """Move a memory to the recycle bin."""
        query = {"recycle": True}
        return cast(types.Memory, self.request("DELETE", _memory(memory_id), query=query))

    def forget(
        self, **what: Unpack[types.ForgetInputRequest]
    ) -> types.ForgetAnswer | types.ForgetQuestion:
        """Erase the data of a scope. Nothing is erased unless the status is `accepted`."""
        answer = self._post("/memory/forget", what)
        return cast(types.ForgetAnswer | types.ForgetQuestion, answer)

    def flush(self, **what: Unpack[types.FlushInputRequest]) -> types.Flushed:
        """Save memories from messages that are about to leave the context."""
        return cast(types.Flushed, self._post("/memory/flush", what))

    def export(self, **what: Unpack[types.ExportInputRequest]) -> bytes:
        """Export one conversation or all data of the user; return the content of the file."""
        started = self._post("/memory/export", what)
        self.wait(started["op_id"])
        path = f"/memory/export{address(started['op_id'])}/download"
        return (self._send(Call("GET", path))).content

    def operation(self, op_id: str) -> types.Operation:
        return cast(types.Operation, self.request("GET", _operation(op_id)))

    def receipt(self, op_id: str) -> types.Receipt:
        """Return the receipt of a finished forget."""
        return cast(types.Receipt, self.request("GET", f"{_operation(op_id)}/receipt"))

    def wait(self, op_id: str, *, timeout: float = 120.0) -> types.Operation:
        """Wait until an operation succeeds, and return it.

        Raise `MemoryCenterError` if it fails, and `TimeoutError` after `timeout` seconds.
        """
        until, pause = time.monotonic() + timeout, 0.2
        while True:
            operation = self.operation(op_id)
            if operation["status"] in OVER:
                return check_ended(operation)
            if time.monotonic() + pause > until:
                raise TimeoutError(f"{op_id} is still {operation['status']}.")
            time.sleep(pause)
            pause = min(2.0, pause * 1.5)

    def events(self, op_id: str) -> Iterator[types.Operation]:
        """Yield an operation after each change until it ends. Reconnect if the stream breaks."""
        reader, retries = EventReader(), Retries(self._retries)
        while True:
            call = Call("GET", f"{_operation(op_id)}/events", headers=reader.begin())
            try:
                with self._http.stream(**call.arguments(self.user_id)) as response:
                    if response.status_code == 204:
                        return
                    if not response.is_success:
                        response.read()
                        raise refused(response)
                    for part in response.iter_bytes():
                        for operation in reader.read(part):
                            retries.succeeded()
                            yield operation
                            if operation["status"] in OVER:
                                return
                pause = reader.pause
            except LOST as error:
                pause = retries.pause(lost(error))
            except MemoryCenterError as error:
                pause = retries.pause(error)
            time.sleep(pause)

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.request("POST", path, body=body)

    def _send(self, call: Call) -> httpx.Response:
        arguments, retries = call.arguments(self.user_id), Retries(self._retries)
        while True:
            try:
                response = self._http.request(**arguments)
                if response.is_success:
                    return response
                pause = retries.pause(refused(response))
            except LOST as error:
                pause = retries.pause(lost(error))
            time.sleep(pause)


def _memory(memory_id: str) -> str:
    return f"/memory/long_term{address(memory_id)}"


def _operation(op_id: str) -> str:
    return f"/memory/ops{address(op_id)}"
