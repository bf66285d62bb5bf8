"""Server processes that outlive a call: known by pid and start time, never by pid alone."""

import contextlib
import ctypes
import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LONGEST_LOG = 10_000_000
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None

Escalation = Sequence[tuple[signal.Signals, float]]


def started_at(pid: int) -> str | None:
    """When the process began, in the system's own words; None where it has ended.

    A pid is used again sooner or later; with the start time it names one process for good.
    """
    if sys.platform != "linux":
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() or None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in brackets may hold spaces and brackets of its own.
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
    """Remembers one process across the life of whoever started it."""

    path: Path

    def write(self, pid: int) -> None:
        text = json.dumps({"pid": pid, "started": started_at(pid)})
        temporary = self.path.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)

    def alive(self) -> tuple[int, str] | None:
        """The pid and start time of the process, if that very process still runs."""
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            pid, started = int(known["pid"]), str(known["started"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (pid, started) if started_at(pid) == started else None

    def stop(self, escalation: Escalation, *, group: bool = False) -> None:
        """Signal it, harder each time, until it is gone; `group` takes its children too."""
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
        if os.getppid() != parent:  # it died before the kernel knew our wish
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
    if log.exists() and log.stat().st_size > _LONGEST_LOG:
        log.replace(log.with_name(log.name + ".1"))
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


def _group_of(user: str | None) -> int | None:
    if user is None:
        return None
    return pwd.getpwnam(user).pw_gid


def last_lines(log: Path, count: int = 1) -> str:
    """What a server said last, for the sentence that reports its end."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return " ".join(lines[-count:])
