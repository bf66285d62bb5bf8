"""The official client against a running product, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.live import ROOT, Product
from tests.scenarios.caller import Caller

PAGE = "The importer retries twice. " * 40
TOOLS = 8


@asynccontextmanager
async def over_http(product: Product, key: str, mode: Any = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=120))
        transport = streamable_http_client(f"{product.address}/mcp", http_client=web)
        yield await stack.enter_async_context(Client(transport, mode=mode))


@asynccontextmanager
async def over_stdio(product: Product, key: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp"],
        cwd=ROOT,
        env={**product.environment, "MEMCENTER_API_KEY": key},
    )
    async with Client(parameters) as client:
        yield client


async def told(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content or {}
    return found


async def trouble(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error and result.structured_content, result
    return str(result.structured_content["error"]["code"])


async def use_every_tool(client: Client, owner: str, stranger: str) -> None:
    assert len((await client.list_tools()).tools) == TOOLS
    whose = {"owner_id": owner}
    page = {"project_name": "Import", "content_type": "development", **whose}
    made = await told(client, "mem.ingest_memory", content=PAGE, **page)
    assert made["status"] == "created"
    again = await told(client, "mem.ingest_memory", content=PAGE, **page)
    assert (again["status"], again["id"]) == ("skipped", made["id"])
    found = await told(client, "mem.search", query="retries of the importer", **whose)
    assert [one["id"] for one in found["results"]] == [made["id"]]
    whole = await told(client, "mem.get", ids=[made["id"]], **whose)
    assert whole["results"][0]["content"] == PAGE.strip()
    entries = await told(client, "mem.timeline", project_key="import", **whose)
    assert [one["id"] for one in entries["results"]] == [made["id"]]
    projects = await told(client, "mem.list_projects", **whose)
    assert [one["project_key"] for one in projects["results"]] == ["import"]
    line = await told(client, "memory_append", text="The printer is broken.", **whose)
    searched = await told(client, "memory_search", query="printer", types=["note"], **whose)
    assert [one["id"] for one in searched["results"]] == [line["id"]]
    assert await trouble(client, "mem.search", query="") == "invalid"
    nothing = await told(client, "memory_search", query="x", owner_id=stranger)
    assert nothing["results"] == []
    forgotten = {"memory_id": made["id"]}
    assert await trouble(client, "memory_forget", owner_id=stranger, **forgotten) == "not_found"
    assert (await told(client, "memory_forget", **forgotten, **whose))["status"] == "accepted"
    gone = await told(client, "mem.get", ids=[made["id"]], **whose)
    assert gone["missing"] == [made["id"]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_uses_every_tool_over_http(
    product: Product, ana: Caller, bob: Caller, mode: str
) -> None:
    async def talk() -> None:
        async with over_http(product, product.api_key, mode) as client:
            await use_every_tool(client, ana.user_id, bob.user_id)

    asyncio.run(talk())


def test_a_client_uses_every_tool_over_stdio(product: Product, ana: Caller, bob: Caller) -> None:
    async def talk() -> None:
        async with over_stdio(product, product.api_key) as client:
            await use_every_tool(client, ana.user_id, bob.user_id)

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("over", "content"),
    [
        (over_http, "The audit log is kept for a year."),
        (over_stdio, "Thumbnails are drawn by the background worker."),
    ],
)
def test_an_agent_that_names_no_owner_and_no_project_just_works(
    product: Product, over: Any, content: str
) -> None:
    """With the key that `make up` prints, and nothing set."""

    async def talk() -> None:
        async with over(product, product.api_key) as client:
            page = {"content": content, "content_type": "plan"}
            made = await told(client, "mem.ingest_memory", **page)
            assert made["status"] == "created"
            found = await told(client, "mem.search", query=content, project_key="general")
            assert made["id"] in [one["id"] for one in found["results"]]
            whole = await told(client, "mem.get", ids=[made["id"]], owner_id="personal")
            assert [one["id"] for one in whole["results"]] == [made["id"]]

    asyncio.run(talk())


def test_a_program_that_names_no_owner_and_no_project_just_works(product: Product) -> None:
    """With the key that `make up` prints, and nothing set."""
    page = {"content": "Nightly backups are copied to Oslo.", "content_type": "plan"}
    headers = {"Authorization": f"Bearer {product.api_key}"}
    with httpx2.Client(base_url=f"{product.address}/api/v1", headers=headers) as client:
        made = client.post("/ingest/memory", json=page)
        assert made.status_code == 201, made.text
        asked = {"owner_id": "personal", "query": "Nightly backups", "project_key": "general"}
        found = client.get("/memories/search", params=asked).json()["results"]
    assert made.json()["id"] in [one["id"] for one in found]


def test_a_key_that_may_only_read_changes_nothing(product: Product, ana: Caller) -> None:
    ana.post("/memory/append", text="Here.")
    made = product.manage("createapikey", "--user", ana.user_id, "--scopes", "read")
    key = next(word for word in made.stdout.split() if word.startswith("mc_"))

    async def talk() -> None:
        async with over_http(product, key) as client:
            assert await trouble(client, "memory_append", text="No.") == "not_allowed"
            assert await trouble(client, "memory_forget", memory_id="mem_x") == "not_allowed"
            assert len((await told(client, "memory_search", query="here"))["results"]) == 1

    asyncio.run(talk())


def test_a_wrong_key_gets_nowhere(product: Product) -> None:
    async def talk() -> None:
        async with over_http(product, "mc_wrong") as client:
            await client.list_tools()

    with pytest.raises(BaseException) as caught:
        asyncio.run(talk())
    assert "MCPError" in str(caught.getrepr())
    headers = {"Authorization": "Bearer mc_wrong"}
    refused = httpx2.post(f"{product.address}/mcp", json={}, headers=headers)
    assert refused.status_code == 401 and "Bearer" in refused.headers["WWW-Authenticate"]
    wrong = product.manage("mcp", MEMCENTER_API_KEY="mc_wrong")
    assert wrong.returncode == 1 and "not valid" in wrong.stderr and wrong.stdout == ""
    missing = product.manage("mcp", MEMCENTER_API_KEY="")
    assert missing.returncode == 1 and "MEMCENTER_API_KEY" in missing.stderr


def message(owner: str) -> bytes:
    arguments = {
        "owner_id": owner,
        "content_type": "plan",
        "content": PAGE,
        "project_key": "import",
    }
    params = {"name": "mem.ingest_memory", "arguments": arguments}
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()


def post_and_leave(product: Product, body: bytes, *, length: int) -> None:
    """Send so much, and hang up without waiting for an answer."""
    place = urlsplit(product.address)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n"
        f"Authorization: Bearer {product.api_key}\r\n\r\n"
    )
    with socket.create_connection((place.hostname or "", place.port or 80)) as line:
        line.sendall(head.encode() + body)


def test_a_client_that_goes_away_leaves_nothing_half_done(product: Product, ana: Caller) -> None:
    body = message(ana.user_id)
    post_and_leave(product, body[:200], length=len(body))
    post_and_leave(product, body, length=len(body))

    async def talk() -> dict[str, Any]:
        async with over_http(product, product.api_key) as client:
            page = {"content": PAGE, "content_type": "plan", "project_key": "import"}
            return await told(client, "mem.ingest_memory", owner_id=ana.user_id, **page)

    made = asyncio.run(talk())
    found = ana.get("/memories/timeline")["results"]
    assert [one["id"] for one in found] == [made["id"]]
    whole = ana.get("/memories", ids=made["id"])["results"]
    assert [one["content"] for one in whole] == [PAGE.strip()]
    assert ana.get(f"/memory/long_term/{made['id']}/versions")["results"][0]["version"] == 1


def test_an_agent_that_is_killed_leaves_nothing_half_done(product: Product, ana: Caller) -> None:
    server = subprocess.Popen(
        [sys.executable, "manage.py", "mcp"],
        cwd=ROOT,
        env={**product.environment, "MEMCENTER_API_KEY": product.api_key},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin is not None and server.stderr is not None
    assert b"speaks MCP" in server.stderr.readline()
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    ask = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = [json.dumps(ask).encode(), json.dumps(done).encode(), message(ana.user_id)]
    server.stdin.write(b"\n".join(lines) + b"\n")
    server.stdin.flush()
    server.kill()
    server.communicate()
    made = ana.post("/ingest/memory", content=PAGE, content_type="plan", project_key="import")
    found = ana.get("/memories/timeline")["results"]
    assert [one["id"] for one in found] == [made["id"]]
    assert ana.get("/memories", ids=made["id"])["results"][0]["content"] == PAGE.strip()
