"""One of our own processes (web, worker, beat) as a child of the supervisor."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from memcenter.embedded.folder import DataFolder
from memcenter.embedded.process import Escalation, PidFile, spawn

# In the environment of every program and so of everything it starts: by it what a killed
# supervisor left behind is told from the processes of others.
MARK = "MEMCENTER_SUPERVISED"
STOPPING: Escalation = ((signal.SIGTERM, 6.0), (signal.SIGKILL, 3.0))


class Program:
    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        folder: DataFolder,
        stopping: Escalation = STOPPING,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log = folder.log_file(name)
        self._command = command
        self._environment = {**(environment or {}), MARK: str(folder.path)}
        self._stopping = stopping
        self._pid_file = PidFile(folder.pid_file(name))
        self._child: subprocess.Popen[bytes] | None = None

    def is_running(self) -> bool:
        return self._pid_file.alive() is not None

    def start(self) -> None:
        self._end_group()
        self._child = spawn(
            self._command,
            log=self.log,
            environment={**os.environ, **self._environment},
            dies_with_parent_by=signal.SIGTERM,
        )
        self._pid_file.write(self._child.pid)

    def stop(self) -> None:
        self._pid_file.stop(self._stopping)
        self._end_group()

    def _end_group(self) -> None:
        """End the processes it started and left; its pid is ours until it is waited for."""
        if self._child:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            self._child = None


def end_leftovers(folder: DataFolder, *, names: Sequence[str]) -> None:
    """End what an earlier, killed supervisor of this folder left running."""
    for name in names:
        PidFile(folder.pid_file(name)).stop(STOPPING)
    mark = f"{MARK}={folder.path}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
