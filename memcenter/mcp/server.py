"""The MCP server, which offers our tools over HTTP or stdio by means of the official SDK.

For each call, the server checks the API key and its scope, finds the person whose data the call
concerns, and calls the service in one transaction. Over HTTP, the SDK's ASGI app runs inside our
WSGI server, in an event loop on its own thread.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import orjson
from a2wsgi import ASGIMiddleware
from django.conf import settings
from django.db import close_old_connections
from django.http import HttpResponse
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent
from pydantic import Field
from rest_framework.exceptions import Throttled, ValidationError
from rest_framework.request import Request
from starlette.applications import Starlette

from foundation.errors import ApplicationError, NotAllowed, ProviderError
from foundation.process import once_per_process
from memcenter.mcp import schemas
from memcenter.mcp.tools import SURFACE, TOOLS, ToolDeclaration, ToolPage
from memcenter.rest import people, throttling
from memcenter.rest.base import refuse_unknown
from memcenter.rest.endpoint import Call, ParsedRequest
from memcenter.rest.responses import error_of, log_error, render_json
from ops import audit_log
from ops.access import as_user
from ops.accounts import keys
from ops.models import ApiKey, Scope


class Trouble(ApplicationError):
    """An error that is reported to the agent in the same form as an error of the REST API."""


@dataclass(frozen=True)
class ToolCall(ParsedRequest):
    """A tool call in the form that the REST API's checks expect, but without an HTTP request."""

    @property
    def writes(self) -> bool:
        return self.scope == Scope.WRITE


def key_of(text: str) -> ApiKey | None:
    """Return the API key with this text, or None if it isn't valid or its user isn't active."""
    key = keys.authenticate(text)
    return None if key is None or (key.user is not None and not key.user.is_active) else key


def perform(tool: ToolDeclaration, arguments: Mapping[str, Any], key: ApiKey) -> dict[str, Any]:
    """Run the tool in one transaction; return its result as JSON values.

    Call this function outside the event loop, since it blocks. The only exception raised is
    `Trouble`, since the SDK would send the message of any other exception to the agent.
    """
    close_old_connections()
    try:
        with audit_log.use_actor(f"key {key.pk}", SURFACE):
            answer = _perform(tool, arguments, key)
        result: dict[str, Any] = orjson.loads(render_json(schemas.select(answer, tool.gives())))
        return result
    except Throttled:
        wait = f"Too many calls; try again in {throttling.seconds_left()} seconds."
        raise Trouble(wait, code="rate_limited") from None
    except (ApplicationError, ProviderError, ValidationError) as error:
        raise Trouble(**error_of(error)) from None
    except Exception as error:
        log_error(f"tool {tool.name}", error)
        wrong = "Something went wrong on our side; try again."
        raise Trouble(wrong, code="unavailable") from None
    finally:
        close_old_connections()


def _perform(tool: ToolDeclaration, arguments: Mapping[str, Any], key: ApiKey) -> Mapping[str, Any]:
    data = schemas.parse(arguments, tool.takes)
    if tool.strict:
        refuse_unknown(arguments, tool.takes)
    if tool.scope not in key.scopes:
        raise NotAllowed(f"This key lacks the scope “{tool.scope}”.")
    throttling.count_key(key)
    page = ToolPage.read_from(data)
    parsed = ToolCall(cast(Request, None), key, {}, data, page, tool.scope)
    user = people.resolve_owner(parsed)
    throttling.count_person(key, user, scope=tool.scope)
    call = Call(user=user, parsed=parsed)
    call = replace(call, ready=tool.prepare(call)) if tool.prepare else call
    with as_user(user, changing=tool.writes):
        return tool.act(call)


# Instructions for agents: sent at initialization, served as a prompt, printed in docs/agents.md.
INSTRUCTIONS = (Path(__file__).parent / "guide.txt").read_text(encoding="utf-8")
# What an agent can do about each kind of error.
_ADVICE = {
    "unauthenticated": "Set a living API key (it begins with mc_).",
    "not_allowed": "Don't try again; ask the person for a key that may do this.",
    "not_found": "Look for it with mem.search or mem.list_projects; it may have been forgotten.",
    "memory_off": "Don't try again; the person has switched this off and can switch it on.",
    "being_forgotten": "Everything of this person is being erased; don't write anything.",
    "invalid": "Correct the named fields and call again.",
    "conflict": "Look at the present state before you try again.",
}
WhoCalls = Callable[[Any], ApiKey]


