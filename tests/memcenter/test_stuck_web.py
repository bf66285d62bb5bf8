"""A request that hangs ends its web process, which is started again; the others answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import pytest

from memories.models import Memory
from tests.live import ROOT, answers, free_port
from tests.scenarios.caller import until


@contextmanager
def serving(folder: Path, *, processes: int, seconds: int) -> Iterator[tuple[str, Path]]:
    """The address of web processes under granian, as `deploy/web.sh` runs them, and their log."""
    port, log = free_port(), folder / "log"
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port)]
    options = ["--blocking-threads", "4", "--respawn-failed-workers", "--no-ws"]
    stopping = ["--workers-kill-timeout", "4", "tests.hostile_web:application"]
    with log.open("wb") as said:
        web = subprocess.Popen(
            [*command, "--workers", str(processes), *options, *stopping],
            cwd=ROOT,
            env={**os.environ, "MEMCENTER_WEB_STUCK_SECONDS": str(seconds)},
            stderr=said,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(address), what="the first page")
        yield address, log
    finally:
        web.terminate()
        web.wait(timeout=60)


@pytest.fixture
def served(db: None, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    with serving(tmp_path, processes=1, seconds=1) as one:
        yield one


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


def write(address: str, key: str, content: str) -> int:
    """The status of a direct write, or 0 if its process ended before it answered."""
    request = urllib.request.Request(
        f"{address}/api/v1/memory/long_term",
        data=json.dumps({"content": content}).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except (urllib.error.URLError, HTTPException, ConnectionError):
        return 0


@pytest.mark.django_db(transaction=True)
def test_as_many_writes_that_hang_at_once_as_there_are_processes_leave_it_answering(
    alice_key: str, tmp_path: Path
) -> None:
    with serving(tmp_path, processes=2, seconds=3) as (address, log):
        assert write(address, alice_key, "Plays the cello") == 201
        hanging = [f"This hangs, number {number}" for number in range(2)]
        with ThreadPoolExecutor() as pool:
            tried = list(pool.map(lambda text: write(address, alice_key, text), hanging))
        assert tried == [0, 0]
        until(lambda: answers(address), what="a process that answers")
        assert write(address, alice_key, "Lives in Brno") == 201
        assert "hostile_web.py" in log.read_text()
    assert set(Memory.objects.values_list("content", flat=True)) == {
        "Plays the cello",
        "Lives in Brno",
    }
