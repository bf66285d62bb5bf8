"""A chat backend that talks to a running product about one of its users, over HTTP only."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import urlencode

from tests.live import Product

_PATIENCE = 240.0  # seconds; a crowded machine is slow, not wrong
_OVER = {"succeeded", "failed", "cancelled"}


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: Message


@dataclass(frozen=True)
class Caller:
    product: Product
    user_id: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def get(self, path: str, **query: Any) -> Any:
        return self._ok(self.ask("GET", path, query={"user_id": self.user_id, **query}))

    def post(self, path: str, **body: Any) -> Any:
        return self._ok(self.ask("POST", path, body={"user_id": self.user_id, **body}))

    def patch(self, path: str, **body: Any) -> Any:
        return self._ok(self.ask("PATCH", path, body={"user_id": self.user_id, **body}))

    def ask(self, method: str, path: str, *, body: Any = None, query: Any = None) -> Answer:
        """Whatever it answers; paths below `/api/v1`."""
        address = f"{self.product.address}/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        request = urllib.request.Request(
            address,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.product.api_key}",
                "Content-Type": "application/json",
                **self.headers,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return Answer(reply.status, json.load(reply), reply.headers)
        except urllib.error.HTTPError as error:
            return Answer(error.code, json.load(error), error.headers)

    def record(self, text: str, *, conversation: str = "first", **more: Any) -> Any:
        """Record a turn and go on."""
        said = {"conversation_id": conversation, "user_message": text, "assistant_message": "OK."}
        return self.post("/turns", **said, **more)

    def tell(self, text: str, *, conversation: str = "first", **more: Any) -> Any:
        """Record a turn and wait until it has been learned from."""
        recorded = self.record(text, conversation=conversation, **more)
        self.finished(recorded["op_ids"])
        return recorded

    def finished(self, op_ids: Iterable[str]) -> list[Any]:
        """The operations, once each of them has succeeded."""
        return [self._finished(op_id) for op_id in op_ids]

    def memories(self, **query: Any) -> list[str]:
        """What is remembered, oldest first."""
        rows = self.get("/memory/long_term", limit=100, **query)["results"]
        return [row["content"] for row in reversed(rows)]

    def recalled(self, message: str, **more: Any) -> str:
        """The block that would go into the prompt of a new conversation."""
        return str(self.post("/memory/context", message=message, **more)["block"])

    def found(self, query: str, types: str, **more: Any) -> list[str]:
        hits = self.get("/search", query=query, types=types, **more)["results"]
        return [hit["text"] for hit in hits]

    def _finished(self, op_id: str) -> Any:
        operation = until(lambda: self._over(op_id), what=f"{op_id} to end")
        assert operation["status"] == "succeeded", operation
        return operation

    def _over(self, op_id: str) -> Any:
        """None also while a store that was killed is coming back: clients are told to try again."""
        told = self.ask("GET", f"/memory/ops/{op_id}", query={"user_id": self.user_id})
        operation = None if told.status == 503 else self._ok(told)
        return operation if operation and operation["status"] in _OVER else None

    def _ok(self, answer: Answer) -> Any:
        assert answer.status < 400, answer.body
        return answer.body


def until(look: Callable[[], Any], *, what: str) -> Any:
    """What `look` gives once it gives something."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError(f"Waited in vain for {what}.")
