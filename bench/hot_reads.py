"""How much time could a cache of a user's most used memories save?

    .venv/bin/python bench/hot_reads.py [--people 60] [--memories 100]

Each user requests the memory block and searches several times. The first call of a user is cold:
PostgreSQL has not read the rows since it wrote them. Later calls are warm. For comparison the 20
most used memories of each user are read from Redis as JSON, and from PostgreSQL with one statement.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import orjson
import psycopg
import redis

from bench.context_latency import sentence
from bench.product import Product, percentile, print_result, print_times, running
from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres

WARM = 6  # calls of each kind after the first
_MOST_USED = """
SELECT m.id, m.content FROM memories_memory m JOIN ops_user u ON u.id = m.user_id
 WHERE u.external_id = %s AND m.status = 'active' AND m.hidden_at IS NULL AND m.deleted_at IS NULL
 ORDER BY m.access_count DESC, m.id LIMIT 20
"""
Times = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--memories", type=int, default=100)
    wanted = parser.parse_args()
    with running() as product:
        fill(product, wanted.people, wanted.memories)
        called = calls(product, wanted.people)
        read = reads(product, wanted.people)
    report(called, read)


def fill(product: Product, people: int, memories: int) -> None:
    """Write the memories through the service, which is faster than HTTP."""
    code = f"""
import random
from bench.context_latency import sentence
from memories.models import Origin
from memories.indexing import search_index
from memories.writing import memory_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
rng = random.Random(7)
for person in range({people}):
    texts = [" ".join(sentence(rng, n) for _ in range(3)) for n in range({memories})]
    vectors, user = search_index.embed(texts), users.find_or_create(f"bench-{{person}}")
    with as_user(user):
        for place, text in enumerate(texts):
            draft = Draft(text, "fact", vectors[place : place + 1], origin=Origin.API)
            memory_writes.create(draft, user=user, source=SourceInput(Origin.API))
"""
    product.manage("shell", "--no-imports", "--command", code)


def calls(product: Product, people: int) -> Times:
    """Return the seconds of each call by kind; the first context call of a user is cold."""
    rng = random.Random(11)
    found: Times = defaultdict(list)
    for person in range(people):
        user = f"bench-{person}"
        for turn in range(1 + WARM):
            question = f"What does {sentence(rng, person).lower()} mean?"
            body = {"user_id": user, "message": question}
            kept = found["context, warm" if turn else "context, cold"]
            kept.append(timed(partial(product.post, "/memory/context", body)))
            asked = {"user_id": user, "query": question, "types": "memory"}
            found["search, warm"].append(timed(partial(product.get, "/search", **asked)))
    return found


def reads(product: Product, people: int) -> Times:
    found: Times = defaultdict(list)
    folder = DataFolder(product.environment["MEMCENTER_DATA_DIR"])
    cache = redis.Redis.from_url(EmbeddedRedis(folder).url())
    with psycopg.connect(EmbeddedPostgres(folder).url("owner"), autocommit=True) as connection:

        def from_postgresql(user: str) -> list[tuple[int, str]]:
            return connection.execute(_MOST_USED, [user], prepare=True).fetchall()

        def from_redis(user: str) -> Any:
            return orjson.loads(cast(bytes, cache.get(f"bench:{user}")))

        for person in range(people):
            user = f"bench-{person}"
            cache.set(f"bench:{user}", orjson.dumps(from_postgresql(user)))
            for _ in range(WARM):
                for name, read in (("PostgreSQL", from_postgresql), ("Redis", from_redis)):
                    found[f"20 most used, {name}"].append(timed(partial(read, user)))
    return found


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def report(called: Times, read: Times) -> None:
    print_times({**called, **read})
    p50 = {name: percentile(times, 0.5) for name, times in {**called, **read}.items()}
    saved = p50["20 most used, PostgreSQL"] - p50["20 most used, Redis"]
    print_result(
        {
            "redis_over_postgresql": round(
                p50["20 most used, Redis"] / p50["20 most used, PostgreSQL"], 2
            ),
            "saved_of_a_context": round(saved / p50["context, warm"], 3),
            "saved_of_a_search": round(saved / p50["search, warm"], 3),
            "warm_over_cold": round(p50["context, warm"] / p50["context, cold"], 2),
        }
    )


if __name__ == "__main__":
    main()
