"""A real Milvus (milvus-lite) on a port of its own, which can be stopped and started again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from milvus_lite.adapter.grpc.server import start_server_in_thread

from memories.services import moving, vector_changes
from ops.access import as_system
from ops.models import Status
from ops.services import worker


class Milvus:
    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._port = 0
        self._running: tuple[Any, Any] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        if self._running is None:
            server, database, self._port = start_server_in_thread(
                data_dir=self._folder, host="127.0.0.1", port=self._port
            )
            self._running = server, database

    def stop(self) -> None:
        if self._running is not None:
            server, database = self._running
            server.stop(grace=0).wait()
            database.close()
            self._running = None

    @contextmanager
    def away(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            self.start()


@pytest.fixture(scope="session")
def server_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Milvus]:
    one = Milvus(tmp_path_factory.mktemp("milvus"))
    one.start()
    yield one
    one.stop()


@pytest.fixture
def milvus(server_of_the_session: Milvus, settings: LazySettings, db: None) -> Iterator[Milvus]:
    """The settings name it; the next test finds it running and empty, and nothing follows."""
    settings.VECTOR_STORE = "milvus"
    settings.MILVUS_URI = server_of_the_session.uri
    settings.MILVUS_TIMEOUT = 10.0
    yield server_of_the_session
    server_of_the_session.start()
    vector_changes._breaker.cache_clear()
    settings.MILVUS_URI = server_of_the_session.uri
    if not connection.in_atomic_block:  # else it is rolled back
        with as_system():
            vector_changes.write_down(False)
    server = vector_changes.server()
    for space in server.spaces():
        server.drop(space)


def moved() -> None:
    """Vectors are searched where the settings say, from now on."""
    connection.check_constraints()  # in the test's one transaction they would wait for its end
    operation = moving.request()
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
