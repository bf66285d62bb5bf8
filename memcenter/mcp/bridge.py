"""Run the SDK's ASGI app under our WSGI server, in an event loop on its own thread."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from a2wsgi import ASGIMiddleware
from django.conf import settings
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from memcenter.lib.errors import ApplicationError
from memcenter.mcp import server
from memcenter.mcp.calls import Trouble
from ops.models import ApiKey

PATH = "/mcp"
_KEY = "memcenter.key"
_BYTES_OF_A_CHARACTER = 12  # where a client writes it as two \u escapes
_START_SECONDS = 30


@dataclass(frozen=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def max_body_bytes() -> int:
    return settings.MAX_BODY_BYTES + _BYTES_OF_A_CHARACTER * settings.MAX_INGEST_CHARS


def answer(environ: Mapping[str, Any], *, body: bytes, key: ApiKey) -> Answer:
    """Return the server's answer to one message sent with this key."""
    told: list[Any] = []

    def start_response(status: str, headers: Any, error: Any = None) -> None:
        told[:] = [int(status.split()[0]), tuple((str(name), str(one)) for name, one in headers)]

    given = {
        **environ,
        "SCRIPT_NAME": "",
        "PATH_INFO": PATH,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
        _KEY: key,
    }
    pieces = _bridge()(given, start_response)  # type: ignore[arg-type]
    whole = b"".join(pieces)
    if not told:
        raise ApplicationError("Something went wrong on our side.", code="unavailable")
    return Answer(told[0], told[1], whole)


def _who_calls(request: Any) -> ApiKey:
    key = request.scope["wsgi_environ"].get(_KEY) if request is not None else None
    if not isinstance(key, ApiKey):
        raise Trouble("unauthenticated", "This API key is not valid.")
    return key


_building = threading.Lock()


def _bridge() -> ASGIMiddleware:
    """Return this process's bridge, created on first use: an event loop doesn't survive a fork."""
    with _building:
        return _built()


@functools.cache
def _built() -> ASGIMiddleware:
    app = server.build(_who_calls).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=max_body_bytes(),
        # Django has checked the host, and requests without a key don't get here.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="mcp-loop").start()
    ready: Future[None] = Future()
    asyncio.run_coroutine_threadsafe(_live(app, ready), loop)
    ready.result(_START_SECONDS)
    return ASGIMiddleware(app, loop=loop)  # type: ignore[arg-type]


async def _live(app: Starlette, ready: Future[None]) -> None:
    """Run the app's lifespan, without which it answers every message with an error."""
    try:
        async with app.router.lifespan_context(app):
            ready.set_result(None)
            await asyncio.Event().wait()
    except BaseException as error:
        if not ready.done():
            ready.set_exception(error)
        raise
