"""Does memory use stay flat over an hour's worth of operations?

    .venv/bin/python bench/hour.py [--turns 8000] [--users 10000] [--clients 8]

Ten thousand people with twenty turns a day each make 8,300 turns an hour. The turns are recorded as
fast as the product answers, with one question after each turn. Two workers learn from them, which
takes at least two operations per turn. The resident memory of each program is read ten times, after
each tenth of the turns, when everything is learned. At the first reading all code and models are
already loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.load import Fleet, ask, fleet, learned, together, turn, warm
from bench.product import Product, print_result
from bench.scale import OTHER, make_people

_PARTS = 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=8_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    wanted = parser.parse_args()
    with (
        fleet() as (found, instance),
        psycopg.connect(instance.postgres.url("owner"), autocommit=True) as owner,
    ):
        make_people(found.product(0), wanted.users)
        found.grow()
        warm(found)
        print_result(measure(found, owner, wanted))


def measure(
    found: Fleet, owner: psycopg.Connection[Any], wanted: argparse.Namespace
) -> dict[str, Any]:
    users = [f"{OTHER}-{n}" for n in range(wanted.users)]
    each = wanted.turns // _PARTS // wanted.clients
    began = time.monotonic()
    before = _count(owner, "succeeded")
    read: list[dict[str, float]] = []
    errors: list[str] = []
    for part in range(_PARTS):
        together(
            [
                partial(
                    talk, found.product(n), users, count=each, seed=100 * part + n, errors=errors
                )
                for n in range(wanted.clients)
            ]
        )
        learned(owner, patience=600)
        read.append(found.memory())
        done = _count(owner, "succeeded") - before
        print(f"{time.monotonic() - began:.0f} s, {done} operations", json.dumps(read[-1]))
    return {
        "turns": each * wanted.clients * _PARTS,
        "operations": _count(owner, "succeeded") - before,
        "operations_failed": _count(owner, "failed"),
        "calls_failed": len(errors),
        "last_over_first": {name: round(read[-1][name] / read[0][name], 3) for name in read[0]},
        "seconds": round(time.monotonic() - began),
        "load": os.getloadavg()[0],
    }


def talk(product: Product, users: list[str], *, count: int, seed: int, errors: list[str]) -> None:
    """Run one client: alternate turns and questions, each for a random user."""
    rng = random.Random(seed)
    for _ in range(count):
        for act in (turn, ask):
            try:
                act(product, rng, rng.choice(users))
            except (SystemExit, OSError) as error:
                errors.append(str(error)[:100])
                product.reconnect()


def _count(owner: psycopg.Connection[Any], status: str) -> int:
    query = "SELECT count(*)::int FROM ops_operation WHERE status = %s"
    [(found,)] = owner.execute(query, [status]).fetchall()
    return int(found)


if __name__ == "__main__":
    main()
