"""What can be done to a running product: its processes killed, stopped, starved of disk or time."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench import product
from bench.careful import Answer, Client
from bench.chaotic import Person
from bench.planted import Store
from memcenter.embedded.folder import DataFolder
from memcenter.embedded.instance import Instance
from memcenter.embedded.process import PidFile

LEASE = 4
_DEATHS, _DYING_SECONDS = 30, 10.0
_SILENCE = 6.0
_DETOURS = 0.5
# Nothing twice within a minute: the supervisor waits ever longer for what dies young.
FAULTS = (
    "killed at named steps",
    "worker killed",
    "killed at named steps",
    "web killed",
    "web killed at named moments",
    "Redis killed|Redis silent",
    "killed at named steps",
    "PostgreSQL killed|PostgreSQL restarted",
    "disk full",
    "killed at named steps",
    "clock ahead|clock behind",
    "worker stopped past its lease",
)


class Mortal:
    """The process that has children die on order (`bench/dying.py`)."""

    def __init__(self, folder: DataFolder, environment: dict[str, str], log: Path) -> None:
        self._lock = threading.Lock()
        self.died: list[str] = []
        self.passed: set[str] = set()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.dying"],
            cwd=product.ROOT,
            env=environment | Instance(folder).environment() | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            text=True,
        )

    def order(self, how: str, **more: Any) -> dict[str, Any]:
        with self._lock:
            if self._process.stdin is None or self._process.stdout is None:
                raise RuntimeError("it was started with pipes")
            self._process.stdin.write(json.dumps({"how": how, **more}) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.died += answer["died"]
        self.passed.update(answer["passed"])
        return answer

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


class Chaos:
    """One product that all runs share, and the means to hurt it."""

    def __init__(self, running: product.Product) -> None:
        self.product = running
        self.folder = DataFolder(running.environment["MEMCENTER_DATA_DIR"])
        self.client = Client(running.port, running.api_key)
        self.store = Store(self.folder)
        self._focus = -1
        self.scanned = 0  # up to which attempt scans were looked at
        log = self.folder.path.parent / "dying.log"
        self.mortal = Mortal(self.folder, running.environment, log)

    def stop(self) -> None:
        self.mortal.stop()
        self.store.close()

    def client_for(self, fault: str) -> Client:
        """Whom the people of a run talk to."""
        if fault != "web killed at named moments":
            return self.client
        return Client(self.client.port, self.client.key, detour=self._detour)

    def _detour(self, request: dict[str, Any]) -> Answer | None:
        if random.random() > _DETOURS:
            return None
        told = self.mortal.order("request", **request)
        if "answer" not in told:
            return None
        status, content = told["answer"]
        return int(status), json.loads(content or "null")

    def hurt(self, fault: str, crowd: list[Person]) -> None:
        getattr(self, "_" + fault.lower().replace(" ", "_"))(crowd)

    def _killed_at_named_steps(self, crowd: list[Person]) -> None:
        with self._stopped():
            self.mortal.order("work", people=[one.user_id for one in crowd])
            at = self._kinds_to_die_at()
            self.mortal.order("step", at=at, deaths=_DEATHS, seconds=_DYING_SECONDS)

    def _kinds_to_die_at(self) -> list[str]:
        """All of them at first, and then in turns one that has moments not hit yet."""
        left = self.mortal.passed - set(self.mortal.died)
        parts = [moment.split(": ") for moment in left]
        kinds = sorted({f"{kind}: " for kind, *rest in parts if rest and " " not in kind})
        self._focus += 1
        return [kinds[self._focus % len(kinds)]] if kinds and self._focus % 4 else [""]

    def _worker_killed(self, crowd: list[Person]) -> None:
        """Another one works on while it starts again."""
        self._signal("worker", signal.SIGKILL)
        self.mortal.order("plain")

    def _web_killed(self, crowd: list[Person]) -> None:
        self._signal("web", signal.SIGKILL)

    def _web_killed_at_named_moments(self, crowd: list[Person]) -> None:
        """It happens with each request."""

    def _redis_killed(self, crowd: list[Person]) -> None:
        self._signal("redis", signal.SIGKILL, group=False)

    def _redis_silent(self, crowd: list[Person]) -> None:
        self._signal("redis", signal.SIGSTOP, group=False)
        time.sleep(_SILENCE)
        self._signal("redis", signal.SIGCONT, group=False)

    def _postgresql_killed(self, crowd: list[Person]) -> None:
        self._signal("postgres", signal.SIGKILL, group=False)

    def _postgresql_restarted(self, crowd: list[Person]) -> None:
        self._signal("postgres", signal.SIGINT, group=False)

    def _disk_full(self, crowd: list[Person]) -> None:
        with self._stopped():
            for one in crowd:
                one.export()
            self.mortal.order("full")

    def _clock_ahead(self, crowd: list[Person]) -> None:
        self.mortal.order("clock", hours=2)

    def _clock_behind(self, crowd: list[Person]) -> None:
        self.mortal.order("clock", hours=-2)

    def _worker_stopped_past_its_lease(self, crowd: list[Person]) -> None:
        with self._stopped():
            time.sleep(LEASE + 0.5)
            self.mortal.order("plain")

    @contextmanager
    def _stopped(self) -> Iterator[None]:
        """The product's own worker stands still, perhaps in the middle of something."""
        self._signal("worker", signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal("worker", signal.SIGCONT)

    def _signal(self, name: str, number: signal.Signals, *, group: bool = True) -> None:
        known = PidFile(self.folder.pid_file(name)).alive()
        if known is not None:
            with suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(known[0], number)
