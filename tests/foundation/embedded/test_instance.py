import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder, EmbeddedError

BORROWER = """
import signal, sys
from foundation.embedded.folder import DataFolder
from foundation.embedded.databases import Instance
with Instance(DataFolder(sys.argv[1])).borrowed():
    print("up", flush=True)
    signal.pause()
"""


@pytest.fixture
def instance(folder: DataFolder) -> Iterator[Instance]:
    instance = Instance(folder)
    yield instance
    instance.redis.stop()
    instance.postgres.stop()


def test_the_databases_run_until_the_last_user_has_left(instance: Instance) -> None:
    other = Instance(instance.folder)
    with instance.borrowed():
        with other.borrowed():
            assert other.postgres.is_running() and other.redis.is_running()
        with psycopg.connect(instance.environment()["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not instance.postgres.is_running() and not instance.redis.is_running()


def test_a_killed_user_counts_as_one_who_left(instance: Instance) -> None:
    command = [sys.executable, "-c", BORROWER, str(instance.folder.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as borrower:
        assert borrower.stdout and borrower.stdout.readline() == b"up\n"
        borrower.send_signal(signal.SIGKILL)
    assert instance.postgres.is_running()
    with instance.borrowed():
        assert instance.postgres.is_running()
    assert not instance.postgres.is_running() and not instance.redis.is_running()


def test_databases_that_could_not_be_prepared_are_stopped_again(instance: Instance) -> None:
    def fail() -> None:
        raise EmbeddedError("The migrations failed.")

    with pytest.raises(EmbeddedError), instance.borrowed(prepare=fail):
        os.abort()
    assert not instance.postgres.is_running()


def test_a_secret_key_of_the_environment_goes_before_the_folders(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCENTER_SECRET_KEY", "theirs")
    assert instance.environment()["MEMCENTER_SECRET_KEY"] == "theirs"
    monkeypatch.delenv("MEMCENTER_SECRET_KEY")
    assert instance.environment()["MEMCENTER_SECRET_KEY"] == instance.folder.secrets.secret_key
