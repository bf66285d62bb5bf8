"""The web server Granian, changed so that at least one process always listens during a reload.

`python -m memcenter.web --interface wsgi ... memcenter.wsgi:application` accepts Granian's own
options. On SIGHUP, Granian starts a new process and ends the old one a fixed time later, when the
new process may still be loading. This server waits until the new process is listening.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from granian import cli
from granian.server.mp import MPServer

_LISTENS = "0A"  # the state of a socket in /proc/net/tcp, see proc(5)
_LOOK_EVERY = 0.1


class WebServer(MPServer):
    _replaces = False

    def _respawn_workers(
        self, workers: Any, spawn_target: Any, target_loader: Any, delay: float = 0.0
    ) -> None:
        self._replaces = True
        super()._respawn_workers(workers, spawn_target, target_loader)
        self._replaces = False

    def _spawn_worker(self, *arguments: Any, **named: Any) -> Any:
        worker: Any = super()._spawn_worker(*arguments, **named)
        if self._replaces:
            start = worker.start

            def start_and_wait() -> None:
                start()
                self._wait_for(worker)

            worker.start = start_and_wait
        return worker

    def _wait_for(self, worker: Any) -> None:
        while worker.is_alive() and not self.interrupt_signal:
            if _is_listening(worker._id(), self.bind_port):
                return
            time.sleep(_LOOK_EVERY)


def _is_listening(pid: int, port: int) -> bool:
    process = Path("/proc") / str(pid)
    try:
        tables = [(process / "net" / name).read_text() for name in ("tcp", "tcp6")]
        own = {str(file.readlink()) for file in (process / "fd").iterdir()}
    except OSError:
        return False
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    here = [row for row in rows if row[3] == _LISTENS and row[1].endswith(f":{port:04X}")]
    return any(f"socket:[{row[9]}]" in own for row in here)


if __name__ == "__main__":
    cli.Server = WebServer  # type: ignore[attr-defined]
    cli.entrypoint()  # type: ignore[no-untyped-call]
