"""Load test: several web and worker processes on one database with ten thousand users.

    .venv/bin/python bench/load.py [--seconds 240] [--users 10000] [--memories 200000] [--clients 8]

The processes run as in a deployment (`deploy/web.sh`, `deploy/worker.sh`, beat); the clients run in
this process. `--seconds` is the measured time, a quarter for each part; filling and starting take
extra time.

1. One web and one worker process; mixed calls of all users as fast as they are answered.
2. The same with two web and two worker processes, to see how throughput grows.
3. Twenty light users only; each client makes two calls a second.
4. The same while the clients of one heavy user record turns as fast as they can. How much longer do
   light users wait for an answer, and until their turns are learned?

Answers of 400 and above and broken connections count as errors. The resident memory of each process
is read after the warm-up of part 2 and after part 4.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.context_latency import sentence
from bench.product import ROOT, Product, _wait, free_port, percentile, print_result, print_times
from bench.scale import OTHER, Filler, make_base, make_people
from foundation.embedded.backup import migrate_if_needed
from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder

LIGHT, HEAVY = 20, f"{OTHER}-0"
_WARM = 40  # calls to each web process before measuring
_KEY = """
from ops.access import as_system
from ops.accounts import keys
with as_system():
    print(keys.create(name="load", scopes=["read", "write"])[1])
"""
_WAITS = """
SELECT extract(epoch FROM coalesce(o.finished_at, now()) - o.created_at)::float
  FROM ops_operation o JOIN ops_user u ON u.subject = o.subject
 WHERE o.kind = 'extract_turn' AND o.created_at >= %s AND u.external_id = ANY(%s)
"""


@dataclass
class Tally:
    """The seconds of each call by name, and the errors."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def calls(self) -> int:
        return sum(map(len, self.times.values()))

    @property
    def all(self) -> list[float]:
        return [seconds for times in self.times.values() for seconds in times]


@dataclass
class Fleet:
    """Web processes, each on its own port, and workers."""

    environment: dict[str, str]
    log: Path
    key: str = ""
    ports: list[int] = field(default_factory=list)
    pids: dict[str, int] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def grow(self) -> None:
        """Start one more web process and one more worker process."""
        port, number = free_port(), len(self.ports) + 1
        web = self._start(f"web {number}", ["sh", "deploy/web.sh"], PORT=port, WEB_WORKERS=1)
        self._start(f"worker {number}", ["sh", "deploy/worker.sh"], WORKERS=1)
        _wait(port, web, self.log)
        self.ports.append(port)

    def beat(self) -> None:
        schedule = f"{self.environment['MEMCENTER_DATA_DIR']}/beat-schedule"
        celery = [sys.executable, "-m", "celery", "--quiet", "-A", "memcenter.celery:app", "beat"]
        self._start("beat", [*celery, "--loglevel=WARNING", "--schedule", schedule, "--pidfile="])

    def product(self, number: int) -> Product:
        """Return a new connection to one of the web processes."""
        return Product(self.ports[number % len(self.ports)], self.key, self.environment)

    def memory(self) -> dict[str, float]:
        """Return the resident megabytes of each program with its children."""
        return {name: round(sum(map(_resident, family(pid))), 1) for name, pid in self.pids.items()}

    def stop(self) -> None:
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(timeout=60)

    def _start(self, name: str, command: list[str], **settings: Any) -> subprocess.Popen[bytes]:
        environment = self.environment | {key: str(value) for key, value in settings.items()}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        self.running.append(process)
        self.pids[name] = process.pid
        return process


