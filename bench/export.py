"""How much memory and time does an export of very many messages take?

    .venv/bin/python bench/export.py [--messages 1000000] [--format json]

The rows are copied directly into the tables. The memory of the worker is sampled while it is idle
and while it writes; the result is the highest sample minus the idle one. For comparison the same
run exports the same rows to JSON with PostgreSQL's COPY.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.product import Product, print_result, running
from foundation import ids
from foundation.embedded.child_processes import PidFile
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres

USER = "bench"
_EACH = 1_000  # messages in a conversation
_SAMPLE_EVERY = 0.1
_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
_WORDS = "The {n}th message is about {what}, and it is as long as people’s messages usually are."
_ABOUT = ("tea", "豆豆", "chess", "Hangzhou", "the weekly report", "a birthday", "trains", "奶奶")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--format", choices=("json", "zip"), default="json")
    wanted = parser.parse_args()
    with running() as product:
        fill(product, wanted.messages)
        copying = copy_raw(product)
        measured = export(product, wanted.format)
    report(measured, copying, messages=wanted.messages)


def connection(product: Product) -> psycopg.Connection[Any]:
    folder = DataFolder(product.environment["MEMCENTER_DATA_DIR"])
    return psycopg.connect(EmbeddedPostgres(folder).url("owner"), autocommit=True)


def fill(product: Product, count: int) -> None:
    for number in range(0, count, _EACH):
        product.post("/conversations", {"user_id": USER, "conversation_id": f"c{number}"})
    with connection(product) as database, database.cursor() as cursor:
        cursor.execute("SELECT user_id, id FROM conversations_conversation ORDER BY id")
        for place, (user, conversation) in enumerate(cursor.fetchall()):
            first = place * _EACH
            _fill_one(cursor, user, conversation, first, min(_EACH, count - first))
        cursor.execute("ANALYZE conversations_message")


def _fill_one(
    cursor: psycopg.Cursor[Any], user: int, conversation: int, first: int, count: int
) -> None:
    with cursor.copy(
        "COPY conversations_message (user_id, conversation_id, public_id, number, role, speaker,"
        " content, completed, token_count, created_at, recorded_at) FROM STDIN"
    ) as rows:
        for number in range(1, count + 1):
            at = _BEGAN + timedelta(seconds=first + number)
            said = _WORDS.format(n=first + number, what=_ABOUT[number % len(_ABOUT)])
            role = ("assistant", "user")[number % 2]
            key = ids.message_id()
            rows.write_row((user, conversation, key, number, role, "", said, True, 20, at, at))


def copy_raw(product: Product) -> float:
    """Return the seconds that the database alone needs to export the rows as JSON."""
    began = time.monotonic()
    with connection(product) as database, database.cursor() as cursor:
        query = "COPY (SELECT to_json(m) FROM conversations_message m) TO STDOUT"
        with cursor.copy(query) as rows:
            for _ in rows:
                pass
    return time.monotonic() - began


def export(product: Product, format: str) -> dict[str, float]:
    # The server may have closed the connection while it was idle.
    product = Product(product.port, product.api_key, product.environment)
    worker = _worker_of(product)
    time.sleep(2)
    idle = peak = _memory_of(worker)
    began = time.monotonic()
    op_id = product.post("/memory/export", {"user_id": USER, "format": format})["op_id"]
    while (state := product.get(f"/memory/ops/{op_id}"))["status"] in ("pending", "running"):
        peak = max(peak, _memory_of(worker))
        time.sleep(_SAMPLE_EVERY)
    if state["status"] != "succeeded":
        raise SystemExit(f"The export {state['status']}: {state['last_error']}")
    seconds = time.monotonic() - began
    folder = Path(product.environment["MEMCENTER_DATA_DIR"]) / "exports"
    size = sum(file.stat().st_size for file in folder.iterdir())
    return {"idle": idle, "peak": peak, "seconds": seconds, "bytes": size}


def _worker_of(product: Product) -> int:
    known = PidFile(Path(product.environment["MEMCENTER_DATA_DIR"]) / "worker.pid").alive()
    if known is None:
        raise SystemExit("No worker runs.")
    return known[0]


def _memory_of(pid: int) -> int:
    """Return the resident memory of the process and its children, in bytes."""
    total = 0
    for process in (pid, *_children_of(pid)):
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1_024
    return total


def _children_of(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


def report(measured: dict[str, float], copying: float, *, messages: int) -> None:
    over = measured["peak"] - measured["idle"]
    print(f"{'messages':32}{messages:>16,}")
    print(f"{'file, MB':32}{measured['bytes'] / 1e6:>16,.1f}")
    print(f"{'worker idle, MB':32}{measured['idle'] / 1e6:>16,.1f}")
    print(f"{'worker peak over idle, MB':32}{over / 1e6:>16,.1f}")
    print(f"{'export, s':32}{measured['seconds']:>16.1f}")
    print(f"{'the rows by COPY alone, s':32}{copying:>16.1f}")
    print_result(
        {
            "messages": messages,
            "peak_over_idle_mb": round(over / 1e6, 1),
            "idle_mb": round(measured["idle"] / 1e6, 1),
            "seconds": round(measured["seconds"], 1),
            "copy_seconds": round(copying, 1),
            "file_mb": round(measured["bytes"] / 1e6, 1),
        }
    )


if __name__ == "__main__":
    main()
