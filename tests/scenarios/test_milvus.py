"""Vectors in Milvus, and kill -9 of Milvus and of the worker while people write and forget."""

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live import Product, Server, server
from tests.milvus import Milvus
from tests.scenarios.caller import Caller, until

MOST_PEOPLE = 30  # until some forgets are met done and some not
KEPT = ("Plays the cello", "Drinks green tea", "Works at a bank")
LATER = "Sings in a choir"
GONE = ("Has a cat named Biscuit", "Has a dog named Pepper")
STATE = """
import json
from memories.models import EmbeddingSpace, Vector, VectorChange
from memories.indexing import milvus_sync
from ops.access import as_system
milvus = milvus_sync.server()
with as_system():
    print(json.dumps({
        "held": sorted(
            f"{space}:{name}"
            for space in milvus.spaces()
            for part in milvus.everything(space, user_id=None)
            for name in part
        ),
        "stored": sorted(
            f"{space}:{kind}:{pk}"
            for space, kind, pk in Vector.objects.values_list("space", "target_kind", "target_id")
        ),
        "searched_in": list(EmbeddingSpace.objects.values_list("searched_in", flat=True)),
        "untold": VectorChange.objects.count(),
    }))
"""


@pytest.fixture(scope="module")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Milvus]:
    one = Milvus(tmp_path_factory.mktemp("live-milvus"))
    one.start()
    yield one
    one.kill()


@pytest.fixture(scope="module")
def own_server(milvus: Milvus) -> Iterator[Server]:
    """A short lease, so that another worker takes over soon."""
    with server(
        MEMCENTER_VECTOR_STORE="milvus",
        MEMCENTER_MILVUS_URI=milvus.uri,
        MEMCENTER_LEASE_SECONDS="15",
    ) as one:
        one.start()
        yield one


def written(caller: Caller) -> list[str]:
    """Write all memories of a person; gives the ids of those that are to go."""
    rows = {what: caller.post("/memory/long_term", content=what) for what in (*KEPT, *GONE)}
    return [rows[what]["id"] for what in GONE]


def forgets_in_the_middle(people: dict[str, list[str]], product: Product) -> dict[str, str]:
    """Have people forget and write, one after another, until some of it is done and some not."""
    operations: dict[str, str] = {}
    waiting = iter(people.items())

    def in_the_middle() -> bool:
        name, ids = next(waiting)
        caller = Caller(product, name)
        asked = caller.post("/memory/forget", scope="memory", memory_ids=ids)
        operations[name] = asked["op_id"]
        caller.post("/memory/long_term", content=LATER)
        states = [
            Caller(product, who).get(f"/memory/ops/{op_id}")["status"]
            for who, op_id in operations.items()
        ]
        return "succeeded" in states and not set(states) <= {"succeeded"}

    until(in_the_middle, what="some forgets to be done and some not")
    return operations


def test_after_a_kill_of_milvus_and_the_worker_nothing_is_left_and_nothing_lost(
    milvus: Milvus, own_server: Server
) -> None:
    product = own_server.product()
    people = {f"milvus-{n}": written(Caller(product, f"milvus-{n}")) for n in range(MOST_PEOPLE)}
    product.manage("movevectors")
    until(lambda: state(product)["searched_in"] == ["milvus"], what="Milvus to be searched")
    operations = forgets_in_the_middle(people, product)

    worker = own_server.pid("worker")
    assert worker is not None
    milvus.kill()
    os.killpg(worker, signal.SIGKILL)
    for name in operations:  # PostgreSQL answers, and shows nothing of what is to go
        assert set(Caller(product, name).found("a pet", "memory")) == {*KEPT, LATER}
    until(lambda: own_server.pid("worker") not in {None, worker}, what="another worker")
    milvus.start()

    for name, op_id in operations.items():
        caller = Caller(product, name)
        caller.finished([op_id])
        receipt = caller.get(f"/memory/ops/{op_id}/receipt")
        assert receipt["scan"]["looked"]["milvus"] >= len(GONE)
        assert receipt["scan"]["residue"] == 0
        assert set(caller.found("a pet", "memory")) == {*KEPT, LATER}
    until(lambda: not state(product)["untold"], what="Milvus to be told of everything")
    told = state(product)
    assert told["held"] == told["stored"] and len(told["held"]) >= MOST_PEOPLE * len(KEPT)
    scanned = product.manage("residue", "--json")
    assert scanned.returncode == 0, scanned.stdout + scanned.stderr


def state(product: Product) -> dict[str, Any]:
    """What Milvus and PostgreSQL hold, and what waits to be told."""
    found: dict[str, Any] = json.loads(product.shell(STATE))
    return found
