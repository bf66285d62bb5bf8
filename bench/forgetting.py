"""Forgetting amid chaos: random acts of several people while processes die, and what is left.

    .venv/bin/python bench/forgetting.py --runs 100

Each run is a burst of random writes, recalls, exports, imports and forgets with one fault in the
middle of it. Then everything may come to its end, and four questions are asked of the database,
Redis and every file: is anything left of what was forgotten (`residue`), is anything missing of
what was recorded and not forgotten (`lost`), are the rows of people who did nothing the same byte
by byte (`disturbed`), and has every operation ended (`unfinished`)?
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run as a file: the project's root must be found
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import product
from bench.chaotic import Client, Person, people
from bench.planted import Store
from memcenter.embedded.folder import DataFolder
from memcenter.embedded.instance import Instance
from memcenter.embedded.process import PidFile

# No process twice within a minute: the supervisor waits ever longer for what dies young.
FAULTS = (
    "killed at named steps",
    "worker killed",
    "killed at named steps",
    "web killed",
    "Redis killed",
    "killed at named steps",
    "PostgreSQL killed|PostgreSQL restarted",
    "disk full",
    "clock ahead|clock behind",
    "worker stopped past its lease",
)
_LEASE = 4
_DEATHS = 8
_ENDING = 180.0  # seconds that the operations of a run may take to end


@dataclass
class Result:
    fault: str
    written: int = 0
    forgets: int = 0
    operations: int = 0
    residue: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    disturbed: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)
    deaths: list[str] = field(default_factory=list)
    ending: float = 0.0  # seconds until all operations had ended


class Worker:
    """The one that dies on order (`bench/dying.py`)."""

    def __init__(self, folder: DataFolder, environment: dict[str, str], log: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.dying"],
            cwd=product.ROOT,
            env=environment | Instance(folder).environment() | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            text=True,
        )

    def order(self, how: str, **more: Any) -> list[str]:
        """At which moments its children died."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("it was started with pipes")
        self._process.stdin.write(json.dumps({"how": how, **more}) + "\n")
        self._process.stdin.flush()
        died: list[str] = json.loads(self._process.stdout.readline())["died"]
        return died

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


class Chaos:
    """One product that all runs share, and the means to hurt it."""

    def __init__(self, running: product.Product) -> None:
        self.folder = DataFolder(running.environment["MEMCENTER_DATA_DIR"])
        self.client = Client(running.port, running.api_key)
        self.store = Store(self.folder)
        log = self.folder.path.parent / "dying.log"
        self.worker = Worker(self.folder, running.environment, log)

    def hurt(self, fault: str) -> list[str]:
        """Do it now; gives at which moments workers died of it."""
        return getattr(self, "_" + fault.lower().replace(" ", "_"))()  # type: ignore[no-any-return]

    def _killed_at_named_steps(self) -> list[str]:
        with self._stopped():
            return self.worker.order("step", deaths=_DEATHS)

    def _worker_killed(self) -> list[str]:
        self._signal("worker", signal.SIGKILL)
        return ["worker"]

    def _web_killed(self) -> list[str]:
        self._signal("web", signal.SIGKILL)
        return []

    def _redis_killed(self) -> list[str]:
        self._signal("redis", signal.SIGKILL, group=False)
        return []

    def _postgresql_killed(self) -> list[str]:
        self._signal("postgres", signal.SIGKILL, group=False)
        return []

    def _postgresql_restarted(self) -> list[str]:
        self._signal("postgres", signal.SIGINT, group=False)
        return []

    def _disk_full(self) -> list[str]:
        with self._stopped():
            return self.worker.order("full")

    def _clock_ahead(self) -> list[str]:
        return self.worker.order("clock", hours=2)

    def _clock_behind(self) -> list[str]:
        return self.worker.order("clock", hours=-2)

    def _worker_stopped_past_its_lease(self) -> list[str]:
        with self._stopped():
            time.sleep(_LEASE + 0.5)
            return self.worker.order("plain")

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--people", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long a burst lasts")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random.seed(asked.seed)
    settings = {
        "MEMCENTER_LEASE_SECONDS": str(_LEASE),
        "MEMCENTER_RATE_LIMIT_HEAVY": "100000000",
        "MEMCENTER_LOG_LEVEL": "WARNING",
        "MEMCENTER_SESSION_IDLE_MINUTES": "100000",  # nobody's past is looked at meanwhile
    }
    # A stop from outside leaves no servers behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with product.running(**settings) as running:
        _print(_all(Chaos(running), asked))


