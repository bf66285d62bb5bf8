"""Server processes that outlive a call: known by pid and start time, never by pid alone."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

# Environment variables of a supervisor and of its programs, with the folder. They identify programs
# that a killed supervisor left running.
MARK = "MEMCENTER_SUPERVISED"
_PR_SET_PDEATHSIG = 1
_LONGEST_LOG = 10_000_000
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None

Escalation = Sequence[tuple[signal.Signals, float]]


def started_at(pid: int) -> str | None:
    """Return the process's start time as text, or None if it has ended.

    Pids are reused; pid and start time together identify a process.
    """
    if sys.platform != "linux":
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() or None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in brackets may contain spaces and brackets.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def wait_until_gone(pid: int, started: str, *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while started_at(pid) == started:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    _reap(pid)
    return True


@dataclass(frozen=True)
class PidFile:
    """A file that identifies a process beyond the life of its parent."""

    path: Path

    def write(self, pid: int) -> None:
        text = json.dumps({"pid": pid, "started": started_at(pid)})
        temporary = self.path.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)

    def alive(self) -> tuple[int, str] | None:
        """Return pid and start time if that process still runs."""
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            pid, started = int(known["pid"]), str(known["started"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (pid, started) if started_at(pid) == started else None

    def stop(self, escalation: Escalation, *, group: bool = False) -> None:
        """Send stronger and stronger signals until it ends; `group` includes its children."""
        for number, seconds in escalation:
            known = self.alive()
            if known is None:
                break
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(known[0], number)
            wait_until_gone(*known, seconds=seconds)
        self.path.unlink(missing_ok=True)


def _dying_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    if _LIBC is None:
        return None
    libc, parent = _LIBC, os.getpid()

    def ask_the_kernel() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # the process died before the signal
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
    """Start a server in a session of its own, so that Ctrl-C reaches only its supervisor."""
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
            group=_group_of(user),
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
    """Start `run` in a copy of this process, in a session of its own; return its pid.

    The copy shares the memory of everything that is loaded here, but no file, socket or lock. This
    process must have no other threads and no open connections.
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
    """Run as a process of its own. Nothing of the copied process is left or cleaned up here."""
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
    """Write to `output`, and close all other files, since their locks would stay held.

    Their numbers stay in use, because the objects that own them may close them later.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    inherited = [int(one.name) for one in Path("/proc/self/fd").iterdir()]
    for number in inherited:
        if number not in (nothing, output):
            with contextlib.suppress(OSError):
                os.fstat(number)  # the directory listing's own file is closed already
                os.dup2(output if number in (1, 2) else nothing, number)


def _put_aside_if_long(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LONGEST_LOG:
        log.replace(log.with_name(log.name + ".1"))


def _group_of(user: str | None) -> int | None:
    if user is None:
        return None
    return pwd.getpwnam(user).pw_gid


def last_lines(log: Path, count: int = 1) -> str:
    """Return the last log lines of a server, to report its end."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return " ".join(lines[-count:])
