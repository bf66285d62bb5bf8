"""The code of both clients that needs no connection: errors, retries, URLs, event streams."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from memcenter_client.types import Operation

VERSION = "0.1.0"
OVER = ("succeeded", "failed", "cancelled")
LOST = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)
LONGEST_PAUSE = 60.0  # seconds; the API counts its rate limits per minute


class MemoryCenterError(Exception):
    """A refused call, a call without an answer, or an operation that did not succeed.

    `code` is the error code of the API (`invalid`, `not_found`, `rate_limited`, …), `unreachable`
    if there is no answer, `http_502` or similar if the answer isn't from the API, and `failed` or
    `cancelled` for an operation. `field` is the first field that the API names, or None.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        fields: Mapping[str, list[str]] | None = None,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.fields = dict(fields or {})
        self.field = next(iter(self.fields), None)
        self.request_id = request_id
        self.retry_after = retry_after


def lost(error: Exception) -> MemoryCenterError:
    return MemoryCenterError("unreachable", str(error) or type(error).__name__)


def refused(response: httpx.Response) -> MemoryCenterError:
    try:
        error = response.json()["error"]
        code, message, fields = str(error["code"]), str(error["message"]), error.get("fields")
    except (ValueError, KeyError, TypeError):
        code, message, fields = f"http_{response.status_code}", response.reason_phrase, None
    after = response.headers.get("Retry-After", "")
    return MemoryCenterError(
        code,
        message,
        status=response.status_code,
        fields=fields,
        request_id=response.headers.get("X-Request-ID", ""),
        retry_after=float(after) if after.isdecimal() else None,
    )


class Retries:
    """Decides whether a failed call is repeated, and after how many seconds."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._failed = 0
        self._was_lost = False

    def succeeded(self) -> None:
        self._failed = 0

    def pause(self, error: MemoryCenterError) -> float:
        """Return the seconds to wait. Raise the error if the call must not be repeated."""
        self._failed += 1
        pause = error.retry_after or min(8.0, 0.25 * 2**self._failed)
        if self._failed > self._most or pause > LONGEST_PAUSE or not self._is_passing(error):
            raise error
        return pause

    def _is_passing(self, error: MemoryCenterError) -> bool:
        if error.status is None:
            self._was_lost = True
            return True
        # The first call, whose answer was lost, may still be running.
        still_running = self._was_lost and error.code == "conflict"
        return error.status in (429, 503) or still_running


@dataclass(frozen=True)
class Call:
    """The method, path, query, body and headers of a call."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, user_id: str | None) -> dict[str, Any]:
        """Return the arguments of `httpx.Client.request`, with `user_id` in the query or body.

        Use the same arguments for every repetition, since they contain the idempotency key.
        """
        query = {name: value for name, value in self.query.items() if value is not None}
        headers, body = dict(self.headers), self.body
        user = {} if user_id is None else {"user_id": user_id}
        if self.method in ("GET", "DELETE"):
            query = {**user, **query}
        else:
            body = {**user, **(body or {})}
        if self.method != "GET":
            headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        given = {"params": query, "json": body, "headers": headers}
        return {"method": self.method, "url": self.path.lstrip("/"), **given}


class EventReader:
    """Parses operations from a stream of server-sent events, which may arrive in any chunks."""

    def __init__(self) -> None:
        self.seen = ""
        self.pause = 1.0
        self._rest = b""

    def begin(self) -> dict[str, str]:
        """Return the headers of a stream that continues after the last event."""
        self._rest = b""
        return {"Last-Event-ID": self.seen} if self.seen else {}

    def read(self, part: bytes) -> Iterator[Operation]:
        *blocks, self._rest = (self._rest + part).split(b"\n\n")
        for block in blocks:
            lines = (line.partition(": ") for line in block.decode().split("\n"))
            fields = {name: value for name, _, value in lines}
            self.pause = int(fields.get("retry", self.pause * 1000)) / 1000
            if "data" in fields:
                self.seen = fields.get("id", self.seen)
                yield cast(Operation, json.loads(fields["data"]))


def options(base_url: str, key: str, timeout: float) -> dict[str, Any]:
    """Return the arguments of `httpx.Client`."""
    headers = {"Authorization": f"Bearer {key}", "User-Agent": f"memcenter-client/{VERSION}"}
    root = base_url.rstrip("/").removesuffix("/api/v1")
    return {"base_url": f"{root}/api/v1/", "headers": headers, "timeout": timeout}


def address(*parts: str) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def cursor_of(page: Mapping[str, Any]) -> str | None:
    """Return the cursor from the URL of the next page (whose host may be internal), or None."""
    found = parse_qs(urlsplit(page["next"] or "").query).get("cursor")
    return found[0] if found else None


def check_ended(operation: Operation) -> Operation:
    """Return the operation. Raise `MemoryCenterError` unless it has succeeded."""
    if operation["status"] == "succeeded":
        return operation
    raise MemoryCenterError(operation["status"], operation["last_error"] or operation["op_id"])