def _all(chaos: Chaos, asked: argparse.Namespace) -> list[Result]:
    standing = _bystanders(chaos)
    print("bystanders are settled", flush=True)
    faults = _faults()
    results = []
    try:
        for number in range(1, asked.runs + 1):
            result = _one(chaos, number, next(faults), asked, standing)
            results.append(result)
            _tell(number, result)
    except KeyboardInterrupt:
        pass
    finally:
        chaos.worker.stop()
    return results


def _faults() -> Iterator[str]:
    for turn in itertools.count():
        for fault in FAULTS:
            kinds = fault.split("|")
            yield kinds[turn % len(kinds)]


def _bystanders(chaos: Chaos) -> tuple[list[int], dict[str, str]]:
    """People with a bit of everything who do nothing any more, and the hash of their rows."""
    for one in people(chaos.client, run=0, count=2):
        one.live(seconds=4, leave=False)
    left = _end(chaos)
    if left:
        raise SystemExit(f"Even without any fault these don't end: {left}")
    rows = chaos.store.rows("SELECT id FROM ops_user WHERE external_id LIKE 'person-0-%%'")
    ids = [int(str(pk)) for (pk,) in rows]
    return ids, chaos.store.fingerprint(ids)


def _one(
    chaos: Chaos,
    number: int,
    fault: str,
    asked: argparse.Namespace,
    standing: tuple[list[int], dict[str, str]],
) -> Result:
    result = Result(fault)
    crowd = people(chaos.client, run=number, count=asked.people)
    threads = [
        threading.Thread(target=_live, args=(one, asked.seconds, random.random() < 0.4))
        for one in crowd
    ]
    for thread in threads:
        thread.start()
    time.sleep(random.uniform(0.3, 1.0) * asked.seconds)
    result.deaths = chaos.hurt(fault)
    for thread in threads:
        thread.join()
    began = time.monotonic()
    result.unfinished = _end(chaos)
    result.ending = time.monotonic() - began
    _ask(chaos, number, crowd, result, standing)
    return result


def _live(one: Person, seconds: float, leave: bool) -> None:
    try:
        one.live(seconds=seconds, leave=leave)
    except Exception as error:
        one.odd.append(f"{type(error).__name__}: {error}")


def _end(chaos: Chaos) -> list[str]:
    """Wait until every operation has ended; time that must pass is simulated.

    What failed is tried again by hand once, as its owner would. Gives what did not end.
    """
    until = time.monotonic() + _ENDING
    retried: set[object] = set()
    left: list[tuple[object, ...]] = []
    while time.monotonic() < until:
        try:
            left = _left(chaos, retried)
        except Exception:  # the database may be starting
            time.sleep(0.5)
            continue
        if not left:
            return []
        time.sleep(0.3)
    return [" ".join(map(str, row)) for row in left]


def _left(chaos: Chaos, retried: set[object]) -> list[tuple[object, ...]]:
    store = chaos.store
    store.rows(
        "UPDATE ops_operation SET run_after = now() WHERE status = 'pending'"
        " AND run_after > now() + interval '1 s' AND updated_at < now() - interval '1 s'"
    )
    left = store.rows(
        "SELECT public_id, kind, status, attempt, progress_step, last_error FROM ops_operation"
        " WHERE status IN ('pending', 'running')"
    )
    if left:
        return left
    failed = store.rows(
        "SELECT public_id, kind, last_error FROM ops_operation"
        " WHERE status = 'failed' AND kind <> 'import'"
    )
    new = [row for row in failed if row[0] not in retried]
    for public_id, *_ in new:
        retried.add(public_id)
        chaos.client.ask("POST", f"/memory/ops/{public_id}/retry", {})
    return new


def _ask(
    chaos: Chaos,
    number: int,
    crowd: list[Person],
    result: Result,
    standing: tuple[list[int], dict[str, str]],
) -> None:
    """The four questions."""
    places = chaos.store.places(number)
    for one in crowd:
        result.written += one.book.written
        result.forgets += one.book.forgets
        result.odd += one.odd
        result.residue += _residue(one, places)
        result.lost += _lost(chaos.store, one, places)
    ids, before = standing
    after = chaos.store.fingerprint(ids)
    result.disturbed = [name for name in before if before[name] != after.get(name)]
    _count_operations(chaos.store, crowd, result)


