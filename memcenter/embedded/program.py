"""Our own processes (web, worker, beat), which are forks of the supervisor."""

import contextlib
import os
import runpy
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from memcenter.embedded.folder import DataFolder
from memcenter.embedded.process import MARK, Escalation, PidFile, fork
from memcenter.lib import places

STOPPING: Escalation = ((signal.SIGTERM, 6.0), (signal.SIGKILL, 3.0))


def of_module(name: str, *arguments: str | Path) -> Callable[[], object]:
    """Return a function that does `python -m name arguments`, for a forked process."""
    return partial(_run_module, [name, *map(str, arguments)])


def _run_module(arguments: list[str]) -> None:
    # Web server and Celery look for modules in the current folder, which may be anybody's.
    os.chdir(places.BASE_DIR)
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


class Program:
    def __init__(
        self,
        name: str,
        run: Callable[[], object],
        *,
        folder: DataFolder,
        stopping: Escalation = STOPPING,
    ) -> None:
        self.name = name
        self.log = folder.log_file(name)
        self._run = run
        self._stopping = stopping
        self._pid_file = PidFile(folder.pid_file(name))
        self._pid: int | None = None

    def is_running(self) -> bool:
        return self._pid_file.alive() is not None

    def start(self) -> None:
        self._end_group()
        self._pid = fork(self._run, log=self.log, dies_with_parent_by=signal.SIGTERM)
        self._pid_file.write(self._pid)

    def stop(self) -> None:
        self._pid_file.stop(self._stopping)
        self._end_group()

    def _end_group(self) -> None:
        """End its remaining child processes; the group's number isn't reused while any is left."""
        if self._pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
            self._pid = None


def end_leftovers(folder: DataFolder, *, names: Sequence[str]) -> None:
    """End programs left running by a killed supervisor of this folder."""
    for name in names:
        PidFile(folder.pid_file(name)).stop(STOPPING)
    mark = f"{MARK}={folder.path}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.name == str(os.getpid()):
                continue
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