def family(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from family(int(child))


def _resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def fleet() -> Iterator[tuple[Fleet, Instance]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memcenter-load-")))
        instance = Instance(DataFolder(folder / "data"))
        environment = instance.environment() | {
            "MEMCENTER_RATE_LIMIT": "100000000",
            "MEMCENTER_RATE_LIMIT_KEY": "100000000",
            "DJANGO_SETTINGS_MODULE": "memcenter.settings",
            "OMP_NUM_THREADS": "1",
        }
        os.environ |= environment
        stack.enter_context(instance.borrowed(prepare=migrate_if_needed))
        (folder / "data" / "static").mkdir(exist_ok=True)
        found = Fleet(dict(os.environ), folder / "log")
        found.key = (
            Product(0, "", found.environment)
            .manage("shell", "--no-imports", "--command", _KEY)
            .strip()
        )
        found.beat()
        stack.callback(found.stop)
        found.grow()
        yield found, instance


Act = Callable[[Product, random.Random, str], tuple[str, object]]


def turn(product: Product, rng: random.Random, user: str) -> tuple[str, object]:
    said = sentence(rng, rng.randrange(10**6)).split(" (")[0].lower()
    body = {
        "user_id": user,
        "conversation_id": f"{user} {rng.randrange(3)}",
        "user_message": f"By the way, I {said}.",
        "assistant_message": "Good to know.",
    }
    return "turn", product.post("/turns", body)


def ask(product: Product, rng: random.Random, user: str) -> tuple[str, object]:
    said = sentence(rng, rng.randrange(10**6)).split(" (")[0].lower()
    which = rng.random()
    if which < 0.6:
        return "context", product.post("/memory/context", {"user_id": user, "message": said})
    if which < 0.9:
        return "search", product.get("/search", user_id=user, query=said)
    return "list", product.get("/memory/long_term", user_id=user)


def mixed(product: Product, rng: random.Random, user: str) -> tuple[str, object]:
    return turn(product, rng, user) if rng.random() < 0.3 else ask(product, rng, user)


def drive(
    product: Product,
    tally: Tally,
    *,
    act: Act,
    users: Sequence[str],
    until: float,
    every: float = 0.0,
    seed: int = 0,
) -> None:
    """Run one client: sequential calls, at least `every` seconds from start to start."""
    rng = random.Random(seed)
    while (began := time.perf_counter()) < until:
        try:
            name, _ = act(product, rng, rng.choice(users))
        except (SystemExit, OSError) as error:
            tally.errors[str(error)[:100]] += 1
            product.reconnect()
            continue
        took = time.perf_counter() - began
        tally.times.setdefault(name, []).append(took)
        time.sleep(max(0.0, every - took))


def together(clients: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=client) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def throughput(
    found: Fleet, wanted: argparse.Namespace, *, seconds: float, act: Act = mixed
) -> Tally:
    users = [f"{OTHER}-{n}" for n in range(wanted.users)]
    tallies = [Tally() for _ in range(wanted.clients)]
    until = time.perf_counter() + seconds
    together(
        [
            partial(drive, found.product(n), tally, act=act, users=users, until=until, seed=n)
            for n, tally in enumerate(tallies)
        ]
    )
    return merged(tallies)


def fairness(
    found: Fleet, wanted: argparse.Namespace, *, seconds: float, flood: bool
) -> tuple[Tally, Tally]:
    """Return the tallies of the light users and of the heavy user, who calls only with `flood`."""
    users = [f"{OTHER}-{n}" for n in range(1, 1 + LIGHT)]
    until = time.perf_counter() + seconds
    calm, heavy = [Tally() for _ in range(4)], [Tally() for _ in range(wanted.clients)]
    act = partial(drive, act=mixed, users=users, until=until, every=0.5)
    rush = partial(drive, act=turn, users=[HEAVY], until=until)
    clients = [partial(act, found.product(n), tally, seed=n) for n, tally in enumerate(calm)]
    if flood:
        clients += [partial(rush, found.product(n), tally, seed=n) for n, tally in enumerate(heavy)]
    together(clients)
    return merged(calm), merged(heavy)


def merged(tallies: Sequence[Tally]) -> Tally:
    made = Tally()
    for tally in tallies:
        made.errors += tally.errors
        for name, times in tally.times.items():
            made.times.setdefault(name, []).extend(times)
    return made


def waits(owner: psycopg.Connection[Any], since: object) -> list[float]:
    """Return the seconds until each turn of a light user was learned, or until now."""
    users = [f"{OTHER}-{n}" for n in range(1, 1 + LIGHT)]
    return [row[0] for row in owner.execute(_WAITS, [since, users]).fetchall()]


def now(owner: psycopg.Connection[Any]) -> object:
    return owner.execute("SELECT clock_timestamp()").fetchall()[0][0]


def learned(owner: psycopg.Connection[Any], *, patience: float) -> None:
    """Wait until no operation is left, so that the next part starts with an empty queue."""
    until = time.monotonic() + patience
    query = "SELECT count(*) FROM ops_operation WHERE status IN ('pending', 'running')"
    while time.monotonic() < until and owner.execute(query).fetchall()[0][0]:
        time.sleep(0.5)


def fill(found: Fleet, owner: psycopg.Connection[Any], wanted: argparse.Namespace) -> None:
    make_people(found.product(0), wanted.users)
    Filler(owner, make_base()).fill_others(wanted.memories)


def warm(found: Fleet) -> None:
    for n, _ in enumerate(found.ports):
        product, rng = found.product(n), random.Random(n)
        for _ in range(_WARM):
            mixed(product, rng, f"{OTHER}-{30 + n}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--memories", type=int, default=200_000)
    parser.add_argument("--clients", type=int, default=8)
    wanted = parser.parse_args()
    with (
        fleet() as (found, instance),
        psycopg.connect(instance.postgres.url("owner"), autocommit=True) as owner,
    ):
        print_result(measure(found, owner, wanted))


def measure(
    found: Fleet, owner: psycopg.Connection[Any], wanted: argparse.Namespace
) -> dict[str, Any]:
    part = wanted.seconds / 4
    began = time.monotonic()
    fill(found, owner, wanted)
    warm(found)
    print(f"{wanted.users} people, {wanted.memories} memories: {time.monotonic() - began:.0f} s")
    one = throughput(found, wanted, seconds=part)
    learned(owner, patience=part)
    found.grow()
    warm(found)
    before = found.memory()
    two = throughput(found, wanted, seconds=part)
    learned(owner, patience=part)
    since = now(owner)
    calm, _ = fairness(found, wanted, seconds=part, flood=False)
    learned(owner, patience=part)
    calm_waits, since = waits(owner, since), now(owner)
    busy, heavy = fairness(found, wanted, seconds=part, flood=True)
    busy_waits, after = waits(owner, since), found.memory()
    show(
        {
            "1 + 1": one,
            "2 + 2": two,
            "light alone": calm,
            "light in the flood": busy,
            "heavy": heavy,
        }
    )
    print_times({"learned, alone": calm_waits, "learned, in the flood": busy_waits})
    print("megabytes", json.dumps({name: [before[name], after[name]] for name in before}))
    return {
        "calls_a_second_1": round(one.calls / part, 1),
        "calls_a_second_2": round(two.calls / part, 1),
        "growth": round(two.calls / one.calls, 2),
        "answers_in_flood_over_alone": _ratio(busy.all, calm.all),
        "learned_in_flood_over_alone": _ratio(busy_waits, calm_waits),
        "turns_of_the_heavy": heavy.calls,
        "errors": sum(sum(t.errors.values()) for t in (one, two, calm, busy, heavy)),
        "memory_after_over_before": round(sum(after.values()) / sum(before.values()), 3),
        "load": os.getloadavg()[0],
    }


def show(tallies: dict[str, Tally]) -> None:
    print_times(
        {f"{part}: {k}": v for part, tally in tallies.items() for k, v in tally.times.items()}
    )
    for part, tally in tallies.items():
        for error, count in tally.errors.items():
            print(f"{part}: {count} x {error}")


def _ratio(over: Sequence[float], under: Sequence[float]) -> float:
    return round(percentile(over, 0.5) / percentile(under, 0.5), 2)


if __name__ == "__main__":
    main()
