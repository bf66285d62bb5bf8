"""Runs an instance of the product for one benchmark, in a temporary folder and on a free port."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")
_START_SECONDS = 400


@dataclass
class Product:
    """A running Memory Center and one persistent connection to it."""

    port: int
    api_key: str
    environment: dict[str, str]

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def reconnect(self) -> None:
        """Close the connection, so that the next call opens a new one."""
        self._connection.close()

    def get(self, path: str, **query: object) -> Any:
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, body: object) -> Any:
        return self._ask("POST", path, json.dumps(body).encode())

    def all(self, path: str, **query: object) -> Iterator[Any]:
        """Yield every row of a paginated list."""
        page = self.get(path, **query, limit=100)
        yield from page["results"]
        while page["next"]:
            page = self._ask("GET", page["next"].split(str(self.port), 1)[1])
            yield from page["results"]

    def manage(self, *arguments: object) -> str:
        """Run a management command on the instance and return its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise SystemExit(f"manage.py {arguments[0]} failed:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def call_mcp(self, method: str, params: Mapping[str, Any]) -> Any:
        """Make one MCP call and return its result."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._ask("POST", "/mcp", json.dumps(request).encode())["result"]

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        path = path if path.startswith(("/api/", "/mcp")) else f"/api/v1{path}"
        headers = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"}
        headers["Accept"] = "application/json, text/event-stream"
        self._connection.request(method, path, body=body, headers=headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"{method} {path} answered {answer.status}: {content[:500]!r}")
        return json.loads(content)


@contextmanager
def running(*, root: Path = ROOT, **settings: str) -> Iterator[Product]:
    """Start an instance with these settings; stop it and delete its files at the end.

    `root` may be another checkout. If it has an environment `.venv`, the instance uses it.
    """
    folder = Path(tempfile.mkdtemp(prefix="memcenter-bench-"))
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    # All requests of a benchmark use the same key.
    limits = {"MEMCENTER_RATE_LIMIT": "100000000", "MEMCENTER_RATE_LIMIT_KEY": "100000000"}
    environment = (
        kept | {"MEMCENTER_DATA_DIR": str(folder / "data"), "PORT": str(port)} | limits | settings
    )
    log = folder / "serve.log"
    python = root / ".venv" / "bin" / "python"
    with log.open("wb") as sink:
        server = subprocess.Popen(
            [str(python if python.exists() else sys.executable), "manage.py", "serve"],
            cwd=root,
            env=environment,
            stdout=sink,
            stderr=sink,
        )
    try:
        _wait(port, server, log)
        first = json.loads((folder / "data" / "first-login.json").read_text())
        yield Product(port, first["api_key"], environment)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.2)
        finally:
            connection.close()
    raise SystemExit(f"The product did not start:\n{log.read_text(errors='replace')[-3000:]}")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def print_times(table: Mapping[str, Sequence[float]]) -> None:
    """Print a table of milliseconds; the values are seconds."""
    print(f"{'milliseconds':32}{'p50':>10}{'p99':>10}")
    for name, values in table.items():
        p50, p99 = percentile(values, 0.5) * 1000, percentile(values, 0.99) * 1000
        print(f"{name:32}{p50:>10.2f}{p99:>10.2f}")


def print_result(figures: dict[str, Any]) -> None:
    """Print the figures as one JSON object, as the last line."""
    print(json.dumps(figures, ensure_ascii=False))
