"""The MCP server: the declared tools under the official SDK, the same over HTTP and stdio."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from django.conf import settings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp_types import CallToolResult, TextContent
from pydantic import Field, ValidationError

from memcenter.mcp.calls import Trouble, perform
from memcenter.mcp.tools import TOOLS, Declared
from ops.models import ApiKey

# How an agent uses the server best: sent at the greeting, served as a prompt, printed in
# docs/agents.md.
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
    """An SDK tool that runs a declared tool and tells the agent how to react to errors."""

    declared: Any = Field(exclude=True)
    who_calls: Any = Field(exclude=True)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        try:
            given = self.declared.takes.model_validate(self.fn_metadata.pre_parse_json(arguments))
        except ValidationError as error:
            return _told(_not_valid(error))
        act = functools.partial(self._act, given, context)
        try:
            result = await asyncio.get_running_loop().run_in_executor(_threads(), act)
        except Trouble as trouble:
            return _told(trouble)
        return self.fn_metadata.convert_result(result) if convert_result else result

    def _act(self, given: Any, context: Context[Any, Any]) -> Any:
        key: ApiKey = self.who_calls(context.request_context.request)
        return perform(self.declared, given, key)


def build(who_calls: WhoCalls) -> MCPServer[Any]:
    """Build a server. `who_calls` returns the caller, given the HTTP request or None."""
    server = MCPServer[Any](
        "memory-center",
        title="Memory Center",
        instructions=INSTRUCTIONS,
        version="1",
        tools=[_tool(one, who_calls) for one in TOOLS],
        log_level="CRITICAL",
        subscriptions=False,
    )
    about = "When to search, what to store and what to leave out."
    server.prompt("use-memory", title="Use Memory Center", description=about)(lambda: INSTRUCTIONS)
    return server


def _tool(one: Declared, who_calls: WhoCalls) -> Tool:
    return DeclaredTool(
        fn=one.act,
        name=one.name,
        title=one.title,
        description=one.description,
        parameters=one.takes.model_json_schema(by_alias=True),
        fn_metadata=FuncMetadata(arg_model=one.takes, output_model=one.gives),
        is_async=True,
        context_kwarg=None,
        annotations=one.annotations,
        declared=one,
        who_calls=who_calls,
    )


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads that run tools, each with its own database connection."""
    return ThreadPoolExecutor(settings.LONG_ANSWERS, thread_name_prefix="mcp")


def _not_valid(error: ValidationError) -> Trouble:
    """Return the errors by field, without the input, which belongs to the caller."""
    fields: dict[str, list[str]] = {}
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        name, *inner = (str(part) for part in one["loc"]) if one["loc"] else ("arguments",)
        place = f"{'.'.join(inner)}: " if inner else ""
        fields.setdefault(name, []).append(place + one["msg"].removeprefix("Value error, "))
    name, texts = next(iter(fields.items()))
    return Trouble("invalid", f"{name}: {texts[0]}", fields)


def _told(trouble: Trouble) -> CallToolResult:
    """Return the error in the REST API's shape, and as text that tells an agent what to do next."""
    fields = "".join(f"\n- {name}: {'; '.join(told)}" for name, told in trouble.fields.items())
    advice = _ADVICE.get(trouble.code, "Try again later.")
    error = {"code": trouble.code, "message": trouble.message, "fields": dict(trouble.fields)}
    return CallToolResult(
        content=[TextContent(type="text", text=f"{trouble.message}{fields}\n{advice}")],
        structured_content={"error": error},
        is_error=True,
    )
