"""How long does `POST /turns` take, as a multiple of an endpoint that does nothing?

    .venv/bin/python bench/turns.py [--calls 300]

The empty endpoint (bench/empty.py, served by the same processes) knows the key, counts the call,
finds the person and opens and commits their transaction, as every endpoint does, and answers {}.
Both are called in turn over one connection. The worker learns from the turns meanwhile, on the
same machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.product import Product, percentile, print_result, print_times, running

USER = "bench"
_TURN = {
    "user_id": USER,
    "conversation_id": "bench",
    "user_message": "Could you look at the second chapter again before we meet?",
    "assistant_message": "Yes. I have marked three places where the argument could be shorter.",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=300)
    wanted = parser.parse_args()
    with running(DJANGO_SETTINGS_MODULE="bench.empty") as product:
        empty, turns = measure(product, wanted.calls)
    report(empty, turns)


def measure(product: Product, count: int) -> tuple[list[float], list[float]]:
    empty: list[float] = []
    turns: list[float] = []
    for number in range(count + 20):
        for times, path, body in (
            (empty, "/bench/empty", {"user_id": USER}),
            (turns, "/turns", _TURN),
        ):
            if number == 0 and path != "/turns":
                product.post("/turns", _TURN)  # the person appears
            began = time.perf_counter()
            product.post(path, body)
            if number >= 20:  # before that everything warms up
                times.append(time.perf_counter() - began)
    return empty, turns


def report(empty: list[float], turns: list[float]) -> None:
    print_times({"empty endpoint": empty, "POST /turns": turns})
    p50 = percentile(turns, 0.5)
    print_result(
        {
            "p50_over_empty": round(p50 / percentile(empty, 0.5), 2),
            "p99_over_p50": round(percentile(turns, 0.99) / p50, 2),
            "p50_ms": round(p50 * 1000, 2),
            "empty_p50_ms": round(percentile(empty, 0.5) * 1000, 2),
            "calls": len(turns),
        }
    )


if __name__ == "__main__":
    main()
