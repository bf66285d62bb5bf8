"""An HTTP client that repeats a call until it gets a final answer."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

_PATIENCE = 120.0  # seconds
_TEMPORARY_CONFLICTS = ("being_forgotten", "still running")


class Unanswered(Exception):
    """The product gave no final answer within `_PATIENCE` seconds."""


Answer = tuple[int, Any]
Detour = Callable[[dict[str, Any]], Answer | None]


@dataclass
class Client:
    """Repeats calls until they are answered.

    `detour` sends some writes to a process first that may be killed before it answers.
    """

    port: int
    key: str
    detour: Detour | None = None

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        """Return the status and body of the first final answer.

        Retry after connection errors, 5xx, 429 and temporary 409 answers. Raise `Unanswered` after
        `_PATIENCE` seconds.
        """
        idempotency_key = uuid.uuid4().hex
        until = time.monotonic() + _PATIENCE
        last: object = ""
        first = self._take_detour(method, path, body, idempotency_key)
        while time.monotonic() < until:
            try:
                status, answer = first or self._once(method, path, body, query, idempotency_key)
            except (OSError, http.client.HTTPException) as error:
                last = error
            else:
                is_temporary = status == 409 and any(
                    word in str(answer) for word in _TEMPORARY_CONFLICTS
                )
                if status < 500 and status != 429 and not is_temporary:
                    return status, answer
                last = (status, answer)
            first = None
            time.sleep(0.1)
        raise Unanswered(f"{method} {path}: {last}")

    def _take_detour(
        self, method: str, path: str, body: Any, idempotency_key: str
    ) -> Answer | None:
        if self.detour is None or method == "GET" or isinstance(body, bytes):
            return None
        return self.detour(
            {
                "name": f"{method} {'/'.join(path.split('/')[:3])} {body.get('scope', '')}".strip(),
                "method": method,
                "path": f"/api/v1{path}",
                "body": json.dumps(body),
                "type": "application/json",
                "headers": {
                    "Authorization": f"Bearer {self.key}",
                    "Idempotency-Key": idempotency_key,
                },
            }
        )

    def _once(
        self, method: str, path: str, body: Any, query: dict[str, Any], idempotency_key: str
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if isinstance(body, bytes):
            headers["Content-Type"] = "multipart/form-data; boundary=mark"
        if method != "GET":
            headers["Idempotency-Key"] = idempotency_key
        address = f"/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            connection.request(method, address, body=content, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()
