"""How long does it take to erase forgotten texts from the files of the data folder?

    .venv/bin/python bench/disk_erasure.py [--memories 10000 100000]

For each size, a new instance gets that many memories of 20 people, each with its version, source,
words and vector. One person and twenty memories of another are forgotten. Then `erase_disk` runs. A
search through the bytes of every file counts the forgotten texts that are still there before and
after. While `erase_disk` runs, a thread keeps reading one person's memories; its slowest read is
the longest time that a user waits.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.forgetting_speed import run_apart

_CODE = """
import json, random, threading, time
from collections import defaultdict
import numpy as np
from django.db import connection
from django.utils import timezone
from memories.models import *
from memories.forgetting import memory_forgets
from memories.indexing import search_index
from ops.access import as_system, as_user
from ops.models import Receipt
from ops.forgetting import person_forgets
from ops.accounts import users
from ops.queue import worker
from ops.queue.run import Run
from ops.disk import disk_erasure, raw_scan

COUNT, PEOPLE = {count}, 20
WORDS = ["".join(random.Random(n).choices("bcdfgklmnprstvaeiou", k=7)) for n in range(3000)]
def fill(number, count):
    chance = random.Random(number)
    with as_system():
        user = users.find_or_create("bench-%d" % number)
        own = {"user": user, "created_at": timezone.now()}
        said = [" ".join(chance.choices(WORDS, k=12)) for n in range(count)]
        memories = Memory.objects.bulk_create(
            [Memory(**own, content=text, kind="fact", origin="api") for text in said],
            batch_size=2000)
        versions = MemoryVersion.objects.bulk_create(
            [MemoryVersion(**own, memory=m, number=1, kind="fact", content=m.content,
                           change="created", actor="api") for m in memories], batch_size=2000)
        Source.objects.bulk_create(
            [Source(**own, memory=m, version=v, origin="api")
             for m, v in zip(memories, versions)], batch_size=2000)
        width = search_index.embedder().dimensions
        vectors = np.random.default_rng(number).normal(size=(count, width)).astype("float32")
        for at in range(0, count, 2000):
            some = memories[at:at + 2000]
            entries = [search_index.Entry(TargetKind.MEMORY, m.pk, m.content) for m in some]
            search_index.store(user=user, entries=entries, vectors=vectors[at:at + 2000])
    return user, memories, said

def holding(texts):
    left = [text.encode() for text in texts]
    found = set()
    for file in raw_scan.files():
        data = file.path.read_bytes()
        found |= {text for text in left if text in data}
    return len(found)

people = [fill(number, COUNT // PEOPLE) for number in range(PEOPLE)]
one, other = people[0], people[1]
gone = one[2][:100] + other[2][:20]
with as_user(one[0]):
    operation, _ = person_forgets.forget_user(user=one[0])
for memory in other[1][:20]:
    with as_user(other[0]):
        memory_forgets.forget_memory(user=other[0], memory=memory)
began = time.perf_counter()
worker.drain()
told = {"forgetting_s": time.perf_counter() - began}
told["before"] = holding(gone)
with as_system():
    operation = disk_erasure.request()
took, last = defaultdict(float), ["", 0.0]
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
waits, over = [], threading.Event()
def read():
    while not over.is_set():
        began = time.perf_counter()
        with as_user(people[2][0]):
            list(Memory.objects.filter(user=people[2][0]).order_by("-pk").values("content")[:50])
        waits.append(time.perf_counter() - began)
        time.sleep(0.02)
    connection.close()
reader = threading.Thread(target=read)
reader.start()
cpu = time.process_time()
began = time.perf_counter()
worker.drain()
mark("")
told["cpu_s"] = time.process_time() - cpu
told["whole_s"] = time.perf_counter() - began
over.set(); reader.join()
told["longest_wait_s"] = max(waits)
told["steps"] = dict(took)
told["after"] = holding(gone)
with as_system():
    operation.refresh_from_db()
    told |= operation.result
    told["status"], told["error"] = operation.status, operation.last_error
    lines = [disk_erasure.result_of(one).status for one in Receipt.objects.all()]
    told["lines"] = lines.count("gone")
    told["kept_rows"] = Memory.everything.count()
print(json.dumps(told))
"""


def _measured(count: int) -> dict[str, Any]:
    done = run_apart(_CODE.replace("{count}", str(count)))
    told: dict[str, Any] = json.loads(done.strip().splitlines()[-1])
    return told | {"memories": count}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--memories", type=int, nargs="+", default=[10_000, 100_000])
    given = parser.parse_args()
    figures = []
    columns = ("memories", "bytes", "before", "after", "whole_s", "longest_wait_s", "status")
    print("".join(f"{name:>18}" for name in columns))
    for count in given.memories:
        told = _measured(count)
        figures.append(told)
        cells = [told.get(name, "") for name in columns]
        print("".join(f"{round(c, 2) if isinstance(c, float) else c:>18}" for c in cells))
        print("   ", {name: round(value, 2) for name, value in told["steps"].items()})
    print(json.dumps({"sizes": figures}))


if __name__ == "__main__":
    main()
