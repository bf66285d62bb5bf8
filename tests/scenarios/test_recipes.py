"""The examples of docs/clients.md run in the order of the page against a running product."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.chat_server import Answer, serving
from tests.live import ROOT, Product

PAGE = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
SHELL = [text for kind, text in BLOCKS if kind == "sh"]
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "an agent", "version": "1"},
    },
}


def printed(
    command: Sequence[str],
    product: Product,
    place: Path,
    *,
    given: str = "",
    **more: str,
) -> list[str]:
    done = subprocess.run(
        command,
        env={
            "PATH": os.environ["PATH"],
            "API": f"{product.address}/api/v1",
            "KEY": product.api_key,
            "MEMORY_CENTER_KEY": product.api_key,
            "MEMORY_CENTER_URL": product.address,
            "MEM0_TELEMETRY": "False",
            "MEM0_DIR": str(place),
            **more,
        },
        cwd=place,
        input=given,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def python(text: str, product: Product, place: Path, **more: str) -> list[str]:
    return printed([sys.executable, "-W", "ignore", "-c", text], product, place, **more)


def shell(text: str, product: Product, place: Path) -> list[dict[str, Any]]:
    """Run a block in a shell that has read the first one's variables; return its answers."""
    variables = "\n".join(line for line in SHELL[0].splitlines() if line.startswith("export "))
    script = f"{variables}\n{text}".replace("\ncurl", "\necho\ncurl")
    answers = [json.loads(line) for line in printed(["sh", "-ec", script], product, place) if line]
    assert answers and not any("error" in one for one in answers), answers
    return answers


def two_calls(text: str, product: Product, place: Path) -> None:
    recorded, recalled = shell(text, product, place)
    assert recorded["op_ids"] and recalled["request_id"]


def openai(text: str, product: Product, place: Path) -> None:
    assert python(text, product, place)[-1] == "512 numbers"


def langchain(text: str, product: Product, place: Path) -> None:
    assert any("walnuts" in line for line in python(text, product, place))


def mem0(text: str, product: Product, place: Path) -> None:
    remembered, left = python(text, product, place)
    assert "peanuts" in remembered and left == "0 left"


def mcp_over_http(text: str, product: Product, place: Path) -> None:
    server = json.loads(text)["mcpServers"]["memory-center"]
    address = server["url"].replace("http://127.0.0.1:8000", product.address)
    key = server["headers"]["Authorization"].replace("mc_...", product.api_key)
    headers = {"Authorization": key, "Accept": "application/json, text/event-stream"}
    answer = httpx.post(address, json=LIST_TOOLS, headers=headers, timeout=60)
    assert len(answer.json()["result"]["tools"]) == 8


def mcp_over_stdio(text: str, product: Product, place: Path) -> None:
    server = json.loads(text)["mcpServers"]["memory-center"]
    program, *arguments = [
        part.replace("/path/to/memory-center/.venv/bin/python", sys.executable).replace(
            "/path/to/memory-center", str(ROOT)
        )
        for part in (server["command"], *server["args"])
    ]
    assert list(server["env"]) == ["MEMCENTER_API_KEY"]
    environment = {**product.environment, "MEMCENTER_API_KEY": product.api_key}
    given = json.dumps(HELLO) + "\n"
    [line] = printed([program, *arguments], product, place, given=given, **environment)
    assert "tools" in json.loads(line)["result"]["capabilities"]


def webhook(text: str, product: Product, place: Path) -> None:
    [made] = shell(text, product, place)
    assert made["secret"] == "choose-a-long-one"


def events(text: str, product: Product, place: Path) -> None:
    """The stream of an operation has the lines that the page shows."""
    headers, api = {"Authorization": f"Bearer {product.api_key}"}, f"{product.address}/api/v1"
    said = {
        "user_id": "eve",
        "conversation_id": "e",
        "user_message": "I keep bees.",
        "assistant_message": "I see.",
    }
    turn = httpx.post(f"{api}/turns", json=said, headers=headers, timeout=60).json()
    path = f"{api}/memory/ops/{turn['op_ids'][0]}/events"
    answer = httpx.get(path, headers=headers, params={"user_id": "eve"}, timeout=60)
    assert _fields(answer.text) == _fields(text)


def _fields(stream: str) -> tuple[list[str], str, set[str]]:
    """The names of the first lines, the event's name, and the fields of its data that are shown."""
    lines = [line for line in stream.splitlines() if line][:4]
    names = [line.partition(":")[0] for line in lines]
    data = set(re.findall(r'"(op_id|status)":', lines[3]))
    return names, lines[2], data


def signature(text: str, product: Product, place: Path) -> None:
    assert python(f"{text}\nprint(callable(is_from_memory_center))", product, place) == ["True"]


def sign_in(text: str, product: Product, place: Path) -> None:
    [made] = shell(text, product, place)
    path = httpx.URL(made["url"]).path
    assert httpx.get(f"{product.address}{path}", timeout=60).headers["Location"] == "/memory/"


def anthropic(text: str, product: Product, place: Path) -> None:
    command = {"command": "view", "path": "/memories"}
    asks = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": command}
    tells = {"type": "text", "text": "Two files."}
    with serving(claude(asks, stop="tool_use"), claude(tells, stop="end_turn")) as model:
        told = python(
            text,
            product,
            place,
            ANTHROPIC_API_KEY="a-key",
            ANTHROPIC_BASE_URL=model.url.removesuffix("/v1"),
            ANTHROPIC_MODEL="claude",
        )
        [result] = model.asked[-1]["messages"][-1]["content"]
    assert told == ["Two files."]
    assert "/memories/MEMORY.md" in str(result["content"]) and not result.get("is_error")


def claude(content: Mapping[str, object], *, stop: str) -> Answer:
    """A message of the Messages API with one part."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude"}
    usage = {"input_tokens": 7, "output_tokens": 5}
    return Answer(json.dumps(message | {"content": [content], "stop_reason": stop, "usage": usage}))


def is_installed_elsewhere(text: str, product: Product, place: Path) -> None:
    """Installing needs a package index; `make clients` builds what is installed here."""
    named = re.findall(r"\./clients/\w+|clients/\w+", text)
    assert named and all((ROOT / one).is_dir() for one in named)


Run = Callable[[str, Product, Path], None]
# What each block of the page is recognised by, in the order of the page.
RUNS: list[tuple[str, Run]] = [
    ("$API/turns", two_calls),
    ("pip install ./clients/python", is_installed_elsewhere),
    ("from openai import OpenAI", openai),
    ("ChatOpenAI(", langchain),
    ("MemoryClient(", mem0),
    ('"type": "http"', mcp_over_http),
    ('"command": ', mcp_over_stdio),
    ("$API/webhooks", webhook),
    ("is_from_memory_center", signature),
    ("event: operation", events),
    ("$API/signin-links", sign_in),
    ("from anthropic import Anthropic", anthropic),
]


def test_the_examples_of_the_page_are_those_that_run_here() -> None:
    fences = [line for line in PAGE.splitlines() if line.startswith("```")]
    assert len(fences) == 2 * len(BLOCKS) == 2 * len(RUNS)
    assert [about for (_, text), (about, _) in zip(BLOCKS, RUNS, strict=True) if about in text] == [
        about for about, _ in RUNS
    ]


def test_the_examples_run_in_the_order_of_the_page(product: Product, tmp_path: Path) -> None:
    for (_, text), (_, run) in zip(BLOCKS, RUNS, strict=True):
        run(text, product, tmp_path)
