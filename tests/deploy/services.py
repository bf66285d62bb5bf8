"""The services of `docker-compose.yml` without containers: their commands and environments here."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from tests import databases
from tests.live import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
_START_SECONDS = 300
_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")
_SECRETS: dict[str, Callable[[], str]] = {
    "DATABASE_URL_FILE": lambda: databases.postgres.url("app"),
    "MEMCENTER_OWNER_DATABASE_URL_FILE": lambda: databases.postgres.url("owner"),
    "REDIS_URL_FILE": databases.redis_server.url,
    "MEMCENTER_SECRET_KEY_FILE": lambda: databases.folder.secrets.secret_key,
}


def environment(name: str, place: Path, **more: str) -> dict[str, str]:
    """What Compose would give a service; secrets are files below `place`, as it mounts them."""
    given = {
        key: _DEFAULT.sub(r"\1", str(value))
        for key, value in COMPOSE["services"][name]["environment"].items()
    }
    for key in _SECRETS.keys() & given.keys():
        secret = place / Path(given[key]).name
        secret.write_text(_SECRETS[key](), encoding="utf-8")
        given[key] = str(secret)
    ours = {"DATABASE_URL", "REDIS_URL", "MEMCENTER_OWNER_DATABASE_URL", "MEMCENTER_SECRET_KEY"}
    inherited = {key: value for key, value in os.environ.items() if key not in ours}
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    data = str(databases.folder.path)
    return {**inherited, **given, "PATH": path, "MEMCENTER_DATA_DIR": data, **more}


@contextmanager
def started(name: str, place: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """The service's own command, from the checkout, until the end of this."""
    with (place / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            COMPOSE["services"][name]["command"],
            cwd=ROOT,
            env=environment(name, place, **more),
            stdout=log,
            stderr=log,
            start_new_session=True,
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
