"""Faults for a running product: killed or stopped processes, a full disk, a wrong clock."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench import listening, moments, product, wishing
from bench.careful import Answer, Client
from bench.chaotic import Person
from bench.planted import Store
from foundation.embedded.child_processes import PidFile
from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder

LEASE = 4
STEPS = "killed at named steps"
_DEATHS, _DYING_SECONDS = 40, 20.0
_QUIET = 2  # rounds without a death after which a run ends
_UNAIMED = 5  # every fifth order has no particular kind
_UNKNOWN = 4  # assumed number of steps of a kind that never ran
_SILENCE = 6.0  # seconds
_DETOURS = 0.5  # share of the writes
# In this order no process is killed twice within a minute. Otherwise the supervisor's restart delay
# would grow.
FAULTS = (
    STEPS,
    "worker killed",
    STEPS,
    "web killed",
    "web killed at named moments",
    "Redis killed|Redis silent",
    STEPS,
    "PostgreSQL killed|PostgreSQL restarted",
    "disk full",
    STEPS,
    "clock ahead|clock behind",
    "worker stopped past its lease",
)


class Mortal:
    """Sends orders to the process `bench/dying.py`, whose children are killed at chosen moments."""

    def __init__(self, folder: DataFolder, environment: dict[str, str], log: Path) -> None:
        self._lock = threading.Lock()
        self.died: list[str] = []
        self.passed: set[str] = set()
        self._turn = 0
        self._aimed: Counter[str] = Counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.dying"],
            cwd=product.ROOT,
            env=environment | Instance(folder).environment(),
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

    def moments_left(self) -> list[str]:
        """Return the moments that processes survived and at which no process has died."""
        return sorted(self.passed - set(self.died))

    def steps_left(self) -> list[str]:
        """Return the steps of operations in which no process has died yet."""
        hit = set(map(moments.step_of, self.died))
        return sorted(
            {moments.step_of(moment) for moment in self.passed if moments.of_worker(moment)} - hit
        )

    def next_aim(self) -> str:
        """Choose the kind of operation with the most untested steps.

        The number of steps is divided by how often the kind was chosen before. If all steps are
        tested, moments within steps count. Return "" (any kind) if nothing is left to test, and in
        every fifth call.
        """
        self._turn += 1
        if self._turn % _UNAIMED == 0:
            return ""
        known = {moments.kind_of(moment) for moment in self.passed | set(self.died)}
        left = Counter(map(moments.kind_of, self.steps_left()))
        left.update(dict.fromkeys(wishing.kinds() - known, _UNKNOWN))
        left = left or Counter(map(moments.kind_of, filter(moments.of_worker, self.moments_left())))
        if not left:
            return ""
        aim = max(sorted(left), key=lambda kind: left[kind] / (1 + self._aimed[kind]))
        self._aimed[aim] += 1
        return aim

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


class Chaos:
    """The product that all runs share, and the faults that can be caused in it."""

    def __init__(self, running: product.Product) -> None:
        self.product = running
        self.folder = DataFolder(running.environment["MEMCENTER_DATA_DIR"])
        self.client = Client(running.port, running.api_key)
        self.store = Store(self.folder)
        self._aim = ""
        self.scanned = 0  # id of the last attempt whose residue scan was read
        log = self.folder.path.parent / "dying.log"
        self.mortal = Mortal(self.folder, running.environment, log)
        self._listener = listening.start()
        address = f"http://127.0.0.1:{self._listener.server_port}/"
        running.post("/webhooks", {"url": address, "events": ["memory.created", "memory.deleted"]})

    def stop(self) -> None:
        self._listener.shutdown()
        self.mortal.stop()
        self.store.close()

    def client_for(self, fault: str) -> Client:
        """Return the client that the people of a run use."""
        if fault != "web killed at named moments":
            return self.client
        return Client(self.client.port, self.client.key, detour=self._detour)

    def _detour(self, request: dict[str, Any]) -> Answer | None:
        if random.random() > _DETOURS:
            return None
        outcome = self.mortal.order("request", **request)
        if "answer" not in outcome:
            return None
        status, content = outcome["answer"]
        return int(status), json.loads(content or "null")

    def hurt(self, fault: str, crowd: list[Person]) -> None:
        getattr(self, "_" + fault.lower().replace(" ", "_"))(crowd)

    def take_aim(self, fault: str, crowd: list[Person]) -> bool:
        """Choose a kind of operation, and set the last act of everybody to one that triggers it.

        Return False if no kind was chosen, because the fault isn't `STEPS` or any kind will do.
        """
        self._aim = self.mortal.next_aim() if fault == STEPS else ""
        for person in crowd:
            person.last = wishing.last_act(self._aim)
        return bool(self._aim)

    def _killed_at_named_steps(self, crowd: list[Person]) -> None:
        """Kill children until all people are done and no new death happens."""
        until, quiet = time.monotonic() + _DYING_SECONDS, 0
        names = [person.user_id for person in crowd]
        with self._stopped():
            while time.monotonic() < until and quiet < _QUIET:
                acting = any(person.acting for person in crowd)
                self.mortal.order("work", people=names, aim=self._aim)
                left = until - time.monotonic()
                outcome = self.mortal.order("step", aim=self._aim, deaths=_DEATHS, seconds=left)
                quiet = 0 if outcome["died"] or acting else quiet + 1

    def _worker_killed(self, crowd: list[Person]) -> None:
        """Kill the worker, and run operations in a child process while the worker restarts."""
        self._signal("worker", signal.SIGKILL)
        self.mortal.order("plain")

    def _web_killed(self, crowd: list[Person]) -> None:
        self._signal("web", signal.SIGKILL)

    def _web_killed_at_named_moments(self, crowd: list[Person]) -> None:
        """Do nothing here: `_detour` sends some requests to a process that is killed meanwhile."""

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
            for person in crowd:
                person.export()
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
        """Suspend the product's worker, perhaps in the middle of an operation."""
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
