"""A Milvus server (milvus-lite) in a process of its own, which can be killed and started again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import LazySettings, settings
from django.db import connection

from foundation.errors import ProviderError
from memories.indexing import milvus_sync
from ops.access import as_system
from ops.models import Status
from ops.queue import worker
from tests.live import free_port
from tests.scenarios.caller import until


class Milvus:
    """It keeps its folder and its port from one start to the next."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[str] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Return when it listens and the product's client has connected again.

        Nothing happens where it runs.
        """
        if self._process is not None:
            return
        where = ["--data-dir", str(self._folder), "--host", "127.0.0.1", "--port", str(self._port)]
        log = self._folder.with_suffix(".log")
        with log.open("a", encoding="utf-8") as sink:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-m", "milvus_lite", "server", *where],
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
            )
        assert self._process.stdout is not None
        assert "listening" in self._process.stdout.readline(), log.read_text(encoding="utf-8")
        until(_is_reached, what="Milvus to be reached")

    def kill(self) -> None:
        """With SIGKILL: it writes nothing down any more."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    @contextmanager
    def away(self) -> Iterator[None]:
        self.kill()
        try:
            yield
        finally:
            self.start()


@pytest.fixture(scope="session")
def server_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Milvus]:
    one = Milvus(tmp_path_factory.mktemp("milvus"))
    one.start()
    yield one
    one.kill()


@pytest.fixture
def milvus(server_of_the_session: Milvus, settings: LazySettings, db: None) -> Iterator[Milvus]:
    """The settings name it; the next test finds it running and empty, and nothing follows."""
    settings.VECTOR_STORE = "milvus"
    settings.MILVUS_URI = server_of_the_session.uri
    settings.MILVUS_TIMEOUT = 10.0
    yield server_of_the_session
    server_of_the_session.start()
    milvus_sync._breaker.cache_clear()
    settings.MILVUS_URI = server_of_the_session.uri
    if not connection.in_atomic_block:  # else it is rolled back
        with as_system():
            milvus_sync.set_recording(False)
    server = milvus_sync.server()
    for space in server.spaces():
        server.drop(space)


def moved() -> None:
    """Vectors are searched where the settings say, from now on."""
    connection.check_constraints()  # in the test's one transaction they would wait for its end
    operation = milvus_sync.request_move()
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error


def _is_reached() -> bool:
    """Whether the product reaches it: gRPC waits up to a second between its tries to connect."""
    if not settings.MILVUS_URI:
        return True
    try:
        milvus_sync.server().spaces()
    except ProviderError:
        return False
    return True
