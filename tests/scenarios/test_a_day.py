"""A day of everybody's traffic, with a model that quotes what it was asked when it fails: what
operators read (logs, metrics) and what travels (the broker) never says a word of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from typing import Any

import httpx
import psycopg
import pytest
import redis

from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.postgres import EmbeddedPostgres
from tests.chat_server import Answer, ChatServer, refused, said, streamed
from tests.live import Product, server
from tests.redis_keys import BROKER
from tests.scenarios.caller import until
from tests.scenarios.planted import Words
from tests.scenarios.planting import (
    THROUGH_THE_API,
    Planting,
    plant_by_chatting,
    plant_on_the_data_pages,
    plant_on_the_memory_pages,
    settle,
)

METRICS = "a token of metrics"
# What beat does at its times, once every hour of this day.
_TICK = """
from django.conf import settings
from memcenter.celery import app
for entry in settings.CELERY_BEAT_SCHEDULE.values():
    app.send_task(entry["task"])
"""


class Parrot(ChatServer):
    """Repeats what it was asked: as an answer, as nonsense, in each kind of failure."""

    def __init__(self) -> None:
        super().__init__()
        self._ways = cycle(("said", "refused", "nonsense", "down", "cut", "half"))

    def next_answer(self, question: dict[str, Any]) -> Answer:
        self.asked.append(question)
        text = json.dumps(question["messages"], ensure_ascii=False)
        if question.get("stream"):
            return streamed(text, finished=next(self._ways) == "said")
        return {
            "said": said(text),
            "refused": refused(400, message=text, code=text[:200]),
            "nonsense": Answer(f"<html>{text}"),
            "down": refused(500, message=text, type=text[:200]),
            "cut": Answer(said(text).body, cut=True),
            "half": Answer(said(text).body[:-40]),
        }[next(self._ways)]


class Overheard:
    """Every command that Redis is given concerning the broker, from now on."""

    def __init__(self, product: Product) -> None:
        self.commands: list[str] = []
        self._client: Any = redis.Redis.from_url(EmbeddedRedis(product.folder).url())

    def __enter__(self) -> Overheard:
        self._monitor = self._client.monitor().__enter__()
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._monitor.__exit__(None, None, None)
        self._client.close()

    def _listen(self) -> None:
        with suppress(redis.RedisError, OSError, ValueError):
            for heard in self._monitor.listen():
                command = str(heard["command"])
                if any(name in command for name in BROKER):
                    self.commands.append(command)


@pytest.fixture(scope="module")
def model() -> Iterator[Parrot]:
    one = Parrot()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def product(model: Parrot) -> Iterator[Product]:
    """Its logs are those of a deployment, and it finds almost every statement slow."""
    settings = {
        "MEMCENTER_LOG_FORMAT": "json",
        "MEMCENTER_SLOW_QUERY_MS": "1",
        "MEMCENTER_METRICS_TOKEN": METRICS,
        "MEMCENTER_MODEL_BASE_URL": model.url,
        "MEMCENTER_MODEL_NAME": "parrot",
    }
    with server(**settings) as one:
        yield one.start()


def test_what_operators_read_says_no_word_of_a_day(
    product: Product, model: Parrot, api: Planting, page: Planting, word: Words
) -> None:
    with Overheard(product) as overheard:
        for plant in THROUGH_THE_API:
            plant(api)
            product.shell(_TICK)
        for plant in (plant_by_chatting, plant_on_the_memory_pages, plant_on_the_data_pages):
            plant(page)
            product.shell(_TICK)
        settle(api)
        forgotten = api.ana.post("/memory/forget", scope="user")["op_id"]
        until(lambda: forgotten in _ended(product), what="the person to be forgotten")
    assert len(word.inside(json.dumps(model.asked))) > 10, "it had much to repeat"
    logs = _logs(product)
    assert {"serve", "web", "worker", "beat", "postgres", "redis"} <= logs.keys()
    assert sum(_is_json(line) for line in logs["web"].splitlines()) > 100, "it says what went on"
    assert {(name, one) for name, log in logs.items() for one in word.inside(log)} == set()
    assert word.inside(_metrics(product)) == set()
    assert len(overheard.commands) > 50
    assert word.inside("\n".join(overheard.commands)) == set()
    kept = _kept_of_work(product)
    assert len(kept) > 100
    assert {(name, one) for name, row in kept for one in word.inside(row)} == set()


def _logs(product: Product) -> dict[str, str]:
    """What each program said on this day."""
    folder = product.folder
    paths = [folder.path.with_name("serve.log"), *folder.log.glob("*.log")]
    return {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in paths}


def _is_json(line: str) -> bool:
    return line.startswith("{") and isinstance(json.loads(line), dict)


def _ended(product: Product) -> set[str]:
    rows = _rows(product, "SELECT public_id FROM ops_operation WHERE status = 'succeeded'")
    return {op_id for (op_id,) in rows}


def _metrics(product: Product) -> str:
    headers = {"Authorization": f"Bearer {METRICS}"}
    found = httpx.get(f"{product.address}/metrics", headers=headers, timeout=60)
    assert found.status_code == 200 and "memcenter_operations" in found.text
    return found.text


def _kept_of_work(product: Product) -> list[tuple[str, ...]]:
    return [
        (table, row)
        for table in ("ops_operation", "ops_attempt", "ops_auditevent", "ops_modelcall")
        for (row,) in _rows(product, f"SELECT row_to_json(t)::text FROM {table} t")
    ]


def _rows(product: Product, query: str) -> list[tuple[str, ...]]:
    url = EmbeddedPostgres(product.folder).url("superuser")
    with psycopg.connect(url, autocommit=True) as connection:
        return list(connection.execute(query.encode()))
