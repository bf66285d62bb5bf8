"""A request that hangs ends its web process, which is started again; the others answer."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.live import ROOT, answers, free_port
from tests.scenarios.caller import until


@pytest.fixture
def served(db: None, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of one web process under granian, as `deploy/web.sh` runs it, and its log."""
    port, log = free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port)]
    options = ["--workers", "1", "--blocking-threads", "4", "--respawn-failed-workers", "--no-ws"]
    stopping = ["--workers-kill-timeout", "4", "tests.hostile_web:application"]
    with log.open("wb") as said:
        web = subprocess.Popen(
            [*command, *options, *stopping],
            cwd=ROOT,
            env={**os.environ, "MEMCENTER_WEB_STUCK_SECONDS": "1"},
            stderr=said,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(address), what="the first page")
        yield address, log
    finally:
        web.terminate()
        web.wait(timeout=60)


def who(address: str) -> str:
    with urllib.request.urlopen(f"{address}/who", timeout=60) as answer:
        return str(answer.read().decode())


def test_a_web_process_that_hangs_is_ended_and_another_answers(served: tuple[str, Path]) -> None:
    address, log = served
    before = who(address)
    with pytest.raises((urllib.error.URLError, HTTPException, ConnectionError)):
        urllib.request.urlopen(f"{address}/hang", timeout=120)
    until(lambda: answers(address), what="another process")
    assert who(address) != before
    assert "hostile_web.py" in log.read_text()
