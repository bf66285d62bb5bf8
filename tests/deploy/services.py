"""The services of `docker-compose.yml` without containers: their commands and environments here."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import databases
from tests.deploy.compose import COMPOSE, given
from tests.live import ROOT

_START_SECONDS = 300
_SECRETS: dict[str, Callable[[], str]] = {
    "DATABASE_URL_FILE": lambda: databases.postgres.url("app"),
    "MEMCENTER_OWNER_DATABASE_URL_FILE": lambda: databases.postgres.url("owner"),
    "REDIS_URL_FILE": databases.redis_server.url,
    "MEMCENTER_SECRET_KEY_FILE": lambda: databases.folder.secrets.secret_key,
}


def environment(name: str, place: Path, **more: str) -> dict[str, str]:
    """What Compose would give a service; secrets are files below `place`, as it mounts them."""
    ours = given(name)
    for key in _SECRETS.keys() & ours.keys():
        secret = place / Path(ours[key]).name
        secret.write_text(_SECRETS[key](), encoding="utf-8")
        ours[key] = str(secret)
    tests = {key.removesuffix("_FILE") for key in _SECRETS}
    inherited = {key: value for key, value in os.environ.items() if key not in tests}
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    data = str(databases.folder.path)
    return {**inherited, **ours, "PATH": path, "MEMCENTER_DATA_DIR": data, **more}


@contextmanager
def started(name: str, place: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """The service's own command, from the checkout, until the end of this."""
    command = COMPOSE["services"][name]["command"]
    with running(command, place / f"{name}.log", environment(name, place, **more)) as process:
        yield process


@contextmanager
def running(
    command: list[str], log: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is told to end in the end, and killed with its children if it doesn't."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=said, stderr=said, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def until_it_answers(port: int, path: str) -> None:
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    deadline = time.monotonic() + _START_SECONDS
    said = b""
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(asked)
            said = b"".join(iter(lambda: one.recv(65_536), b""))
            if said.split(b" ")[1:2] == [b"200"]:
                return
        time.sleep(0.1)
    raise AssertionError(f"{path} never was well: {said!r}")
