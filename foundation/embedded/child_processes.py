"""Start, watch and stop processes: database servers, and our programs (forks of the supervisor).

A process is identified by its pid together with its start time, since pids are reused.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import runpy
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import ClassVar, NoReturn

from foundation import paths
from foundation.embedded.folder import DataFolder

# The environment variable that a supervisor and its programs set to the path of the data folder. It
# identifies programs that a killed supervisor left running.
MARK = "MEMCENTER_SUPERVISED"
_PR_SET_PDEATHSIG = 1
_LONGEST_LOG = 10_000_000
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None

Escalation = Sequence[tuple[signal.Signals, float]]


def start_time(pid: int) -> str | None:
    """Return the start time of a process as text, or None if the process has ended."""
    if sys.platform != "linux":
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() or None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The program name in parentheses may itself contain spaces and parentheses.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def wait_for_exit(pid: int, started: str, *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while start_time(pid) == started:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return True


@dataclass(frozen=True)
class PidFile:
    """A file that contains the pid and the start time of a process.

    With this file, the process can be found even after its parent has ended.
    """

    path: Path

    def write(self, pid: int) -> None:
        text = json.dumps({"pid": pid, "started": start_time(pid)})
        temporary = self.path.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)

    def alive(self) -> tuple[int, str] | None:
        """Return the pid and the start time of the process, or None if the process has ended."""
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            pid, started = int(known["pid"]), str(known["started"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (pid, started) if start_time(pid) == started else None

    def stop(self, escalation: Escalation) -> None:
        """Send one signal after another to the process until the process has ended.

        `escalation` lists the signals with the seconds to wait after each.
        """
        for number, seconds in escalation:
            known = self.alive()
            if known is None:
                break
            with contextlib.suppress(ProcessLookupError):
                os.kill(known[0], number)
            wait_for_exit(*known, seconds=seconds)
        self.path.unlink(missing_ok=True)


def _dying_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    if _LIBC is None:
        return None
    libc, parent = _LIBC, os.getpid()

    def ask_the_kernel() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # the parent died before prctl took effect
            os._exit(1)

    return ask_the_kernel


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    user: str | None = None,
    environment: dict[str, str] | None = None,
    feed: bytes = b"",
    dies_with_parent_by: signal.Signals | None = None,
) -> subprocess.Popen[bytes]:
    """Start a server process in a session of its own.

    Ctrl-C therefore reaches only the supervisor, which then stops the server. The server's output
    is appended to `log`, and `feed` is written to its stdin. With `dies_with_parent_by`, Linux
    sends this signal to the server when the process that started it ends.
    """
    if environment is None:
        environment = {name: value for name, value in os.environ.items() if name != MARK}
    _put_aside_if_long(log)
    with log.open("ab") as output:
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/" if user else None,
            env=environment,
            user=user,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
            umask=0o077,
            start_new_session=True,
            preexec_fn=_dying_with_parent(dies_with_parent_by) if dies_with_parent_by else None,
        )
    if feed and child.stdin:
        with contextlib.suppress(BrokenPipeError), child.stdin:
            child.stdin.write(feed)
    return child


def fork(run: Callable[[], object], *, log: Path, dies_with_parent_by: signal.Signals) -> int:
    """Run `run` in a forked copy of this process, in its own session; return the pid of the copy.

    The copy shares all loaded memory with this process, but no file, socket or lock. This process
    must have no other threads and no open connections.
    """
    ask_the_kernel = _dying_with_parent(dies_with_parent_by)
    _put_aside_if_long(log)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    pid = os.fork()
    if not pid:
        _run_and_exit(run, output, ask_the_kernel)
    os.close(output)
    return pid


def _run_and_exit(
    run: Callable[[], object], output: int, ask_the_kernel: Callable[[], None] | None
) -> NoReturn:
    code = 1
    try:
        os.setsid()
        if ask_the_kernel:
            ask_the_kernel()
        os.umask(0o077)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _exchange_files(output)
        run()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _exchange_files(output: int) -> None:
    """Redirect stdout and stderr to `output`, and all other inherited files to /dev/null.

    The process then no longer holds any inherited locks. The descriptors stay open, since the
    objects that own them may try to close them later.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    inherited = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    for number in inherited:
        if number not in (nothing, output):
            with contextlib.suppress(OSError):
                os.fstat(number)  # raises if it was the directory listing's own descriptor
                os.dup2(output if number in (1, 2) else nothing, number)