def _residue(one: Person, places: dict[str, set[str]]) -> list[str]:
    found = [f"{word}: {sorted(places[word])}" for word in one.book.gone if places.get(word)]
    for word in one.book.unlearned - one.book.gone:
        known = [place for place in places.get(word, ()) if place.startswith("memories_memory")]
        found += [f"{word} (unlearned): {known}"] if known else []
    return found


def _lost(store: Store, one: Person, places: dict[str, set[str]]) -> list[str]:
    book = one.book
    lost = [word for word in book.turns if "conversations_message" not in places.get(word, ())]
    for word in book.memories:
        if not any(place.startswith("memories_memory") for place in places.get(word, ())):
            lost.append(word)
    return lost + _lost_imports(store, book.imports, places)


def _lost_imports(store: Store, imports: dict[str, str], places: dict[str, set[str]]) -> list[str]:
    """An import is there as a whole, or not at all and says why."""
    lost = []
    by_operation: dict[str, list[str]] = defaultdict(list)
    for word, op_id in imports.items():
        by_operation[op_id].append(word)
    for op_id, words in by_operation.items():
        rows = store.rows("SELECT status FROM ops_operation WHERE public_id = %s", op_id)
        wanted = rows[0][0] == "succeeded"
        for word in words:
            if ("conversations_message" in places.get(word, ())) != wanted:
                lost.append(f"{word} ({op_id} {rows[0][0]})")
    return lost


def _count_operations(store: Store, crowd: list[Person], result: Result) -> None:
    """Those that the crowd asked for by name, and what attempts at any of a run ended with."""
    ids = [op_id for one in crowd for op_id in one.accepted]
    rows = store.rows("SELECT status FROM ops_operation WHERE public_id = ANY(%s)", ids)
    result.operations = len(rows)
    result.unfinished += [f"{status}" for (status,) in rows if status in ("pending", "running")]
    errors = store.rows(
        "SELECT o.kind || ': ' || a.error, count(*) FROM ops_attempt a JOIN ops_operation o"
        " ON o.id = a.operation_id WHERE a.error <> '' AND a.started_at > now() - interval '1 h'"
        " GROUP BY 1"
    )
    result.errors = Counter({str(text): int(str(count)) for text, count in errors})


def _tell(number: int, result: Result) -> None:
    bad = {
        name: getattr(result, name)
        for name in ("residue", "lost", "disturbed", "unfinished", "odd")
        if getattr(result, name)
    }
    told = json.dumps(bad, ensure_ascii=False) if bad else "clean"
    print(
        f"{number:4} {result.fault:32}{result.written:5} written{result.forgets:5} forgets"
        f"{len(result.deaths):4} deaths {result.ending:5.0f} s  {told}",
        flush=True,
    )


def _print(results: list[Result]) -> None:
    moments = Counter(moment for one in results for moment in one.deaths)
    print(f"\n{'fault':34}{'runs':>6}{'written':>9}{'forgets':>9}{'residue':>9}{'lost':>6}")
    by_fault: dict[str, list[Result]] = defaultdict(list)
    for one in results:
        by_fault[one.fault].append(one)
    for fault, some in [*by_fault.items(), ("all", results)]:
        print(
            f"{fault:34}{len(some):>6}{sum(one.written for one in some):>9}"
            f"{sum(one.forgets for one in some):>9}{sum(len(one.residue) for one in some):>9}"
            f"{sum(len(one.lost) for one in some):>6}"
        )
    print(f"\nKilled at {len(moments)} different moments, {sum(moments.values())} times:")
    for moment, count in sorted(moments.items()):
        print(f"  {moment:48}{count:>4}")
    print("\nWhat attempts ended with:")
    for text, count in (results[-1].errors if results else Counter()).most_common():
        print(f"  {count:>5}  {text}")
    product.print_result(
        {
            "runs": len(results),
            "residue": sum(len(one.residue) for one in results),
            "lost": sum(len(one.lost) for one in results),
            "disturbed": sum(len(one.disturbed) for one in results),
            "unfinished": sum(len(one.unfinished) for one in results),
            "written": sum(one.written for one in results),
            "forgets": sum(one.forgets for one in results),
            "deaths": sum(moments.values()),
            "moments": len(moments),
        }
    )


if __name__ == "__main__":
    main()