class DeclaredTool(Tool):
    """An SDK tool that runs a tool declared in `tools`, and explains errors to the agent."""

    declared: Any = Field(exclude=True)
    who_calls: Any = Field(exclude=True)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        act = functools.partial(self._act, arguments, context)
        try:
            result = await asyncio.get_running_loop().run_in_executor(_threads(), act)
        except Trouble as trouble:
            fields = (f"\n- {name}: {'; '.join(texts)}" for name, texts in trouble.fields.items())
            advice = _ADVICE.get(trouble.code, "Try again later.")
            error = {"code": trouble.code, "message": trouble.message, "fields": trouble.fields}
            return CallToolResult(
                content=[
                    TextContent(type="text", text=f"{trouble.message}{''.join(fields)}\n{advice}")
                ],
                structured_content={"error": error},
                is_error=True,
            )
        text = TextContent(type="text", text=orjson.dumps(result).decode())
        return CallToolResult(content=[text], structured_content=result)

    def _act(self, arguments: dict[str, Any], context: Context[Any, Any]) -> dict[str, Any]:
        key: ApiKey = self.who_calls(context.request_context.request)
        return perform(self.declared, arguments, key)


def build(who_calls: WhoCalls) -> MCPServer[Any]:
    """Build an MCP server.

    `who_calls` returns the caller's API key for an HTTP request, or for None on stdio.
    """
    server = MCPServer[Any](
        "memory-center",
        title="Memory Center",
        instructions=INSTRUCTIONS,
        version="1",
        tools=[_tool(tool, who_calls) for tool in TOOLS],
        log_level="CRITICAL",
        subscriptions=False,
    )
    about = "When to search, what to store and what to leave out."
    server.prompt("use-memory", title="Use Memory Center", description=about)(lambda: INSTRUCTIONS)
    return server


def _tool(declared: ToolDeclaration, who_calls: WhoCalls) -> Tool:
    parameters = schemas.json_schema(declared.takes())
    if declared.strict:
        parameters["additionalProperties"] = False
    return DeclaredTool(
        fn=declared.act,
        name=declared.name,
        title=declared.title,
        description=declared.description,
        parameters=parameters,
        fn_metadata=FuncMetadata(
            arg_model=ArgModelBase,
            output_schema=schemas.json_schema(declared.gives(), is_result=True),
        ),
        is_async=True,
        context_kwarg=None,
        annotations=declared.annotations,
        declared=declared,
        who_calls=who_calls,
    )


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.LONG_ANSWERS, thread_name_prefix="mcp")


PATH = "/mcp"
_KEY = "memcenter.key"
_BYTES_OF_A_CHARACTER = 12  # at most: a surrogate pair, written as two \u escapes
_START_SECONDS = 30


def max_body_bytes() -> int:
    return settings.MAX_BODY_BYTES + _BYTES_OF_A_CHARACTER * settings.MAX_INGEST_CHARS


def answer(environ: Mapping[str, Any], *, body: bytes, key: ApiKey) -> HttpResponse:
    """Return the MCP server's response to one message, for a client with this API key.

    Raise `ApplicationError` if the server doesn't respond.
    """
    responses: list[HttpResponse] = []

    def start_response(status: str, headers: Any, error: Any = None) -> None:
        given = {name: str(value) for name, value in headers if name.lower() != "content-length"}
        given["Cache-Control"] = "no-store"
        responses[:] = [HttpResponse(status=int(status.split()[0]), headers=given)]

    given = {
        **environ,
        "SCRIPT_NAME": "",
        "PATH_INFO": PATH,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
        _KEY: key,
    }
    whole = b"".join(_bridge()(given, start_response))  # type: ignore[arg-type]
    if not responses:
        raise ApplicationError("Something went wrong on our side.", code="unavailable")
    responses[0].content = whole
    return responses[0]


def _who_calls(request: Any) -> ApiKey:
    key = request.scope["wsgi_environ"].get(_KEY) if request is not None else None
    if not isinstance(key, ApiKey):
        raise Trouble("This API key is not valid.", code="unauthenticated")
    return key


@once_per_process
def _bridge() -> ASGIMiddleware:
    """Return the adapter that runs the SDK's ASGI app inside this WSGI process.

    The adapter is created on first use, since an event loop doesn't survive a fork.
    """
    app = build(_who_calls).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=max_body_bytes(),
        # Django has already checked the host, and the view refuses requests without a key.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="mcp-loop").start()
    ready: Future[None] = Future()
    asyncio.run_coroutine_threadsafe(_live(app, ready), loop)
    ready.result(_START_SECONDS)
    return ASGIMiddleware(app, loop=loop)  # type: ignore[arg-type]


async def _live(app: Starlette, ready: Future[None]) -> None:
    """Start the ASGI app by its lifespan handler, and keep it running until the process ends.

    `ready` is completed once the app has started, or gets the exception if it doesn't start. An app
    that isn't started would answer every message with an error.
    """
    try:
        async with app.router.lifespan_context(app):
            ready.set_result(None)
            await asyncio.Event().wait()
    except BaseException as error:
        if not ready.done():
            ready.set_exception(error)
        raise
