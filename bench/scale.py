"""Does recall stay fast with many other users, and for a user with very many memories?

    .venv/bin/python bench/scale.py [--memories 1000000] [--users 10000] [--big 100000]

Three figures, each a ratio within one run:
- the time of `POST /memory/context` for a user with 1,000 memories, in a database with `--memories`
  memories against one with 10,000;
- the same call for a user with `--big` memories, against the user with 1,000, before and after that
  user gets an own vector index;
- the share of the ten exactly nearest memories that the index finds.

Two instances hold 10,000 and `--memories` memories; their calls alternate. The rows are copied
directly into the tables. The texts come from a small grammar. The vectors are a few thousand real
ones with added noise, so that they form clusters as real vectors do.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import psycopg
from psycopg import sql

from bench.context_latency import sentence
from bench.product import Product, percentile, print_result, print_times, running
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres
from foundation.providers.embedders import BundledEmbedder
from foundation.text import segment

USUAL, BIG, OTHER = "usual", "big", "other"
_BASE = 4_000
_NOISE = 0.02  # per coordinate; about 0.45 in length over 512 dimensions
Connection = psycopg.Connection[tuple[object, ...]]

_MEMORIES = """
INSERT INTO memories_memory ({columns})
SELECT {values} FROM generate_series(1, %(count)s) AS n
  JOIN bench_base b ON b.place = (n::bigint * 7919 + %(seed)s) %% %(base)s
  CROSS JOIN (SELECT * FROM memories_memory WHERE public_id = %(template)s) t
"""
# A memory without a version can't be changed.
_VERSIONS = """
INSERT INTO memories_memoryversion
       (user_id, memory_id, number, kind, content, summary, candidate_text, change, actor, reason,
        created_at)
SELECT m.user_id, m.id, v.number, v.kind, m.content, v.summary, v.candidate_text, v.change, v.actor,
       v.reason, v.created_at
  FROM memories_memory m
 CROSS JOIN (SELECT * FROM memories_memoryversion WHERE memory_id =
             (SELECT id FROM memories_memory WHERE public_id = %s)) v
 WHERE m.id > %s
"""
_WORDS = """
INSERT INTO memories_lexicalentry (user_id, target_kind, target_id, terms, length)
SELECT m.user_id, 'memory', m.id, b.terms || m.id::text, cardinality(b.terms) + 1
  FROM memories_memory m
  JOIN bench_base b ON b.content = split_part(m.content, ' (number', 1)
 WHERE m.id > %s
"""


@dataclass(frozen=True)
class Base:
    """The base sentences and their vectors, shape (count, dimensions)."""

    sentences: Sequence[str]
    vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--big", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=100)
    wanted = parser.parse_args()
    base = make_base()
    with running() as few, running(MEMCENTER_OWN_INDEX_FROM=str(wanted.big // 2)) as many:
        with filling(few, base, people=wanted.users) as filler:
            filler.fill(USUAL, 1_000)
            filler.fill_others(9_000)
        with filling(many, base, people=wanted.users) as filler:
            filler.fill(USUAL, 1_000)
            filler.fill(BIG, wanted.big)
            filler.fill_others(wanted.memories - wanted.big - 1_000)
        print("filled", flush=True)
        times = measure(few, many, wanted)
        recall = float(many.manage("shell", "--no-imports", "--command", _RECALL))
    report(times, recall, wanted)


def measure(few: Product, many: Product, wanted: argparse.Namespace) -> dict[str, list[float]]:
    """Time the calls alternately, so that other load affects all of them equally."""
    everybody = f"1,000 of {wanted.memories:,}"
    times = in_turn(
        {
            "1,000 of 10,000": (few, USUAL),
            everybody: (many, USUAL),
            f"{wanted.big:,}, compared": (many, BIG),
        },
        wanted.calls,
    )
    began = time.perf_counter()
    many.manage("shell", "--no-imports", "--command", _BUILD)
    print(f"the index took {time.perf_counter() - began:.0f} s", flush=True)
    again = {f"{everybody}, again": (many, USUAL), f"{wanted.big:,}, own index": (many, BIG)}
    return times | in_turn(again, wanted.calls)


@contextmanager
def filling(product: Product, base: Base, *, people: int) -> Iterator[Filler]:
    make_people(product, people)
    folder = DataFolder(product.environment["MEMCENTER_DATA_DIR"])
    with psycopg.connect(EmbeddedPostgres(folder).url("owner"), autocommit=True) as owner:
        yield Filler(owner, base)


_BUILD = """
import time
from memories.indexing import reindexing
from ops.access import as_system
from ops.models import Operation
from ops.queue import worker
with as_system():
    wanted = reindexing.request_user_indexes()
