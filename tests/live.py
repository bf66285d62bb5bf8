"""A live product: the real `manage.py serve` on a temporary folder and a free port.

Browser tests and scenarios share one for the session; those that kill it start their own.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from foundation.embedded.child_processes import PidFile
from foundation.embedded.folder import DataFolder
from tests.beside import Beside

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "a-long-enough-password"
_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")
# All tests call through one key, and people of theirs register.
_UNLIMITED = {
    "MEMCENTER_REGISTRATION_OPEN": "true",
    "MEMCENTER_RATE_LIMIT": "1000000",
    "MEMCENTER_RATE_LIMIT_KEY": "1000000",
    "MEMCENTER_RATE_LIMIT_HEAVY": "1000000",
}
_ANNOUNCED = "Ctrl-C"
_START_SECONDS = 300
_REGISTERS = """
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory
from ops.accounts import users
from ops.pages import sign_in
user = users.register(username={username!r}, password={password!r}, language={language!r})
request = RequestFactory().get("/", headers={{"user-agent": "A browser"}})
request.user = user
request.session = SessionStore()
sign_in.begin_session(request, user)
request.session.save()
print(request.session.session_key)
"""

# The product's own worker may have claimed an operation before `drain` could.
_SAYS = """
import time
from conversations.recording import conversation_names, turns
from ops.access import as_user
from ops.models import Operation, Status, User
from ops.queue.worker import drain
user = User.objects.get(username={username!r})
with as_user(user):
    thread = conversation_names.find_or_create(user=user, reference="first")
    asked = turns.MessageInput(content={said!r}, role="user")
    answered = turns.MessageInput(content={answer!r}, role="assistant")
    turns.record_turn(
        user=user, conversation=thread, user_message=asked, assistant_message=answered
    )
due = Operation.objects.filter(subject=user.subject, kind__in=("extract_turn", "index_memory"))
until = time.monotonic() + {seconds}
while due.filter(status__in=(Status.PENDING, Status.RUNNING)).exists():
    assert time.monotonic() < until, list(due.values("kind", "status", "last_error"))
    if not drain():
        time.sleep(0.1)
"""


@dataclass(frozen=True)
class Person:
    """`session` is the key of a session of theirs, where one was begun."""

    username: str
    password: str
    session: str = ""


@dataclass(frozen=True)
class Product:
    """A running Memory Center. `login` and `password` are what `serve` prints."""

    address: str
    login: str
    password: str
    api_key: str
    environment: Mapping[str, str]
    beside: Beside

    @property
    def folder(self) -> DataFolder:
        return DataFolder(self.environment["MEMCENTER_DATA_DIR"])

    def manage(self, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Run a management command beside the running product, however it ends."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment, **settings},
            capture_output=True,
            text=True,
        )

    def shell(self, code: str) -> str:
        """Run code with Django set up, beside the running product; gives what it prints."""
        return self.beside.run(code)

    def person(self, username: str, *, language: str = "en") -> Person:
        """A newly registered person with nothing remembered, signed in once."""
        code = _REGISTERS.format(username=username, password=PASSWORD, language=language)
        return Person(username, PASSWORD, self.shell(code).strip())

    def says(self, username: str, said: str, *, answer: str = "I will mind that.") -> None:
        """Record a turn of a person, and return when it is learned and indexed.

        Raises `AssertionError` if that takes longer than the product takes to start.
        """
        code = _SAYS.format(username=username, said=said, answer=answer, seconds=_START_SECONDS)
        self.shell(code)


class Server:
    """One `manage.py serve` that can be killed, and started again on its folder and port."""

    def __init__(self, place: Path, **settings: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        self.data = place / "data"
        self._log = place / "serve.log"
        self._port = free_port()
        self.environment = {
            **kept,
            **_UNLIMITED,
            **settings,
            "MEMCENTER_DATA_DIR": str(self.data),
            "PORT": str(self._port),
            "PYTHONUNBUFFERED": "1",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._beside = Beside(ROOT, self.environment)

    def start(self) -> Product:
        """Gives the product once it has announced itself and answers."""
        self._log.write_bytes(b"")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "serve"],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        self._wait()
        return self.product()

    def product(self) -> Product:
        """What runs here; it must have been started."""
        first = json.loads((self.data / "first-login.json").read_text(encoding="utf-8"))
        login, password, key = first["login"], first["password"], first["api_key"]
        return Product(self._address, login, password, key, self.environment, self._beside)

    def stop(self) -> None:
        self._beside.end()
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """As the kernel does it when memory runs out: the supervisor has no time to say goodbye."""
        self._end(signal.SIGKILL)

    def pid(self, name: str) -> int | None:
        known = PidFile(self.data / f"{name}.pid").alive()
        return known[0] if known else None

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=60)

    @property
    def _address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and self._process and self._process.poll() is None:
            if _ANNOUNCED in self.said() and answers(self._address):
                return
            time.sleep(0.2)
        raise AssertionError(f"The product did not start:\n{self.said()}")

    def said(self) -> str:
        """What it has printed since its last start."""
        return self._log.read_text(encoding="utf-8", errors="replace")


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """A server that isn't started yet; stopped and removed in the end."""
    # Short and open to all, unlike pytest's own: sockets fit and other users may pass.
    place = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    place.chmod(0o755)
    one = Server(place, **settings)
    try:
        yield one
    finally:
        one.stop()
        DataFolder(one.data).remove()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    with server() as one:
        yield one.start()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False
