import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.embedded.child_processes import PidFile, last_lines, spawn, start_time

STOPPING = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))
FOREVER = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]


def test_a_known_process_is_stopped_and_forgotten(tmp_path: Path) -> None:
    child = spawn(FOREVER, log=tmp_path / "log")
    pid_file = PidFile(tmp_path / "pid")
    pid_file.write(child.pid)
    assert pid_file.alive() == (child.pid, start_time(child.pid))
    pid_file.stop(STOPPING)
    child.wait()
    assert pid_file.alive() is None
    assert not (tmp_path / "pid").exists()


def test_a_process_that_ignores_the_first_signal_gets_the_next(tmp_path: Path) -> None:
    deaf = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up'); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-uc", deaf], stdout=subprocess.PIPE) as child:
        assert child.stdout and child.stdout.readline() == b"up\n"
        pid_file = PidFile(tmp_path / "pid")
        pid_file.write(child.pid)
        pid_file.stop(((signal.SIGTERM, 0.1), (signal.SIGKILL, 5.0)))
    assert pid_file.alive() is None


def test_a_stranger_with_the_pid_of_a_dead_server_is_left_alone(tmp_path: Path) -> None:
    stranger = spawn(FOREVER, log=tmp_path / "log")
    pid_file = PidFile(tmp_path / "pid")
    pid_file.path.write_text(json.dumps({"pid": stranger.pid, "started": "1"}))
    pid_file.stop(STOPPING)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"pid": "x", "started": "1"}'])
def test_a_damaged_pid_file_names_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "pid").write_text(text)
    assert PidFile(tmp_path / "pid").alive() is None


def test_a_process_that_has_ended_unwaited_counts_as_gone(tmp_path: Path) -> None:
    child = spawn(["true"], log=tmp_path / "log")
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert start_time(child.pid) is None
    child.wait()


STARTER = """
import pathlib, signal, sys
from foundation.embedded.child_processes import spawn
child = spawn(["sleep", "600"], log=pathlib.Path(sys.argv[1]), dies_with_parent_by=signal.SIGKILL)
print(child.pid, flush=True)
signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent's end")
def test_a_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        # Readable once that process has ended.
        handle = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    assert select.select([handle], [], [], 10)[0] == [handle]
    os.close(handle)


def test_a_log_that_has_grown_long_is_put_aside(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"old\n" * 2_600_000)
    spawn(["echo", "new"], log=log).wait()
    assert log.read_text() == "new\n"
    assert (tmp_path / "web.log.1").exists()


def test_the_last_lines_of_a_missing_log_are_empty(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "none") == ""
    (tmp_path / "log").write_text("one\ntwo\nthree\n")
    assert last_lines(tmp_path / "log", 2) == "two three"