worker.drain()
while not Operation.objects.filter(pk=wanted.pk, status="succeeded").exists():
    time.sleep(1)  # the other worker was faster
    worker.drain()
"""


def make_people(product: Product, count: int) -> None:
    """Create the users. `USUAL` and `BIG` get a memory through the API, as a template."""
    for name in (USUAL, BIG):
        product.post("/memory/long_term", {"user_id": name, "content": "Likes maps in Leeds"})
    code = f"""
from ops.models import User, UserSettings
made = User.objects.bulk_create(
    [User(external_id=f"{OTHER}-{{n}}", password="!") for n in range({count})], batch_size=2000)
UserSettings.objects.bulk_create([UserSettings(user=one) for one in made], batch_size=2000)
"""
    product.manage("shell", "--no-imports", "--command", code)


def make_base() -> Base:
    rng = random.Random(3)
    made = [sentence(rng, number).split(" (number")[0] for number in range(40 * _BASE)]
    sentences = list(dict.fromkeys(made))[:_BASE]
    return Base(sentences, BundledEmbedder().embed(sentences))


class Filler:
    """Copies memories, their versions, words and vectors into the tables, as the owner."""

    def __init__(self, owner: Connection, base: Base) -> None:
        self._owner, self._base, self._seed = owner, base, 0
        owner.execute("SET maintenance_work_mem = '512MB'")
        owner.execute("CREATE TEMP TABLE bench_base (place int, content text, terms text[])")
        with owner.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO bench_base VALUES (%s, %s, %s)",
                [(n, text, segment.terms(text)) for n, text in enumerate(base.sentences)],
            )
        owner.execute("ANALYZE bench_base")
        self._template = self._one("SELECT public_id FROM memories_memory ORDER BY id LIMIT 1")
        self._space = self._one("SELECT id FROM memories_embeddingspace WHERE active")

    def fill(self, name: str, count: int) -> None:
        user = self._one("SELECT id FROM ops_user WHERE external_id = %s", name)
        self._copy(f"{user}", count)

    def fill_others(self, count: int) -> None:
        """Write memories that are spread over all other users."""
        like = f"{OTHER}-%"
        query = "SELECT min(id), count(*) FROM ops_user WHERE external_id LIKE %s"
        first, people = self._owner.execute(query, [like]).fetchone() or (0, 1)
        self._copy(f"{first} + n % {people}", count)

    def _copy(self, user: str, count: int) -> None:
        self._seed += 1
        last = self._one("SELECT max(id) FROM memories_memory")
        columns = self._columns(user)
        self._owner.execute("DROP INDEX IF EXISTS lexical_terms")
        self._owner.execute(
            sql.SQL(_MEMORIES).format(
                columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
                values=sql.SQL(", ").join(columns.values()),
            ),
            {
                "count": count,
                "seed": self._seed,
                "base": len(self._base.sentences),
                "template": self._template,
            },
        )
        self._owner.execute(_VERSIONS, [self._template, last])
        self._owner.execute(_WORDS, [last])
        self._copy_vectors(last)
        self._owner.execute(
            "CREATE INDEX lexical_terms ON memories_lexicalentry USING gin (user_id, terms)"
        )
        self._owner.execute(
            "VACUUM ANALYZE memories_memory, memories_memoryversion, memories_lexicalentry,"
            " memories_vector"
        )

    def _columns(self, user: str) -> dict[str, sql.Composable]:
        """Return the SQL of each column: the template's value, except for owner, id and text."""
        names = self._owner.execute(
            "SELECT column_name::text FROM information_schema.columns"
            " WHERE table_name = 'memories_memory' AND column_name <> 'id'"
        ).fetchall()
        columns: dict[str, sql.Composable] = {
            str(name): sql.SQL("t.{}").format(sql.Identifier(str(name))) for (name,) in names
        }
        text = "'mem_' || substr(md5(%(seed)s || ' ' || n), 1, 26)"
        return columns | {
            "user_id": sql.SQL(user.replace("%", "%%")),
            "public_id": sql.SQL(text),
            "content": sql.SQL("b.content || ' (number ' || n || ')'"),
        }

    def _copy_vectors(self, last: object) -> None:
        rows = self._owner.execute(
            "SELECT m.id, m.user_id, b.place FROM memories_memory m JOIN bench_base b"
            " ON b.content = split_part(m.content, ' (number', 1) WHERE m.id > %s",
            [last],
        ).fetchall()
        rng = np.random.default_rng(self._seed)
        with (
            self._owner.cursor() as cursor,
            cursor.copy(
                "COPY memories_vector (space_id, user_id, target_kind, target_id, embedding)"
                " FROM STDIN (FORMAT BINARY)"
            ) as copy,
        ):
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for start in range(0, len(rows), 20_000):
                copy.write(self._packed(np.array(rows[start : start + 20_000]), rng))
            copy.write(b"\xff\xff")

    def _packed(self, rows: np.ndarray, rng: np.random.Generator) -> bytes:
        """Return rows in the format of PostgreSQL's binary COPY: each field follows its length."""
        size = self._base.vectors.shape[1]
        near = self._base.vectors[rows[:, 2]]
        near = near + _NOISE * rng.standard_normal(near.shape, dtype=np.float32)
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        layout = np.dtype(
            [
                *[("fields", ">i2"), ("l1", ">i4"), ("space", ">i8"), ("l2", ">i4")],
                *[("user", ">i8"), ("l3", ">i4"), ("kind", "S6"), ("l4", ">i4")],
                *[("target", ">i8"), ("l5", ">i4"), ("size", ">i2"), ("none", ">i2")],
                ("vector", ">f2", (size,)),
            ]
        )
        packed = np.zeros(len(rows), dtype=layout)
        for name, value in {
            "fields": 5,
            "l1": 8,
            "l2": 8,
            "l3": 6,
            "l4": 8,
            "l5": 4 + 2 * size,
            "space": self._space,
            "kind": b"memory",
            "size": size,
            "user": rows[:, 1],
            "target": rows[:, 0],
            "vector": near,
        }.items():
            packed[name] = value
        return packed.tobytes()

    def _one(self, query: str, *values: object) -> object:
        return (self._owner.execute(query, values).fetchone() or (None,))[0]


