"""HTTP calls to the running product, shared by the tests of all integrations."""

from __future__ import annotations

import json
import time
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.chat_server import ChatServer

TOLD = "My name is Ada and I am allergic to nuts."
ASKED = "What could I cook for dinner?"
_PATIENCE = 240  # seconds, for a busy machine


@dataclass(frozen=True)
class Center:
    """The running product and a user who is new to it."""

    url: str
    key: str
    user_id: str = field(default_factory=lambda: f"ada-{uuid.uuid4().hex[:12]}")

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def get(self, path: str, **query: Any) -> Any:
        return self._ask(f"{path}?{urlencode({'user_id': self.user_id, **query})}", None)

    def post(self, path: str, **body: Any) -> Any:
        return self._ask(path, json.dumps({"user_id": self.user_id, **body}).encode())

    def memories(self) -> list[str]:
        return [row["content"] for row in self.get("/memory/long_term")["results"]]

    def wait_until_known(self, word: str) -> None:
        """Wait until the worker learns a memory with `word`. Fail after `_PATIENCE` seconds."""
        deadline = time.monotonic() + _PATIENCE
        while not any(word in text for text in self.memories()):
            assert time.monotonic() < deadline, f"{word} was not learned: {self.memories()}"
            time.sleep(0.2)

    def _ask(self, path: str, body: bytes | None) -> Any:
        headers = {**self.headers, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", body, headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)


def prompt(model: ChatServer) -> str:
    """Return the messages of the last request to the model, as JSON."""
    return json.dumps(model.asked[-1]["messages"], ensure_ascii=False)
