"""Does forgetting stay complete while processes die? Random acts of several people with faults.

    .venv/bin/python bench/forgetting.py --runs 100

Each run is a burst of random writes, recalls, exports, imports and forgets with one fault in the
middle. Then all operations finish, and the databases, Redis and every file are checked:

- `residue`: forgotten words that are still there
- `lost`: words that were recorded and not forgotten, but are missing
- `twice`: words that were recorded once, but stored twice
- `disturbed`: tables in which rows of people who did nothing have changed
- `files`: files that no row refers to
- `unfinished`: operations that did not end, or failed without a reason

Processes are killed first in every step of every kind of operation, then at every moment of each
step (`bench/moments.py`). In those runs people's acts trigger operations of the chosen kind
(`bench/wishing.py`). After `--runs`, up to `--more` further runs with killed processes follow. They
end early when a worker has been killed in every step that any worker survived.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run as a file: the project's root must be found
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import evidence, moments, product, questions
from bench.chaotic import Person, people
from bench.hurting import FAULTS, LEASE, STEPS, Chaos
from bench.questions import Bystanders, Result

_ENDING = 180.0  # seconds that the operations of a run may take to end
_RETRIES = 5  # manual retries of a failed operation


def main() -> None:
    asked = _arguments()
    random.seed(asked.seed)
    settings: dict[str, Any] = {
        "MEMCENTER_LEASE_SECONDS": str(LEASE),
        "MEMCENTER_RATE_LIMIT_HEAVY": "100000000",
        "MEMCENTER_LOG_LEVEL": "WARNING",
        "MEMCENTER_SESSION_IDLE_MINUTES": "100000",  # no conversation becomes idle during a run
        "MEMCENTER_WINDOW_MESSAGES": "4",  # so that short conversations are summarized
        "MEMCENTER_SUMMARY_EVERY": "2",
        "MEMCENTER_FILES_SYNC_SECONDS": "10",
        "MEMCENTER_WEBHOOKS_MAY_BE_PRIVATE": "true",
    }
    # SIGTERM stops the servers too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with product.running(**settings) as running:
        chaos = Chaos(running)
        try:
            _print(chaos, _all(chaos, asked))
        finally:
            chaos.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--more", type=int, default=20, help="runs for steps not yet hit")
    parser.add_argument("--people", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a burst lasts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="one fault, by its name")
    return parser.parse_args()


def _all(chaos: Chaos, asked: argparse.Namespace) -> list[Result]:
    for person in people(chaos.client, run=0, count=2):
        person.live(seconds=4, leave=False)
    if left := _end(chaos):
        raise SystemExit(f"Even without any fault these don't end: {left}")
    standing = questions.bystanders(chaos.store)
    print("bystanders are settled", flush=True)
    results: list[Result] = []
    try:
        for fault in _faults(chaos, asked):
            result = _one(chaos, len(results) + 1, fault, asked, standing)
            results.append(result)
            _tell(len(results), result)
            for line in evidence.of(chaos.store, result.wrong):
                print(f"       {line}", flush=True)
    except KeyboardInterrupt:
        pass
    return results


def _faults(chaos: Chaos, asked: argparse.Namespace) -> Iterator[str]:
    for count in range(asked.runs):
        turn, place = divmod(count, len(FAULTS))
        kinds = FAULTS[place].split("|")
        yield asked.only or kinds[turn % len(kinds)]
    for _ in range(asked.more):
        if not chaos.mortal.steps_left():
            return
        yield STEPS


def _one(
    chaos: Chaos, number: int, fault: str, asked: argparse.Namespace, standing: Bystanders
) -> Result:
    result = Result(fault)
    crowd = people(chaos.client_for(fault), run=number, count=asked.people)
    before = len(chaos.mortal.died)
    aimed = chaos.take_aim(fault, crowd)
    with _timed(result, "burst"):
        threads = [
            threading.Thread(
                target=_live, args=(person, asked.seconds, not aimed and random.random() < 0.4)
            )
            for person in crowd
        ]
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(0.3, 1.0) * asked.seconds)
        chaos.hurt(fault, crowd)
        for thread in threads:
            thread.join()
    with _timed(result, "ending"):
        result.unfinished = _end(chaos)
    with _timed(result, "asking"):
        questions.ask(chaos, number, crowd, result, standing)
    died = chaos.mortal.died[before:]
    result.deaths = len(died) + (fault in ("worker killed", "web killed"))
    result.odd += [moment for moment in died if moment == "stuck"]
    return result


class _timed:
    def __init__(self, result: Result, name: str) -> None:
        self._result, self._name = result, name

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *exception: object) -> None:
        self._result.took[self._name] = time.monotonic() - self._began


def _live(person: Person, seconds: float, leave: bool) -> None:
    try:
        person.live(seconds=seconds, leave=leave)
    except Exception as error:
        person.odd.append(f"{type(error).__name__}: {error}")
    finally:
        person.acting = False


def _end(chaos: Chaos) -> list[str]:
    """Wait until every operation has ended; return the operations that don't end.

    Delays are skipped. Failed operations are retried through the API, as their owner would do.
    """
    until = time.monotonic() + _ENDING
    retried: Counter[str] = Counter()
    left: list[tuple[object, ...]] = []
    while time.monotonic() < until:
        try:
            left = _left(chaos, retried)
        except Exception:  # the database may be starting
            time.sleep(0.5)
            continue
        if not left:
            return []
        time.sleep(0.2)
    return [" ".join(map(str, row)) for row in left]


def _left(chaos: Chaos, retried: Counter[str]) -> list[tuple[object, ...]]:
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
        "SELECT o.public_id, o.kind, o.last_error, u.external_id"
        " FROM ops_operation o LEFT JOIN ops_user u ON u.subject = o.subject"
        " WHERE o.status = 'failed' AND o.kind <> 'import'"
    )
    again = [row for row in failed if retried[str(row[0])] < _RETRIES]
    for public_id, _kind, _error, user_id in again:
        retried[str(public_id)] += 1
        body = {"user_id": user_id} if user_id else {}
        chaos.client.ask("POST", f"/memory/ops/{public_id}/retry", body)
    return again


def _tell(number: int, result: Result) -> None:
    verdict = json.dumps(result.wrong, ensure_ascii=False) if result.wrong else "clean"
    took = " ".join(f"{name} {seconds:.0f}" for name, seconds in result.took.items())
    print(
        f"{number:4} {result.fault:32}{result.written:5} written{result.forgets:5} forgets"
        f"{result.deaths:4} deaths  {took} s  {verdict}",
        flush=True,
    )


def _print(chaos: Chaos, results: list[Result]) -> None:
    _print_table(results)
    _print_moments(chaos)
    print("\nWhat attempts ended with, other than success:")
    for text, count in questions.errors(chaos.store):
        print(f"  {count:>5}  {text}")
    chain = chaos.product.manage("verify_audit").strip().splitlines()[-1]
    print(f"\n{chain}")
    product.print_result(_figures(chaos, results))


def _print_table(results: list[Result]) -> None:
    names = ("runs", "written", "forgets", "deaths", "residue", "lost", "twice")
    print(f"\n{'fault':34}" + "".join(f"{name:>9}" for name in names))
    by_fault: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_fault[result.fault].append(result)
    for fault, some in [*by_fault.items(), ("all", results)]:
        counts = [len(some), *(_sum(some, name) for name in names[1:])]
        print(f"{fault:34}" + "".join(f"{count:>9}" for count in counts))


def _sum(results: list[Result], name: str) -> int:
    values: list[Any] = [getattr(one, name) for one in results]
    return sum(value if isinstance(value, int) else len(value) for value in values)


def _print_moments(chaos: Chaos) -> None:
    mortal = chaos.mortal
    died = Counter(mortal.died)
    print(f"\nKilled at {len(died)} different moments, {sum(died.values())} times:")
    groups = itertools.groupby(sorted(died), key=moments.kind_of)
    for kind, some in groups:
        print(f"  {kind}")
        for moment in some:
            print(f"    {moment.partition(': ')[2]:60}{died[moment]:>4}")
    print(f"Lived through and never hit: {mortal.moments_left() or 'none'}")
    hit, possible = _steps(chaos)
    print(f"Steps of operations hit: {len(hit)} of {len(possible)}")
    print(f"Steps never hit: {sorted(possible - hit) or 'none'}")
    print(f"Kinds that never ran: {sorted(_kinds(chaos) - set(map(moments.kind_of, possible)))}")


def _steps(chaos: Chaos) -> tuple[set[str], set[str]]:
    """Return the steps in which a process died, and all steps known from any process."""
    mortal = chaos.mortal
    hit = {moments.step_of(moment) for moment in filter(moments.of_worker, mortal.died)}
    written = questions.step_names(chaos.store)
    return hit, hit | set(mortal.steps_left()) | written


def _kinds(chaos: Chaos) -> set[str]:
    return set(chaos.mortal.order("kinds")["kinds"])


def _figures(chaos: Chaos, results: list[Result]) -> dict[str, Any]:
    names = ("residue", "lost", "twice", "disturbed", "unfinished", "files", "odd")
    died = chaos.mortal.died
    hit, possible = _steps(chaos)
    return {
        "runs": len(results),
        **{name: _sum(results, name) for name in names},
        **{name: _sum(results, name) for name in ("written", "forgets", "operations", "deaths")},
        "moments": len(set(died)),
        "moments_not_hit": len(chaos.mortal.moments_left()),
        "steps_hit": len(hit),
        "steps": len(possible),
        "minutes": round(sum(sum(result.took.values()) for result in results) / 60, 1),
    }


if __name__ == "__main__":
    main()