def in_turn(whom: Mapping[str, tuple[Product, str]], count: int) -> dict[str, list[float]]:
    """Call for all users in turn; return the seconds by name, without ten warm-up calls."""
    rng = random.Random(11)
    times: dict[str, list[float]] = {name: [] for name in whom}
    for product, _ in whom.values():
        product.reconnect()
    for number in range(count + 10):
        question = f"Who {sentence(rng, number).split(' (')[0].lower()}?"
        for name, (product, user) in whom.items():
            began = time.perf_counter()
            product.post("/memory/context", {"user_id": user, "message": question})
            if number >= 10:
                times[name].append(time.perf_counter() - began)
    return times


_RECALL = """
import json, random
from bench.context_latency import sentence
from memories.retrieval.stores import pgvector
from memories.retrieval.stores.base import NearestQuery
from memories.indexing import search_index
from memories.recall.search import prepare_query
from memories.recall.searchable_texts import Filters, memory_scope
from ops.access import as_user
from ops.accounts import users
user, rng, found = users.find("big"), random.Random(19), []
store, space = pgvector.PgVectorStore(), search_index.active_space().pk
scope = memory_scope(user, filters=Filters(personal=True))
for number in range(50):
    asked = prepare_query("Who " + sentence(rng, number).split(" (")[0].lower() + "?")
    with as_user(user):
        near = [
            list(store.nearest(NearestQuery(asked.vector, user_id=user.pk, space_id=space,
                                            kind="memory", eligible=scope.ids, limit=limit,
                                            many=many)))[:10]
            for many, limit in ((False, 10), (True, 64))
        ]
    found.append(len({*near[0]} & {*near[1]}) / 10)
print(json.dumps(sum(found) / len(found)))
"""


def report(times: dict[str, list[float]], recall: float, wanted: argparse.Namespace) -> None:
    print_times(times)
    few, all_, compared, again, indexed = (percentile(seconds, 0.5) for seconds in times.values())
    print_result(
        {
            "all_over_10000": round(all_ / few, 2),
            "big_over_1000": round(compared / all_, 2),
            "big_with_own_index_over_1000": round(indexed / again, 2),
            "recall_at_10": round(recall, 3),
            "memories": wanted.memories,
            "big": wanted.big,
        }
    )


if __name__ == "__main__":
    main()
