"""MCP clients connect with the `mcpServers` configurations of docs/integrations/mcp.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from integrations.center import TOLD, Center

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/integrations/mcp.md").read_text(encoding="utf-8")
CONFIGURATIONS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def filled_in(configuration: str, center: Center, key: str) -> dict[str, Any]:
    """Return the configuration with the address, key and folders of the running product."""
    for shown, real in {
        "http://127.0.0.1:8000": center.url,
        "/path/to/memory-center/.venv/bin/python": os.environ["MEMORY_CENTER_PYTHON"],
        "/path/to/memory-center/.data": os.environ["MEMORY_CENTER_DATA"],
        "/path/to/memory-center": str(ROOT),
        "mc_...": key,
    }.items():
        configuration = configuration.replace(shown, real)
    return dict(json.loads(configuration))


def bound_key(center: Center) -> str:
    """Create a key that is bound to the user, as docs/integrations/mcp.md describes."""
    made = subprocess.run(
        [os.environ["MEMORY_CENTER_PYTHON"], "manage.py", "createapikey", "--user", center.user_id],
        cwd=ROOT,
        env={**os.environ, "MEMCENTER_DATA_DIR": os.environ["MEMORY_CENTER_DATA"]},
        capture_output=True,
        text=True,
        check=True,
    )
    return next(word for word in made.stdout.split() if word.startswith("mc_"))


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=["claude-code", "cursor", "desktop"])
def test_a_client_writes_and_finds(center: Center, configuration: str) -> None:
    center.post("/turns", conversation_id="monday", user_message=TOLD, assistant_message="Noted.")
    center.wait_until_known("nuts")

    key = bound_key(center)

    async def talk() -> None:
        async with Client(filled_in(configuration, center, key)) as client:
            assert "memory_search" in [tool.name for tool in await client.list_tools()]
            found = await client.call_tool("memory_search", {"query": "What am I allergic to?"})
            assert "allergic to nuts" in str(found.structured_content)
            await client.call_tool("memory_append", {"text": "Bought oat milk."})
            noted = await client.call_tool("memory_search", {"query": "oat milk"})
            assert "Bought oat milk." in str(noted.structured_content)

    asyncio.run(talk())
