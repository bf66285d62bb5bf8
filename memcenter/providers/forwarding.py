"""Forward a request to the configured model's server, and its response back, unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache

import httpx2

from memcenter import logs
from memcenter.lib.errors import ProviderError
from memcenter.providers.openai_compatible import Endpoint

_CONNECT_SECONDS = 10.0


@dataclass
class Forwarded:
    """The server's response: read `chunks` once, then `close`.

    Reading raises `ProviderError` if the response breaks off.
    """

    status: int
    content_type: str
    _response: httpx2.Response
    _open: ExitStack = field(repr=False)

    @property
    def streams(self) -> bool:
        return self.content_type.startswith("text/event-stream")

    def chunks(self) -> Iterator[bytes]:
        try:
            yield from self._response.iter_bytes()
        except httpx2.HTTPError:
            raise ProviderError("The model’s answer was cut off.", retryable=True) from None

    def close(self) -> None:
        self._open.close()


def forward(path: str, *, endpoint: Endpoint, body: bytes | None = None) -> Forwarded:
    """POST `body` (GET without one) below the endpoint's address. Raises `ProviderError`."""
    opened = ExitStack()
    url = f"{endpoint.base_url.rstrip('/')}/{path}"
    call = _client(endpoint.timeout).stream(
        "GET" if body is None else "POST", url, content=body, headers=_headers(endpoint)
    )
    try:
        response = opened.enter_context(call)
    except httpx2.TimeoutException:
        raise ProviderError("The model did not answer in time.", retryable=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise ProviderError("The model's server can't be reached.", retryable=True) from None
    return Forwarded(
        response.status_code, response.headers.get("content-type", ""), response, opened
    )


def _headers(endpoint: Endpoint) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {endpoint.api_key or 'none'}",
        "Content-Type": "application/json",
        **logs.passed_on(),
    }


@cache
def _client(timeout: float) -> httpx2.Client:
    """Return a client with kept connections that follows no redirects, which would leak the key."""
    return httpx2.Client(timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)))
