import os
import signal
from collections.abc import Iterator

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError
from redis.retry import Retry

from foundation.embedded.child_processes import PidFile
from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.folder import DataFolder


@pytest.fixture
def server(folder: DataFolder) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(folder)
    server.start()
    yield server
    server.stop()


def test_it_answers_to_the_password_alone(server: EmbeddedRedis) -> None:
    with Redis.from_url(server.url()) as client:
        client.set("planted", "value")
        assert client.get("planted") == b"value"
    with (
        Redis(unix_socket_path=str(server.socket), retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(AuthenticationError),
    ):
        client.ping()


def test_its_password_is_in_no_command_line(server: EmbeddedRedis, folder: DataFolder) -> None:
    known = PidFile(folder.pid_file("redis")).alive()
    assert known
    with open(f"/proc/{known[0]}/cmdline") as arguments:
        assert folder.secrets.redis_password not in arguments.read()


def test_it_keeps_nothing_on_disk_and_starts_again_after_a_kill(
    server: EmbeddedRedis, folder: DataFolder
) -> None:
    with Redis.from_url(server.url()) as client:
        client.set("planted", "value")
    known = PidFile(folder.pid_file("redis")).alive()
    assert known
    os.kill(known[0], signal.SIGKILL)
    os.waitid(os.P_PID, known[0], os.WEXITED | os.WNOWAIT)
    assert not server.is_running()
    server.start()
    with Redis.from_url(server.url()) as client:
        assert client.get("planted") is None
    assert {path.name for path in folder.run.iterdir()} == {"redis.sock"}


def test_a_stopped_server_leaves_no_socket(server: EmbeddedRedis) -> None:
    server.stop()
    assert not server.is_running()
    assert not server.socket.exists()
