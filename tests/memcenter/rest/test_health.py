import pytest
import redis
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client

from memcenter.rest import throttling
from ops.tasks import HEARTBEAT_KEY, heartbeat

pytestmark = pytest.mark.django_db


def test_the_process_says_that_it_serves() -> None:
    assert Client().get("/healthz").status_code == 200


def test_ready_when_database_broker_and_worker_answer() -> None:
    heartbeat()
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert response.json()["checks"] == {"database": "ok", "broker": "ok", "worker": "ok"}


def test_not_ready_without_a_worker() -> None:
    cache.delete(HEARTBEAT_KEY)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert "worker" in response.json()["checks"]["worker"]


def test_not_ready_without_the_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeat()
    away = redis.Redis.from_url("redis://127.0.0.1:1/0")
    monkeypatch.setattr(throttling, "client", lambda: away)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["broker"] != "ok"


def test_not_ready_without_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", gone)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["database"] != "ok"
