"""How fast is the API, compared with an endpoint that does nothing and with mem0's library?

    .venv/bin/python bench/api.py [--memories 1000] [--calls 200] [--venv FOLDER] [--without-mem0]

These calls are made over HTTP by one client and by eight: `POST /turns`, `POST /memory/context`,
`GET /search`, `GET /memory/long_term`, `POST /memory/long_term` (add), our endpoint for mem0's call
that stores a memory unchanged (store), and the empty endpoint of bench/empty.py, which checks the
key, counts the call, finds the user and opens the user's transaction. Each client has its own
connection. Each kind of call is measured alone. The worker learns from the turns meanwhile.

mem0's library runs behind bench/mem0_server.py (no keys, no traces, the embedder in its own
process) in the same run, on the same PostgreSQL, with the same texts and vectors. Its search, list
and add are measured. Its add is compared with our store, which also skips the comparison with known
memories, and with our add, which makes this comparison. Without a language model mem0 has neither
turns nor a memory block.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.against_mem0 import (
    Request,
    Side,
    client,
    copy,
    environment,
    fill,
    known,
    serving,
    theirs,
)
from bench.product import Product, percentile, print_result, running
from bench.scale import USUAL

CLIENTS = (1, 8)
# Our call -> the mem0 call it is compared with.
BESIDE = {"search": "search", "list": "list", "add": "add", "store": "add"}
_WARM = 10
Calls = Callable[[int], Request]


@dataclass(frozen=True)
class Measured:
    """Seconds of each call, and calls per second."""

    times: Sequence[float]
    rate: float


Table = dict[str, dict[int, Measured]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--without-mem0", action="store_true")
    wanted = parser.parse_args()
    tables: dict[str, Table] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        running(DJANGO_SETTINGS_MODULE="bench.empty") as product,
    ):
        place = wanted.venv or Path(folder) / "venv"
        python = None if wanted.without_mem0 else environment(place)
        database = fill(product, wanted.memories)
        texts = known(database)
        tables["ours"] = measured(ours(product), our_calls(texts), wanted.calls)
        if python is not None:
            with serving(python, database, index="hnsw", folder=Path(folder)) as port:
                client(theirs(port))(*theirs(port).search("It makes its table now"))
                copy(database)
                tables["mem0"] = measured(theirs(port), their_calls(port, texts), wanted.calls)
    report(tables, memories=wanted.memories)


def ours(product: Product) -> Side:
    return Side(product.port, product.api_key, _nothing, _nothing, lambda answer: [])


def _nothing(*given: str) -> Request:
    raise NotImplementedError


def our_calls(texts: Sequence[str]) -> Mapping[str, Calls]:
    """Return functions that build the requests, by name.

    Their argument is the number of the call, so every write is new.
    """
    run = f"{time.time():.0f}"
    return {
        "empty": lambda n: ("/api/v1/bench/empty", {"user_id": USUAL}),
        "turns": lambda n: (
            "/api/v1/turns",
            {
                "user_id": USUAL,
                "conversation_id": f"bench-{run}-{n % 20}",
                "user_message": f"Could you look at chapter {n} again before we meet?",
                "assistant_message": "Yes. I have marked where the argument could be shorter.",
            },
        ),
        "context": lambda n: (
            "/api/v1/memory/context",
            {"user_id": USUAL, "message": texts[n % len(texts)]},
        ),
        "search": lambda n: (
            "/api/v1/search?"
            + urlencode(
                {
                    "user_id": USUAL,
                    "query": texts[n % len(texts)],
                    "types": "memory",
                    "limit": 10,
                }
            ),
            None,
        ),
        "list": lambda n: (f"/api/v1/memory/long_term?user_id={USUAL}&limit=20", None),
        "add": lambda n: (
            "/api/v1/memory/long_term",
            {"user_id": f"new-{n % 20}", "content": f"{texts[n % len(texts)]} again {run} {n}"},
        ),
        "store": lambda n: (
            "/v3/memories/add/",
            {
                "user_id": f"kept-{n % 20}",
                "messages": [{"role": "user", "content": f"{texts[n % len(texts)]} {run} {n}"}],
                "infer": False,
            },
        ),
    }


def their_calls(port: int, texts: Sequence[str]) -> Mapping[str, Calls]:
    side = theirs(port)
    return {
        "search": lambda n: side.search(texts[n % len(texts)]),
        "list": lambda n: ("/list", {"user_id": USUAL}),
        "add": lambda n: side.add(f"new-{n % 20}", f"{texts[n % len(texts)]} again {n}"),
    }


def measured(side: Side, calls: Mapping[str, Calls], count: int) -> Table:
    return {
        name: {clients: _called(side, call, count, clients) for clients in CLIENTS}
        for name, call in calls.items()
    }


def _called(side: Side, call: Calls, count: int, clients: int) -> Measured:
    """Make `count` calls, shared evenly by the clients, over warmed-up connections."""
    shares = [range(clients * count + n, (clients + 1) * count, clients) for n in range(clients)]
    times: list[float] = []
    asks = [client(side) for _ in shares]
    for place, ask in enumerate(asks):
        for n in range(max(1, _WARM // clients)):
            ask(*call(-1 - place * _WARM - n))
    work = [
        Thread(target=_work, args=[ask, call, share, times])
        for ask, share in zip(asks, shares, strict=True)
    ]
    began = time.perf_counter()
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return Measured(times, len(times) / (time.perf_counter() - began))


def _work(ask: Callable[..., Any], call: Calls, share: range, times: list[float]) -> None:
    for n in share:
        asked = call(n)
        began = time.perf_counter()
        ask(*asked)
        times.append(time.perf_counter() - began)


def report(tables: Mapping[str, Table], *, memories: int) -> None:
    print(f"{'':18}{'clients':>8}{'p50 ms':>10}{'p99 ms':>10}{'calls/s':>10}{'x empty':>10}")
    figures: dict[str, Any] = {"memories": memories}
    for who, table in tables.items():
        for name, by_clients in table.items():
            for clients, measured in by_clients.items():
                row = _figures(measured, tables["ours"]["empty"][clients])
                print(
                    f"{f'{who}: {name}':18}{clients:>8}{row['p50_ms']:>10.2f}"
                    f"{row['p99_ms']:>10.2f}{row['per_second']:>10.1f}{row['over_empty']:>10.2f}"
                )
                figures[f"{who}_{name}_{clients}"] = row
    for name, their_name in BESIDE.items() if "mem0" in tables else ():
        for clients, other in tables["mem0"][their_name].items():
            mine = tables["ours"][name][clients]
            figures[f"{name}_{clients}_against_mem0"] = {
                "p50": round(percentile(mine.times, 0.5) / percentile(other.times, 0.5), 2),
                "per_second": round(mine.rate / other.rate, 2),
            }
    print_result(figures)


def _figures(measured: Measured, empty: Measured) -> dict[str, float]:
    p50 = percentile(measured.times, 0.5)
    return {
        "p50_ms": round(p50 * 1000, 2),
        "p99_ms": round(percentile(measured.times, 0.99) * 1000, 2),
        "per_second": round(measured.rate, 1),
        "over_empty": round(p50 / percentile(empty.times, 0.5), 2),
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
