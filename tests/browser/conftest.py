"""A live product for browser tests: the real `manage.py serve` on a temporary folder and a free
port, and Chromium. A console error or an uncaught exception in a page fails its test."""

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
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a-long-enough-password"
_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")
# The browser notes every such answer as an error; the pages mean them.
_EXPECTED = ("status of 422", "status of 404")
_START_SECONDS = 120


@dataclass(frozen=True)
class Product:
    """A running Memory Center. `login` and `password` are what `serve` prints."""

    address: str
    login: str
    password: str
    api_key: str
    environment: Mapping[str, str]

    def shell(self, code: str) -> str:
        """Run code with Django set up, beside the running product; gives what it prints."""
        command = [sys.executable, "manage.py", "shell", "--no-imports", "--command", code]
        done = subprocess.run(
            command, cwd=ROOT, env=dict(self.environment), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def person(self, username: str) -> "Person":
        """A newly registered person with nothing remembered."""
        self.shell(
            "from ops.services import users\n"
            f"users.register(username={username!r}, password={PASSWORD!r}, language='en')"
        )
        return Person(username, PASSWORD)


@dataclass(frozen=True)
class Person:
    username: str
    password: str


@pytest.fixture(scope="session")
def product() -> Iterator[Product]:
    folder = Path(tempfile.mkdtemp(prefix="memcenter-browser-"))
    environment = _environment(folder / "data", port=_free_port())
    log = (folder / "serve.log").open("wb")
    server = subprocess.Popen(
        [sys.executable, "manage.py", "serve"], cwd=ROOT, env=environment, stdout=log, stderr=log
    )
    try:
        address = f"http://127.0.0.1:{environment['PORT']}"
        _wait_for(address, server, folder / "serve.log")
        first = json.loads((folder / "data" / "first-login.json").read_text())
        yield Product(address, first["login"], first["password"], first["api_key"], environment)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


# Per module, so that no event loop is left running where the next module uses the database.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    finder = ["sh", str(ROOT / "tests/browser/chromium.sh")]
    chromium = subprocess.run(finder, capture_output=True, text=True, check=True).stdout.strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, product: Product) -> Iterator[Page]:
    """A page in a context of its own, signed out, in English, 1280 px wide."""
    context = browser.new_context(
        base_url=product.address, locale="en-GB", viewport={"width": 1280, "height": 900}
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: _note(message, problems))
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert not problems, problems


def sign_in(page: Page, person: Person) -> None:
    page.goto("/signin/")
    page.fill("[name=username]", person.username)
    page.fill("[name=password]", person.password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/signin/" not in url)


def _note(message: ConsoleMessage, problems: list[str]) -> None:
    if message.type == "error" and not any(text in message.text for text in _EXPECTED):
        problems.append(message.text)


def _environment(data: Path, *, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return kept | {"MEMCENTER_DATA_DIR": str(data), "PORT": str(port)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"The product did not start:\n{log.read_text(errors='replace')}")
