import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres
from tests.databases import fast_postgres


@pytest.fixture
def place() -> Iterator[Path]:
    """Short and open to all, unlike pytest's own: sockets fit and other users may pass."""
    path = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def folder(place: Path) -> DataFolder:
    return DataFolder(place / "data")


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedPostgres]:
    path = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    path.chmod(0o755)
    folder = DataFolder(path / "data")
    server = fast_postgres(folder)
    server.start()
    yield server
    server.stop()
    folder.remove()
    path.rmdir()
