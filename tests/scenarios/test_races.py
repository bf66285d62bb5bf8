"""Several clients of the same few people at once; `bench/races.py` makes ten thousand calls."""

from __future__ import annotations

import uuid
from urllib.parse import urlsplit

from bench import races
from tests.live import Product


def test_clients_of_the_same_people_do_not_lock_each_other_out(product: Product) -> None:
    names = [f"racer-{uuid.uuid4().hex[:8]}" for _ in range(2)]
    port = urlsplit(product.address).port
    assert port is not None
    outcome = races.race(port, product.api_key, names=names, calls=400, clients=8)
    assert outcome.broken == []
    assert (
        outcome.answers["POST /turns: 201"] and outcome.answers["POST /memory/forget memory: 202"]
    )
    assert races.log_lines(product.folder, "deadlock detected") == 0
    assert races.log_lines(product.folder, races.WORD) == 0