def _put_aside_if_long(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LONGEST_LOG:
        log.replace(log.with_name(log.name + ".1"))


def last_lines(log: Path, count: int = 1) -> str:
    """Return the last lines of a server's log as one line, or "" if the log can't be read."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return " ".join(lines[-count:])


STOPPING: Escalation = ((signal.SIGTERM, 6.0), (signal.SIGKILL, 3.0))


def module_runner(name: str, *arguments: str | Path) -> Callable[[], object]:
    """Return a function for a forked process that does the same as `python -m name arguments`."""

    def run() -> None:
        # The web server imports from the current folder, which could contain foreign modules.
        os.chdir(paths.BASE_DIR)
        sys.argv = [name, *map(str, arguments)]
        runpy.run_module(name, run_name="__main__", alter_sys=True)

    return run


def function_runner(module: str, name: str, *arguments: object) -> Callable[[], object]:
    """Return a function for a forked process that imports `module` and calls `name(*arguments)`."""

    def run() -> None:
        os.chdir(paths.BASE_DIR)
        getattr(import_module(module), name)(*arguments)

    return run


class DatabaseServer:
    """A bundled database server. Subclasses implement `is_ready`.

    With `dies_with_parent`, Linux stops the server when the process that started it is killed.
    """

    name: ClassVar[str]
    stopping: ClassVar[Escalation]

    def __init__(self, folder: DataFolder, *, dies_with_parent: bool = True) -> None:
        self.folder = folder
        self._dies_with_parent = dies_with_parent
        self._pid_file = PidFile(folder.pid_file(self.name))
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder.log_file(self.name)

    def is_running(self) -> bool:
        return self._pid_file.alive() is not None

    def is_ready(self) -> bool:
        raise NotImplementedError

    def stop(self) -> None:
        """Stop the server and close its connections.

        PostgreSQL keeps all committed data; Redis, which stores nothing on disk, loses its data.
        """
        self._pid_file.stop(self.stopping)
        self._forget_child()

    def _forget_child(self) -> None:
        if self._child:
            self._child.wait()
            self._child = None

    def _wait_until_ready(self, *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.is_running() and time.monotonic() < deadline:
            if self.is_ready():
                return True
            time.sleep(0.03)
        return False


class Program:
    def __init__(self, name: str, run: Callable[[], object], *, folder: DataFolder) -> None:
        self.name = name
        self.log = folder.log_file(name)
        self._run = run
        self._pid_file = PidFile(folder.pid_file(name))
        self._pid: int | None = None

    def is_running(self) -> bool:
        return self._pid_file.alive() is not None

    def start(self) -> None:
        self._end_group()
        self._pid = fork(self._run, log=self.log, dies_with_parent_by=signal.SIGTERM)
        self._pid_file.write(self._pid)

    def stop(self) -> None:
        self._pid_file.stop(STOPPING)
        self._end_group()

    def _end_group(self) -> None:
        """Kill all remaining processes of the program's process group.

        Only processes of this program are killed, since the kernel doesn't reuse the id of a group
        that still has processes.
        """
        if self._pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
            self._pid = None


def end_leftovers(folder: DataFolder, *, names: Sequence[str]) -> None:
    """Stop programs that were left running when the supervisor of this folder was killed."""
    for name in names:
        PidFile(folder.pid_file(name)).stop(STOPPING)
    mark = f"{MARK}={folder.path}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.name == str(os.getpid()):
                continue
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
