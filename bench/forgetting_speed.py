"""How long does forgetting a user with many memories take, compared with raw DELETE statements?

    .venv/bin/python bench/forgetting_speed.py [--memories 10000] [--others 20000]

Two users have the same rows. One is forgotten by the product, whose steps are timed; the other is
deleted with one DELETE statement per table in the same database. The residue scan, its preparation
and the vacuum are reported separately. With `--others`, the scan for one forgotten memory of a user
with 200 memories is timed before and after that many memories (five rows each) of 20 other users
are added.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")
_NOT_ERASING = ("remember", "scan", "vacuum", "receipt")
_CODE = """
import json, time
from collections import defaultdict
import numpy as np
from django.db import connection
from django.utils import timezone
from memories.models import *
from memories.forgetting import memory_forgets
from memories.indexing import search_index
from memories.writing import memory_writes
from ops import registry
from ops.access import as_system, as_user
from ops.models import User
from ops.forgetting import person_forgets
from ops.accounts import users
from ops.queue import worker
from ops.queue.run import Run

COUNT, OTHERS = {count}, {others}
def fill(name, COUNT=COUNT):
    with as_system():
        user = users.find_or_create(name)
        now = timezone.now()
        said = "%s keeps note number %d about matters of every kind"
        own = {"user": user, "created_at": now}
        memories = Memory.objects.bulk_create(
            [Memory(**own, content=said % (name, n), kind="fact", origin="api")
             for n in range(COUNT)], batch_size=2000)
        versions = MemoryVersion.objects.bulk_create(
            [MemoryVersion(**own, memory=m, number=1, kind="fact", content=m.content,
                           change="created", actor="api") for m in memories], batch_size=2000)
        Source.objects.bulk_create(
            [Source(**own, memory=m, version=v, origin="api")
             for m, v in zip(memories, versions)], batch_size=2000)
        width = search_index.embedder().dimensions
        vectors = np.random.default_rng(1).normal(size=(COUNT, width)).astype("float32")
        for at in range(0, COUNT, 2000):
            some = memories[at:at + 2000]
            entries = [search_index.Entry(TargetKind.MEMORY, m.pk, m.content) for m in some]
            search_index.store(user=user, entries=entries, vectors=vectors[at:at + 2000])
        return user

one, other = fill("bench-one"), fill("bench-other")
with as_system(), connection.cursor() as cursor:
    cursor.execute("ANALYZE")
took = defaultdict(float)
last = ["", 0.0]
def mark(name):
    now = time.perf_counter()
    if last[0]:
        took[last[0]] += now - last[1]
    last[:] = [name, now]
real = Run.step
def step(self, name, **given):
    mark(name)
    return real(self, name, **given)
Run.step = step
with as_user(one):
    began = time.perf_counter()
    operation, _ = person_forgets.forget_user(user=one)
took["request"] = time.perf_counter() - began
while True:
    with as_system():
        operation.refresh_from_db()
    if operation.status in ("succeeded", "failed") or not worker.drain(limit=1):
        break
mark("")
with as_system():
    operation.refresh_from_db()
raw = time.perf_counter()
with as_system(), connection.cursor() as cursor:
    for kind in registry.user_data_kinds():
        for model in kind.models:
            if model is not User:
                table = model._meta.db_table
                cursor.execute('DELETE FROM "%s" WHERE user_id = %%s' % table, [other.pk])
    cursor.execute("DELETE FROM ops_user WHERE id = %s", [other.pk])
raw = time.perf_counter() - raw
def scans():
    found = []
    with as_user(small):
        memories = list(Memory.objects.filter(user=small).order_by("pk")[:7])
    for memory in memories:
        took.clear()
        with as_user(small):
            memory_forgets.forget_memory(user=small, memory=memory)
        worker.drain()
        found.append(took["scan"])
    return sorted(found)[len(found) // 2]
told = dict(took=dict(took), raw=raw, status=operation.status)
if OTHERS:
    small = fill("bench-small", 200)
    told["scan_alone"] = scans()
    others = [fill("bench-%d" % n, OTHERS // 20) for n in range(20)]
    with as_system(), connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    told["scan_among"] = scans()
    told["rows"] = 0
    with as_system(), connection.cursor() as cursor:
        for kind in registry.user_data_kinds():
            for model in kind.models:
                if model is not User:
                    cursor.execute('SELECT count(*) FROM "%s" WHERE user_id = ANY(%%s)'
                                   % model._meta.db_table, [[one.pk for one in others]])
                    told["rows"] += cursor.fetchone()[0]
print(json.dumps(told))
"""


def run_apart(code: str) -> str:
    """Run code in a Django shell on a new instance without a worker, and return its output."""
    folder = Path(tempfile.mkdtemp(prefix="memcenter-bench-"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "--command", code],
            cwd=Path(__file__).resolve().parent.parent,
            env=kept | {"MEMCENTER_DATA_DIR": str(folder / "data")},
            capture_output=True,
            text=True,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr[-3000:])
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--others", type=int, default=0, help="memories of other people")
    given = parser.parse_args()
    count = given.memories
    output = run_apart(_CODE.replace("{count}", str(count)).replace("{others}", str(given.others)))
    report = json.loads(output.strip().splitlines()[-1])
    took, raw = report["took"], report["raw"]
    erasing = sum(
        seconds for name, seconds in took.items() if name not in (*_NOT_ERASING, "request")
    )
    print(f"{'step':<28}{'ms':>10}")
    for name, seconds in took.items():
        print(f"{name:<28}{seconds * 1000:>10.1f}")
    print(f"{'raw DELETEs':<28}{raw * 1000:>10.1f}")
    print(f"erase steps / raw DELETEs: {erasing / raw:.2f} (target 5)   {report['status']}")
    figures = {
        "memories": count,
        "erase_ms": round(erasing * 1000, 1),
        "raw_ms": round(raw * 1000, 1),
        "ratio": round(erasing / raw, 2),
        **{f"{name}_ms": round(took.get(name, 0.0) * 1000, 1) for name in _NOT_ERASING[:3]},
        "status": report["status"],
    }
    if given.others:
        figures |= {
            "rows_of_others": report["rows"],
            "scan_without_them_ms": round(report["scan_alone"] * 1000, 1),
            "scan_with_them_ms": round(report["scan_among"] * 1000, 1),
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
