"""Metrics, request ids, log lines, slow statements: there for operators, silent on people."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from foundation import telemetry
from memories.recall import search
from ops.access import as_user
from ops.models import Kind, ModelCall, Operation, Status, User
from ops.queue import worker
from tests.factories import make_memory, make_trace

WORDS = ("Zwetschgenmus", "紫藤萝")
TOKEN = {"Authorization": "Bearer of metrics"}


@pytest.fixture
def token(settings: LazySettings, db: None) -> None:
    settings.METRICS_TOKEN = "of metrics"


def figures() -> dict[str, float]:
    answer = Client().get("/metrics", headers=TOKEN)
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = [line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")]
    found = {name: float(value) for name, value in lines}
    assert len(found) == len(lines)
    return found


def test_without_its_token_there_are_no_metrics(token: None, settings: LazySettings) -> None:
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"Authorization": "Bearer x"}).status_code == 404
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_metrics_tell_what_waits_what_failed_and_what_models_cost(token: None) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    for status in (Status.PENDING, Status.FAILED):
        Operation.objects.create(kind=Kind.CLEANUP, status=status, run_after=long_ago)
    ModelCall.objects.create(
        step="extract", provider="p", model='a"b', input_tokens=12_345_678, cost="0.5", outcome="ok"
    )
    found = figures()
    assert found['memcenter_operations{kind="cleanup",status="failed"}'] == 1
    assert found['memcenter_operations_in_trouble{trouble="overdue"}'] == 1
    assert found["memcenter_oldest_due_seconds"] >= 3600
    labels = r'{model="a\"b",outcome="ok",step="extract"}'
    assert found[f"memcenter_model_tokens_in{labels}"] == 12_345_678
    assert found[f"memcenter_model_cost{labels}"] == 0.5
    assert found['memcenter_ready{part="database"}'] == 1
    assert 0 <= found["memcenter_cache_hit_rate"] <= 1


def test_metrics_say_so_while_the_database_is_away(
    token: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise OperationalError("gone")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(connection, "cursor", gone)
        found = figures()
    assert found['memcenter_ready{part="database"}'] == 0
    assert {name.partition("{")[0] for name in found} == {"memcenter_ready"}


def test_metrics_cost_as_many_statements_for_much_as_for_little(token: None, alice: User) -> None:
    figures()
    with CaptureQueriesContext(connection) as few:
        figures()
    for _ in range(5):
        make_trace(alice, "tea")
        Operation.objects.create(kind=Kind.CLEANUP, run_after=timezone.now())
    with CaptureQueriesContext(connection) as many:
        figures()
    assert len(many) == len(few)


def test_a_request_has_one_name_that_a_proxy_may_give(db: None) -> None:
    given = Client().get("/signin/", headers={"X-Request-ID": "4bf92f35-77b3-4da6"})
    assert given["X-Request-ID"] == "4bf92f35-77b3-4da6"
    forged = Client().get("/signin/", headers={"X-Request-ID": "she.likes.tea"})
    assert len(forged["X-Request-ID"]) == 32
    assert Client().get("/signin/")["X-Request-ID"] != forged["X-Request-ID"]


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """All that is logged, as the JSON format writes it."""
    found: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    handler = Keeping(level=logging.DEBUG)
    handler.setFormatter(telemetry.JsonLines())
    handler.addFilter(telemetry.WithRequest())
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield found
    root.removeHandler(handler)
    root.setLevel(before)


def test_a_line_carries_its_request_and_of_an_error_no_words(lines: list[str]) -> None:
    with telemetry.use_request_id("0a7e9e5f"):
        try:
            raise ValueError(WORDS[0])
        except ValueError:
            logging.getLogger("ops").exception("Operation op_1 failed.")
    line = json.loads(lines[-1])
    assert (line["request_id"], line["exception"]) == ("0a7e9e5f", "ValueError")
    assert Path(__file__).name in line["raised_at"][0] and WORDS[0] not in lines[-1]
    assert sys.exc_info() == (None, None, None)


def test_slow_statements_are_logged_without_their_values(
    settings: LazySettings, lines: list[str], alice: User
) -> None:
    settings.SLOW_QUERY_MS = 0
    telemetry._watch(connection)
    try:
        make_memory(alice, WORDS[0])
        with as_user(alice):
            search.search(search.prepare_query(WORDS[1]), user=alice, limit=5)
    finally:
        connection.execute_wrappers.remove(telemetry._timed)
    slow = [line for line in lines if "memcenter.slow" in line]
    assert any("INSERT INTO" in line for line in slow)
    assert not [line for line in lines if any(word in line for word in WORDS)]


def test_traffic_leaves_no_word_in_logs_and_metrics(
    token: None, lines: list[str], alice: User, alice_key: str
) -> None:
    """Learned, searched, recalled, edited wrongly and forgotten; the broker is looked into by
    `tests.redis_keys` and the scenarios."""
    client = Client(headers={"Authorization": f"Bearer {alice_key}"})
    said = {"conversation_id": "c", "user_message": f"I like {WORDS[0]} and {WORDS[1]}."}
    paths = (
        ("turns", said | {"assistant_message": f"{WORDS[0]}!"}),
        ("search", {"query": WORDS[0]}),
        ("memory/context", {"conversation_id": "d", "message": WORDS[1]}),
        ("memory/long_term", {"content": WORDS[0], "kind": WORDS[1]}),
        ("memory/long_term", {"content": f"Eats {WORDS[0]}"}),
        ("memory/forget", {"scope": WORDS[0]}),
        ("memory/forget", {"scope": "conversation", "conversation_id": "c"}),
    )
    for path, body in paths:
        answer = client.post(f"/api/v1/{path}", body, content_type="application/json")
        assert answer.status_code < 500
        worker.drain()
    told = Client().get("/metrics", headers=TOKEN).content.decode()
    assert not [line for line in (*lines, told) if any(word in line for word in WORDS)]
