"""A web process that is told to stop gives what it has begun to its end: none fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests import databases
from tests.live import ROOT, free_port

BODY = b'{"user_id": "nobody", "query": "tea"}'
HEAD = (
    "POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n"
).encode()
MANY = 20
_START_SECONDS = 300


@pytest.fixture
def web(db: None, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    environment = {
        **os.environ,
        "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}",
        "PORT": str(port),
        "WEB_WORKERS": "1",
    }
    with (tmp_path / "web.log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "deploy/web.sh"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        try:
            until_it_answers(port)
            yield process, port
        finally:
            process.kill()
            process.wait()


def until_it_answers(port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            if b"200" in one.recv(100):
                return
        time.sleep(0.05)
    raise AssertionError("it did not start")


def whole(one: socket.socket) -> bytes:
    return b"".join(iter(lambda: one.recv(65_536), b""))


def test_whoever_is_being_answered_when_it_stops_is_answered(
    web: tuple[subprocess.Popen[bytes], int],
) -> None:
    process, port = web
    assert databases.postgres.is_running()
    with ExitStack() as stack:
        callers = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(MANY)
        ]
        for one in callers:
            one.settimeout(60)
            one.sendall(HEAD + BODY[:9])
        process.send_signal(signal.SIGTERM)
        for one in callers:
            one.sendall(BODY[9:])
        answers = [whole(one) for one in callers]
    assert [one.split(b" ")[1] for one in answers] == [b"401"] * MANY
    assert all(b'"error"' in one for one in answers)
    assert process.wait(60) == 0
