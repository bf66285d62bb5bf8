"""The asynchronous client."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self, Unpack, cast

import anyio
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


class AsyncMemoryCenter:
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.user_id = user_id
        self._retries = retries
        self._http = httpx.AsyncClient(transport=transport, **options(base_url, key, timeout))

    def for_user(self, user_id: str) -> Self:
        """Return a client for another user, which shares the connections of this client."""
        other = copy.copy(self)
        other.user_id = user_id
        return other

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Make any call to a path below `/api/v1` and return its JSON."""
        response = await self._send(Call(method, path, query or {}, body, headers or {}))
        return response.json() if response.content else None

    async def pages(self, path: str, query: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield the items of a list, page by page."""
        asked = {"limit": 100, **(query or {})}
        while True:
            page = await self.request("GET", path, query=asked)
            for item in page["results"]:
                yield item
            asked["cursor"] = cursor_of(page)
            if asked["cursor"] is None:
                return

    async def record_turn(self, **turn: Unpack[types.TurnInputRequest]) -> types.Recorded:
        """Record a user message and its answer. `op_ids` are the operations that learn from it."""
        return cast(types.Recorded, await self._post("/turns", turn))

    async def context(self, **asked: Unpack[types.ContextInputRequest]) -> types.Context:
        """Return the memory block and the latest messages (the window) for the next prompt."""
        return cast(types.Context, await self._post("/memory/context", asked))

    async def search(self, **asked: Unpack[types.SearchGetQuery]) -> types.SearchAnswer:
        return cast(types.SearchAnswer, await self.request("GET", "/search", query=asked))

    def memories(self, **asked: Unpack[types.LongTermGetQuery]) -> AsyncIterator[types.Memory]:
        """Yield memories, by default the active ones, newest first. `limit` is the page size."""
        return self.pages("/memory/long_term", asked)

    async def add_memory(
        self, **memory: Unpack[types.MemoryInputShapeRequest]
    ) -> types.WrittenMemory:
        """Write a memory. `result` says whether it was created, updated or skipped."""
        return cast(types.WrittenMemory, await self._post("/memory/long_term", memory))

    async def add_memories(
        self, memories: list[types.MemoryItemRequest]
    ) -> list[types.BatchResult]:
        """Write up to 100 memories. Return their results in order; a refused memory has one too."""
        body = {"memories": memories}
        found = await self._post("/memory/long_term/batch", body)
        return cast(types.BatchResults, found)["results"]

    async def get_memory(self, memory_id: str) -> types.Memory:
        return cast(types.Memory, await self.request("GET", _memory(memory_id)))

    async def change_memory(
        self, memory_id: str, **changes: Unpack[types.PatchedMemoryChangeRequest]
    ) -> types.Memory:
        return cast(
            types.Memory, await self.request("PATCH", _memory(memory_id), body=dict(changes))
        )

    async def delete_memory(self, memory_id: str) -> types.Accepted:
        """Hide a memory at once, and start the operation that erases it everywhere."""
        return cast(types.Accepted, await self.request("DELETE", _memory(memory_id)))

    async def recycle_memory(self, memory_id: str) -> types.Memory:
        """Move a memory to the recycle bin."""
        query = {"recycle": True}
        return cast(types.Memory, await self.request("DELETE", _memory(memory_id), query=query))

    async def forget(
        self, **what: Unpack[types.ForgetInputRequest]
    ) -> types.ForgetAnswer | types.ForgetQuestion:
        """Erase the data of a scope. Nothing is erased unless the status is `accepted`."""
        answer = await self._post("/memory/forget", what)
        return cast(types.ForgetAnswer | types.ForgetQuestion, answer)

    async def flush(self, **what: Unpack[types.FlushInputRequest]) -> types.Flushed:
        """Save memories from messages that are about to leave the context."""
        return cast(types.Flushed, await self._post("/memory/flush", what))

    async def export(self, **what: Unpack[types.ExportInputRequest]) -> bytes:
        """Export one conversation or all data of the user; return the content of the file."""
        started = await self._post("/memory/export", what)
        await self.wait(started["op_id"])
        path = f"/memory/export{address(started['op_id'])}/download"
        return (await self._send(Call("GET", path))).content

    async def operation(self, op_id: str) -> types.Operation:
        return cast(types.Operation, await self.request("GET", _operation(op_id)))

    async def receipt(self, op_id: str) -> types.Receipt:
        """Return the receipt of a finished forget."""
        return cast(types.Receipt, await self.request("GET", f"{_operation(op_id)}/receipt"))

    async def wait(self, op_id: str, *, timeout: float = 120.0) -> types.Operation:
        """Wait until an operation succeeds, and return it.

        Raise `MemoryCenterError` if it fails, and `TimeoutError` after `timeout` seconds.
        """
        until, pause = time.monotonic() + timeout, 0.2
        while True:
            operation = await self.operation(op_id)
            if operation["status"] in OVER:
                return check_ended(operation)
            if time.monotonic() + pause > until:
                raise TimeoutError(f"{op_id} is still {operation['status']}.")
            await anyio.sleep(pause)
            pause = min(2.0, pause * 1.5)

    async def events(self, op_id: str) -> AsyncIterator[types.Operation]:
        """Yield an operation after each change until it ends. Reconnect if the stream breaks."""
        reader, retries = EventReader(), Retries(self._retries)
        while True:
            call = Call("GET", f"{_operation(op_id)}/events", headers=reader.begin())
            try:
                async with self._http.stream(**call.arguments(self.user_id)) as response:
                    if response.status_code == 204:
                        return
                    if not response.is_success:
                        await response.aread()
                        raise refused(response)
                    async for part in response.aiter_bytes():
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
            await anyio.sleep(pause)

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self.request("POST", path, body=body)

    async def _send(self, call: Call) -> httpx.Response:
        arguments, retries = call.arguments(self.user_id), Retries(self._retries)
        while True:
            try:
                response = await self._http.request(**arguments)
                if response.is_success:
                    return response
                pause = retries.pause(refused(response))
            except LOST as error:
                pause = retries.pause(lost(error))
            await anyio.sleep(pause)


def _memory(memory_id: str) -> str:
    return f"/memory/long_term{address(memory_id)}"


def _operation(op_id: str) -> str:
    return f"/memory/ops{address(op_id)}"
