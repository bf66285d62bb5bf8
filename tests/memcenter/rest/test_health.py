from datetime import timedelta

import pytest
import redis
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from memcenter.rest import throttling
from ops import registry
from ops.models import Attempt, Kind, Operation
from ops.queue.watchdog import RENEWED_KEY, Leases
from ops.tasks import HEARTBEAT_KEY, heartbeat
from tests.claiming import claim

pytestmark = pytest.mark.django_db


def test_the_process_says_that_it_serves() -> None:
    assert Client().get("/healthz").status_code == 200


def test_ready_when_database_broker_and_worker_answer() -> None:
    heartbeat()
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert set(response.json()["checks"]) == {"database", "broker", "worker", "operations"}
    assert set(response.json()["checks"].values()) == {"ok"}


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


def due(*, seconds: int) -> Operation:
    """An operation that has been due for so long."""
    return Operation.objects.create(
        kind=Kind.CLEANUP, run_after=timezone.now() - timedelta(seconds=seconds)
    )


def operations_are() -> str:
    return str(Client().get("/readyz").json()["checks"]["operations"])


def test_not_ready_while_operations_are_due_and_nobody_gets_on_with_any() -> None:
    heartbeat()
    assert operations_are() == "ok"
    due(seconds=60)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert "no worker has got on" in response.json()["checks"]["operations"]
    assert response.json()["checks"]["worker"] == "ok"


def test_what_became_due_a_moment_ago_or_nobody_handles_is_no_trouble(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    due(seconds=5)
    due(seconds=-60)
    assert operations_are() == "ok"
    due(seconds=60)
    monkeypatch.setattr(registry, "_handlers", {})
    assert operations_are() == "ok"


def test_whatever_was_begun_or_finished_of_late_is_progress() -> None:
    operation = due(seconds=60)
    due(seconds=60)
    long_ago = timezone.now() - timedelta(hours=1)
    begun = Attempt.objects.create(operation=operation, number=1)
    assert operations_are() == "ok"
    Attempt.objects.update(started_at=long_ago)
    assert operations_are() != "ok"
    Attempt.objects.filter(pk=begun.pk).update(finished_at=timezone.now())
    assert operations_are() == "ok"


def test_what_runs_is_in_hand_for_as_long_as_its_lease_is_renewed() -> None:
    due(seconds=60)
    claimed = claim([Kind.CLEANUP], now=timezone.now())
    assert claimed is not None
    Attempt.objects.update(started_at=timezone.now() - timedelta(hours=1))
    assert operations_are() != "ok"
    held = Leases()
    with held.holding(claimed):
        held.renew()
    assert operations_are() == "ok"
    cache.delete(RENEWED_KEY)
    assert operations_are() != "ok"
