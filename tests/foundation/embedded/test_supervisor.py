import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from foundation import env
from foundation.embedded.child_processes import MARK, PidFile, end_leftovers, spawn
from foundation.embedded.folder import DataFolder, EmbeddedError
from foundation.embedded.supervisor import (
    PROFILES,
    Address,
    ProcessCounts,
    SupervisedServer,
    _profile,
)

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]


class Mortal:
    log = Path("/dev/null")

    def __init__(self) -> None:
        self.alive = False
        self.starts = 0
        self.fails = False

    def is_running(self) -> bool:
        return self.alive

    def start(self) -> None:
        if self.fails:
            raise EmbeddedError("It did not start.")
        self.alive = True
        self.starts += 1

    def stop(self) -> None:
        self.alive = False


@pytest.fixture
def server() -> Mortal:
    return Mortal()


@pytest.fixture
def watched(server: Mortal) -> SupervisedServer:
    watched = SupervisedServer("worker", server)
    watched.start()
    return watched


def test_a_living_server_is_no_news(watched: SupervisedServer, server: Mortal) -> None:
    assert watched.restart_if_due(now=watched.started + 1) is None
    assert server.starts == 1


def test_a_dead_server_is_started_again_when_its_time_has_come(
    watched: SupervisedServer, server: Mortal
) -> None:
    server.alive = False
    now = watched.started + 5
    assert watched.restart_if_due(now=now) == "worker ended and starts again in 1 s"
    assert watched.restart_if_due(now=now + 0.9) is None
    assert server.starts == 1
    assert watched.restart_if_due(now=now + 1.1) == "worker runs again"
    assert server.starts == 2


def test_one_that_keeps_dying_waits_longer_each_time_up_to_a_bound(
    watched: SupervisedServer, server: Mortal
) -> None:
    waits = []
    for _ in range(8):
        server.alive = False
        watched.restart_if_due(now=watched.started + 1)
        waits.append(watched.backoff)
        watched.restart_if_due(now=watched.started + 100)
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]


def test_one_that_has_lived_long_starts_again_soon(
    watched: SupervisedServer, server: Mortal
) -> None:
    watched.backoff = 30
    server.alive = False
    watched.restart_if_due(now=watched.started + 61)
    assert watched.backoff == 0.5


def test_a_failed_restart_is_told_and_tried_again(
    watched: SupervisedServer, server: Mortal
) -> None:
    server.alive, server.fails = False, True
    now = watched.started + 1
    watched.restart_if_due(now=now)
    assert watched.restart_if_due(now=now + 2) == "It did not start."
    server.fails = False
    assert watched.restart_if_due(now=now + 10) is None
    assert watched.restart_if_due(now=now + 40) == "worker runs again"


def test_a_taken_port_is_refused_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(EmbeddedError, match=r"can't listen on .* set PORT to another port\.$"):
            address.refuse_if_taken()
    address.refuse_if_taken()


def test_nothing_behind_the_port_is_not_healthy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert not Address("127.0.0.1", port).is_healthy()


# A program that ends when it is asked to, and a child of it that doesn't. It is started from a
# process of its own, since a copy of this one, which has threads, may wait for a lock forever.
TWO_OF_A_PROGRAM = """
import os, signal, sys
from pathlib import Path
from foundation.embedded.folder import DataFolder
from foundation.embedded.child_processes import Program

def two():
    if not os.fork():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, f"up {os.getpid()}\\n".encode())
    signal.pause()

program = Program("web", two, folder=DataFolder(Path(sys.argv[1])))
program.start()
print("started", flush=True)
sys.stdin.read(1)
program.stop()
print("running" if program.is_running() else "stopped")
"""


def test_a_program_ends_with_all_it_started(folder: DataFolder) -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", TWO_OF_A_PROGRAM, folder.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout and supervisor.stdout.readline() == "started\n"
    known = PidFile(folder.pid_file("web")).alive()
    assert known
    pids: set[int] = set()
    while len(pids) < 2:
        assert PidFile(folder.pid_file("web")).alive()
        lines = folder.log_file("web").read_text().splitlines(keepends=True)
        pids = {int(line.split()[1]) for line in lines if line.endswith("\n")}
    handle = os.pidfd_open((pids - {known[0]}).pop())
    assert supervisor.communicate("x", timeout=60)[0] == "stopped\n"
    # Readable once the process behind it has ended.
    assert select.select([handle], [], [], 10)[0] == [handle]
    os.close(handle)


def test_what_a_killed_supervisor_left_is_ended_and_nothing_else(folder: DataFolder) -> None:
    environment = {**os.environ, MARK: str(folder.path)}
    known = spawn(FOREVER, log=folder.log_file("web"))
    PidFile(folder.pid_file("web")).write(known.pid)
    unknown = spawn(FOREVER, log=folder.log_file("web"), environment=environment)
    neighbour = {**os.environ, MARK: f"{folder.path}-2"}
    stranger = spawn(FOREVER, log=folder.log_file("web"), environment=neighbour)
    end_leftovers(folder, names=["web", "worker"])
    assert unknown.wait() == -signal.SIGKILL
    known.wait()
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_small_server_gets_one_process_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.delenv("MEMCENTER_PROFILE", raising=False)
    assert _profile() == PROFILES["default"] == ProcessCounts(web=2, worker=2)
    monkeypatch.setenv("MEMCENTER_PROFILE", "small")
    assert _profile() == ProcessCounts(web=1, worker=1)
    monkeypatch.setenv("MEMCENTER_PROFILE", "tiny")
    with pytest.raises(env.BadSetting):
        _profile()


@pytest.mark.parametrize(
    ("given", "processes"),
    [
        ({}, "2"),
        ({"MEMCENTER_PROFILE": "small"}, "1"),
        ({"MEMCENTER_PROFILE": "small", "WEB_WORKERS": "3", "WORKERS": "3"}, "3"),
    ],
)
@pytest.mark.parametrize(("script", "option"), [("web.sh", "--workers"), ("worker.sh", "-c")])
def test_the_containers_know_the_profiles(
    tmp_path: Path, given: dict[str, str], processes: str, script: str, option: str
) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o700)
    path = Path(__file__).parents[3] / "deploy" / script
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"} | given
    told = subprocess.run(
        ["/bin/sh", path], env=environment, capture_output=True, text=True, check=True
    )
    assert f" {option} {processes} " in told.stdout
