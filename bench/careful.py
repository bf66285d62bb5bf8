"""A client that repeats a call until it has been answered, as a careful one does."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

_PATIENCE = 120.0
_COMES_BACK = ("being_forgotten", "still running")


class Unanswered(Exception):
    """The product gave no answer within the patience of a person."""


Answer = tuple[int, Any]
Detour = Callable[[dict[str, Any]], Answer | None]


@dataclass
class Client:
    """`detour` may take a write first: to a server that perhaps dies of it and gives nothing."""

    port: int
    key: str
    detour: Detour | None = None

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Asked again until it is answered; 429 and a 409 that passes wait too."""
        once = uuid.uuid4().hex
        until = time.monotonic() + _PATIENCE
        last: object = ""
        first = self._elsewhere(method, path, body, once)
        while time.monotonic() < until:
            try:
                status, answer = first or self._once(method, path, body, query, once)
            except (OSError, http.client.HTTPException) as error:
                last = error
            else:
                waits = status == 409 and any(word in str(answer) for word in _COMES_BACK)
                if status < 500 and status != 429 and not waits:
                    return status, answer
                last = (status, answer)
            first = None
            time.sleep(0.1)
        raise Unanswered(f"{method} {path}: {last}")

    def _elsewhere(self, method: str, path: str, body: Any, once: str) -> Answer | None:
        if self.detour is None or method == "GET" or isinstance(body, bytes):
            return None
        return self.detour(
            {
                "name": f"{method} {'/'.join(path.split('/')[:3])} {body.get('scope', '')}".strip(),
                "method": method,
                "path": f"/api/v1{path}",
                "body": json.dumps(body),
                "type": "application/json",
                "headers": {"Authorization": f"Bearer {self.key}", "Idempotency-Key": once},
            }
        )

    def _once(
        self, method: str, path: str, body: Any, query: dict[str, Any], once: str
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if isinstance(body, bytes):
            headers["Content-Type"] = "multipart/form-data; boundary=mark"
        if method != "GET":
            headers["Idempotency-Key"] = once
        address = f"/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            connection.request(method, address, body=content, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()
