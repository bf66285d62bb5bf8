"""A web process that is told to stop gives what it has begun to its end: none fails."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import databases
from tests.deploy.services import started, until_it_answers
from tests.live import free_port
from tests.scenarios.caller import until

BODY = b'{"user_id": "nobody", "query": "tea"}'
HEAD = (
    "POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "X-Forwarded-Proto: https\r\n"  # as the proxy before it says
    f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n"
).encode()
MANY = 20


@pytest.fixture
def stream(db: None, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    with started("stream", tmp_path, PORT=str(port), STOP_SECONDS="10") as process:
        until_it_answers(port, "/healthz")
        yield process, port


def whole(one: socket.socket) -> bytes:
    return b"".join(iter(lambda: one.recv(65_536), b""))


def being_read(port: int) -> int:
    """How many connections the server has taken up and read all that was sent of.

    One that only the kernel has accepted belongs to no process: its inode is 0 (proc(5)).
    """
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = [line for line in lines if int(line[1].rpartition(":")[2], 16) == port]
    established = [line for line in own if line[3] == "01"]
    return sum(line[9] != "0" and int(line[4].rpartition(":")[2], 16) == 0 for line in established)


def test_whoever_is_being_answered_when_it_stops_is_answered(
    stream: tuple[subprocess.Popen[bytes], int],
) -> None:
    process, port = stream
    assert databases.postgres.is_running()
    with ExitStack() as stack:
        callers = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(MANY)
        ]
        for one in callers:
            one.settimeout(60)
            one.sendall(HEAD + BODY[:9])
        until(lambda: being_read(port) == MANY, what="the server to begin with all of them")
        process.send_signal(signal.SIGTERM)
        for one in callers:
            one.sendall(BODY[9:])
        answers = [whole(one) for one in callers]
    assert [one.split(b" ")[1] for one in answers] == [b"401"] * MANY
    assert all(b'"error"' in one for one in answers)
    assert process.wait(60) == 0
