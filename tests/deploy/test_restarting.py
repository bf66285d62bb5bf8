"""The web processes are replaced behind their port while calls come: none fails.

The server runs in a network of its own, where the kernel hands over waiting connections as the
Compose file has it. Threads of the test join that network.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tests import databases
from tests.deploy.compose import COMPOSE
from tests.deploy.services import environment, running
from tests.scenarios.caller import until

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and iproute2"
)
PORT, CLIENTS, MOST_CALLS, CALLS_AFTERWARDS = 8000, 4, 20_000, 25
IN_A_NETWORK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && sysctl -qw "$0" && exec "$@"']
BODY = b'{"user_id": "nobody", "query": "tea"}'
ASKED = (
    "POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "X-Forwarded-Proto: https\r\n"
    f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n"
).encode() + BODY


class Network:
    """Threads in the network of a process."""

    def __init__(self, pid: int) -> None:
        self._path = f"/proc/{pid}/ns/net"
        until(self._is_apart, what="the network of its own")
        self.threads = ThreadPoolExecutor(CLIENTS, initializer=self._join)

    def _is_apart(self) -> bool:
        return os.readlink(self._path) != os.readlink("/proc/self/ns/net")

    def _join(self) -> None:
        with open(self._path, "rb") as network:
            assert ctypes.CDLL(None).setns(network.fileno(), 0) == 0

    def answers(self) -> bool:
        return self.threads.submit(call).result() == "401"


def call() -> str:
    """The status of an answer, or what became of the call."""
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=60) as one:
            one.sendall(ASKED)
            answer = b"".join(iter(lambda: one.recv(65_536), b""))
    except OSError as error:
        return repr(error)
    return answer.split(b" ")[1].decode() if b'"error"' in answer else "no whole answer"


def calls(restarted: Event) -> list[str]:
    """Call until the restart is over, and some times more."""
    during = list(itertools.takewhile(lambda _: not restarted.is_set(), statuses(MOST_CALLS)))
    return during + list(statuses(CALLS_AFTERWARDS))


def statuses(most: int) -> Iterator[str]:
    return (call() for _ in range(most))


def workers(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def test_no_call_fails_while_the_web_processes_are_replaced(db: None, tmp_path: Path) -> None:
    assert databases.postgres.is_running()
    [(name, value)] = COMPOSE["services"]["web"]["sysctls"].items()
    command = [*IN_A_NETWORK, f"{name}={value}", *COMPOSE["services"]["web"]["command"]]
    settings = environment("web", tmp_path, PORT=str(PORT), WEB_WORKERS="1", WEB_THREADS="4")
    with running(command, tmp_path / "web.log", settings) as process:
        network, restarted = Network(process.pid), Event()
        with network.threads as threads:
            until(network.answers, what="the first answer")
            before = workers(process.pid)
            clients = [threads.submit(calls, restarted) for _ in range(CLIENTS)]
            process.send_signal(signal.SIGHUP)
            try:
                until(lambda: not workers(process.pid) & before, what="the old process to end")
            finally:
                restarted.set()
            found = [status for client in clients for status in client.result()]
        assert len(before) == len(workers(process.pid)) == 1
    assert set(found) == {"401"}
    assert len(found) > CLIENTS * CALLS_AFTERWARDS
