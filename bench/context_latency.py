"""How long does `POST /memory/context` take, as a multiple of a lower bound?

    .venv/bin/python bench/context_latency.py [--memories 1000] [--calls 300]

The lower bound (`floor`) is measured in the same run: this process embeds the query and reads the
nearest memories with one raw SQL statement. The user has `--memories` memories of generated
sentences. Calls and floor alternate, so that the same load affects
both.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.product import Product, percentile, print_result, print_times, running
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres
from foundation.providers.embedders import BundledEmbedder

USER = "bench"
_WHO = ("My sister", "My neighbour", "Our team", "My old teacher", "Her cousin", "The landlord")
_DOES = ("likes", "collects", "repairs", "teaches", "writes about", "sells", "dreams of")
_WHAT = ("wooden boats", "violins", "tea", "maps", "old radios", "orchids", "chess", "kites")
_WHERE = ("in Leeds", "in Hangzhou", "by the sea", "on Sundays", "since 2019", "with friends")
_FLOOR = """
SELECT m.public_id, m.content, v.embedding <#> %s::halfvec AS distance
  FROM memories_vector v JOIN memories_memory m ON m.id = v.target_id
 WHERE v.user_id = %s AND v.target_kind = 'memory' AND m.status = 'active'
 ORDER BY distance LIMIT 20
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=300)
    wanted = parser.parse_args()
    with running() as product:
        fill(product, wanted.memories)
        floor, calls = measure(product, wanted.calls)
    report(floor, calls, memories=wanted.memories)


def sentence(rng: random.Random, number: int) -> str:
    parts = (rng.choice(_WHO), rng.choice(_DOES), rng.choice(_WHAT), rng.choice(_WHERE))
    return f"{' '.join(parts)} (number {number})"


def fill(product: Product, count: int) -> None:
    """Write the memories through the service, which is faster than HTTP."""
    code = f"""
import random
from bench.context_latency import USER, sentence
from memories.models import Origin
from memories.indexing import search_index
from memories.writing import memory_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
rng, user = random.Random(7), users.find_or_create(USER)
texts = [sentence(rng, number) for number in range({count})]
vectors = search_index.embed(texts)
for start in range(0, len(texts), 200):
    with as_user(user):
        for place in range(start, min(start + 200, len(texts))):
            draft = Draft(texts[place], "fact", vectors[place : place + 1], origin=Origin.API)
            memory_writes.create(draft, user=user, source=SourceInput(Origin.API))
"""
    product.manage("shell", "--no-imports", "--command", code)


def measure(product: Product, count: int) -> tuple[list[float], list[float]]:
    rng = random.Random(11)
    questions = [f"What does {sentence(rng, n).lower()} mean?" for n in range(count)]
    embedder = BundledEmbedder()
    folder = DataFolder(product.environment["MEMCENTER_DATA_DIR"])
    floor: list[float] = []
    calls: list[float] = []
    with psycopg.connect(EmbeddedPostgres(folder).url("app"), autocommit=True) as connection:
        row = connection.execute("SELECT id FROM ops_user WHERE external_id = %s", [USER])
        user_id = (row.fetchone() or [0])[0]
        for question in questions[:20]:  # warm both
            product.post("/memory/context", {"user_id": USER, "message": question})
            one_floor(connection, embedder, user_id, question)
        for question in questions:
            floor.append(one_floor(connection, embedder, user_id, question))
            began = time.perf_counter()
            product.post("/memory/context", {"user_id": USER, "message": question})
            calls.append(time.perf_counter() - began)
    return floor, calls


def one_floor(
    connection: psycopg.Connection[tuple[object, ...]],
    embedder: BundledEmbedder,
    user_id: object,
    question: str,
) -> float:
    began = time.perf_counter()
    vector = embedder.embed([question])[0]
    connection.execute(_FLOOR, [str(vector.tolist()), user_id], prepare=True).fetchall()
    return time.perf_counter() - began


def report(floor: list[float], calls: list[float], *, memories: int) -> None:
    print_times({"floor": floor, "POST /memory/context": calls})
    p50 = percentile(calls, 0.5)
    print_result(
        {
            "p50_over_floor": round(p50 / percentile(floor, 0.5), 2),
            "p99_over_p50": round(percentile(calls, 0.99) / p50, 2),
            "p50_ms": round(p50 * 1000, 2),
            "floor_p50_ms": round(percentile(floor, 0.5) * 1000, 2),
            "memories": memories,
            "calls": len(calls),
        }
    )


if __name__ == "__main__":
    main()
