"""How do calls a second grow with web processes, and when does PostgreSQL need its own cores?

    .venv/bin/python bench/cores.py [--seconds 20] [--users 500] [--memories 10000] [--clients 8]

Contexts and searches of random users run as fast as they are answered, with one, two and three web
processes. In the layout `shared` every process may use every core; in `apart` PostgreSQL has the
last core for itself, and all other processes, the clients included, share the other cores. Each row
has the calls a second and the processor milliseconds of a call in the clients, in the web processes
and in PostgreSQL. The milliseconds show how many cores of web processes one core of PostgreSQL can
serve.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.load import Fleet, ask, family, fill, fleet, throughput, warm
from bench.product import print_result

_WEB = (1, 2, 3)
_TICKS = os.sysconf("SC_CLK_TCK")


def pin(pids: Collection[int], cores: Collection[int]) -> None:
    """Restrict these processes, and threads and processes that they start later, to these cores."""
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)


def seconds_of(pids: Collection[int]) -> float:
    """Return the processor seconds that these processes have used so far."""
    used = 0.0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / _TICKS
    return used


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def groups(found: Fleet, postgres: int) -> dict[str, list[int]]:
    webs = [pid for name, pid in found.pids.items() if name.startswith("web")]
    return {
        "clients": [os.getpid()],
        "web": [one for pid in webs for one in family(pid)],
        "postgres": list(family(postgres)),
    }


def rows(found: Fleet, postgres: int, wanted: argparse.Namespace) -> Iterator[dict[str, Any]]:
    cores = sorted(os.sched_getaffinity(0))
    for web in _WEB:
        while len(found.ports) < web:
            found.grow()
        warm(found)
        measured(found, postgres, wanted)  # a warm-up: the new processes may still be loading
        for layout in ("shared", "apart"):
            rest = cores if layout == "shared" else cores[:-1]
            others = [one for pid in found.pids.values() for one in family(pid)]
            pin([os.getpid(), *others], rest)
            pin(groups(found, postgres)["postgres"], cores if layout == "shared" else cores[-1:])
            yield {"web": web, "layout": layout} | measured(found, postgres, wanted)
    pin([os.getpid()], cores)


def measured(found: Fleet, postgres: int, wanted: argparse.Namespace) -> dict[str, Any]:
    # A PostgreSQL process that ended between the readings would be missed, but the connections stay
    # open here.
    before = {name: seconds_of(pids) for name, pids in groups(found, postgres).items()}
    tally = throughput(found, wanted, seconds=wanted.seconds, act=ask)
    after = {name: seconds_of(pids) for name, pids in groups(found, postgres).items()}
    each = {
        f"{name}_ms": round(1000 * (after[name] - before[name]) / tally.calls, 2) for name in before
    }
    errors = sum(tally.errors.values())
    return {"calls_a_second": round(tally.calls / wanted.seconds, 1), **each, "errors": errors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    wanted = parser.parse_args()
    with (
        fleet() as (found, instance),
        psycopg.connect(instance.postgres.url("owner"), autocommit=True) as owner,
    ):
        fill(found, owner, wanted)
        (backend,) = owner.execute("SELECT pg_backend_pid()").fetchall()[0]
        table = list(rows(found, parent(backend), wanted))
    for row in table:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    print_result({"rows": table})


if __name__ == "__main__":
    main()
