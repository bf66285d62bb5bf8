"""The one-command run from outside, as a person at a terminal has it."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.embedded.child_processes import MARK, PidFile

ROOT = Path(__file__).parents[3]
MANAGE = [sys.executable, str(ROOT / "manage.py")]
OURS = {"DATABASE_URL", "MEMCENTER_OWNER_DATABASE_URL", "REDIS_URL", "MEMCENTER_SECRET_KEY"}


def _environment(folder: Path, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**inherited, "MEMCENTER_DATA_DIR": str(folder), **more}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Served:
    def __init__(self, place: Path) -> None:
        self.folder, self.port = place / "data", _free_port()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*MANAGE, "serve"],
            env=_environment(self.folder, PORT=str(self.port)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = ""
        self.until("Ctrl-C")

    def runs(self) -> bool:
        return self.process.poll() is None

    def until(self, text: str) -> None:
        assert self.process.stdout
        pipe, deadline = self.process.stdout.fileno(), time.monotonic() + 120
        while text not in self.said:
            left = deadline - time.monotonic()
            assert select.select([pipe], [], [], max(left, 0))[0], self.said
            chunk = os.read(pipe, 65536)
            assert chunk, f"It ended: {self.said}"
            self.said += chunk.decode()

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        self.process.communicate()
        return self.process.returncode

    def pid(self, name: str) -> int:
        known = PidFile(self.folder / f"{name}.pid").alive()
        assert known, name
        return known[0]

    def get(self, path: str) -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as answer:
            return int(answer.status)

    def left(self) -> list[str]:
        mark = f"{MARK}={self.folder}".encode()
        return [
            process.name
            for process in Path("/proc").glob("[0-9]*")
            if mark in _environment_of(process)
        ]


def _environment_of(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def one_server() -> Iterator[Served]:
    place = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    place.chmod(0o755)
    served = Served(place)
    yield served
    if served.runs():
        served.end(signal.SIGTERM)
    shutil.rmtree(place)


@pytest.fixture
def served(one_server: Served) -> Served:
    """It runs; starting it takes long, so that is done once, and after a test that ended it."""
    if not one_server.runs():
        one_server.start()
    return one_server


def _manage(*arguments: str, folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*MANAGE, *arguments],
        env=_environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_it_answers_and_tells_address_login_and_key(served: Served) -> None:
    assert served.get("/healthz") == 200
    login = json.loads((served.folder / "first-login.json").read_text())
    assert (served.folder / "first-login.json").stat().st_mode & 0o077 == 0
    for text in (f"http://127.0.0.1:{served.port}", *login.values()):
        assert text in served.said


def test_a_second_run_on_the_same_folder_is_refused_in_one_sentence(served: Served) -> None:
    second = _manage("serve", folder=served.folder, PORT=str(_free_port()))
    assert second.returncode == 1 and second.stdout == ""
    assert second.stderr.splitlines()[1:] == []
    assert second.stderr.startswith("Memory Center already runs on")
    assert served.get("/healthz") == 200


def test_a_taken_port_is_refused_in_one_sentence_and_starts_nothing(
    served: Served, place: Path
) -> None:
    second = _manage("serve", folder=place / "other", PORT=str(served.port))
    assert second.returncode == 1 and second.stdout == ""
    assert second.stderr.splitlines()[1:] == []
    assert second.stderr.startswith("Memory Center can't listen on")
    assert not (place / "other" / "pg").exists()


def test_killed_servers_start_again(served: Served) -> None:
    for name, title in (("worker", "worker"), ("redis", "Redis"), ("postgres", "PostgreSQL")):
        before = served.pid(name)
        os.kill(before, signal.SIGKILL)
        served.until(f"{title} runs again")
        assert served.pid(name) != before


def test_the_programs_share_what_the_supervisor_has_loaded(served: Served) -> None:
    for name in ("web", "worker", "beat"):
        text = Path(f"/proc/{served.pid(name)}/smaps_rollup").read_text()
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()[1:]}
        assert kilobytes["Shared_Dirty"] > 4 * kilobytes["Private_Dirty"], name


def test_a_command_beside_it_uses_the_same_databases(served: Served) -> None:
    before = served.pid("postgres")
    query = "from ops.access import as_system; from ops.models import User; a = as_system(); "
    query += (
        "a.__enter__(); print('login', User.objects.get().username); a.__exit__(None, None, None)"
    )
    answer = _manage("shell", "-v0", "-c", query, folder=served.folder)
    assert "login demo" in answer.stdout, answer.stderr
    assert served.pid("postgres") == before


def test_after_a_kill_it_starts_again_and_a_polite_end_leaves_no_process(served: Served) -> None:
    login = json.loads((served.folder / "first-login.json").read_text())
    served.end(signal.SIGKILL)
    served.start()
    assert served.get("/healthz") == 200
    assert login["password"] in served.said
    pids = [served.pid(name) for name in ("postgres", "redis", "web", "worker", "beat")]
    assert served.end(signal.SIGTERM) == 0
    assert served.left() == []
    assert not [pid for pid in pids if _environment_of(Path(f"/proc/{pid}"))]


def test_commands_that_need_no_database_make_no_folder(place: Path) -> None:
    for arguments in (["check"], ["help"], ["migrate", "--help"]):
        assert _manage(*arguments, folder=place / "none").returncode == 0
    assert not (place / "none").exists()


def test_half_a_production_setting_is_refused(place: Path) -> None:
    url = "postgresql://nobody@/none?host=%2Fnone"
    answer = _manage("serve", folder=place / "none", DATABASE_URL=url)
    assert answer.returncode == 1
    assert answer.stderr.strip() == (
        "DATABASE_URL is set and REDIS_URL is not; set both or neither."
    )
