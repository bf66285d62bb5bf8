"""Whose turn it is."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from ops import registry
from ops.models import Kind, Operation, Priority, Status
from ops.queue import outbox, worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[UUID | None]:
    """Whose operations were run, in that order."""
    order: list[UUID | None] = []
    handlers = {Kind.REINDEX.value: lambda run: order.append(run.operation.subject)}
    monkeypatch.setattr(registry, "_handlers", handlers)
    return order


def enqueue_many(subject: UUID, count: int) -> None:
    before = timezone.now() - timedelta(hours=1)
    outbox.enqueue_all(
        Kind.REINDEX,
        subject=subject,
        payloads=[{}] * count,
        priority=Priority.BULK,
        serial_key=str(subject),
    )
    Operation.objects.filter(subject=subject).update(run_after=before)


def enqueue_one(subject: UUID, priority: Priority = Priority.BULK) -> None:
    outbox.enqueue(
        Kind.REINDEX,
        subject=subject,
        payload={},
        priority=priority,
        serial_key=str(subject),
    )


def test_ten_thousand_operations_of_one_person_hold_others_back_by_a_few(
    served: list[UUID | None],
) -> None:
    enqueue_many(uuid4(), 10_000)
    others = [uuid4() for _ in range(5)]
    for other in others:
        enqueue_one(other)
    worker.drain(limit=48)
    assert set(others) <= set(served)


def test_several_people_with_very_many_do_not_starve_the_last_either(
    served: list[UUID | None],
) -> None:
    for _ in range(4):
        enqueue_many(uuid4(), 500)
    other = uuid4()
    enqueue_one(other)
    worker.drain(limit=40)
    assert other in served


def test_a_persons_turn_never_comes_before_what_is_more_urgent(
    served: list[UUID | None],
) -> None:
    enqueue_many(UUID(int=2**127), 100)
    urgent = [UUID(int=number) for number in range(1, 11)]
    for subject in urgent:
        enqueue_one(subject, Priority.FORGET)
    worker.drain(limit=len(urgent))
    assert set(served) == set(urgent)


def test_everything_is_run_once_whoever_is_served_first(served: list[UUID | None]) -> None:
    for _ in range(3):
        enqueue_many(uuid4(), 10)
    worker.drain()
    assert len(served) == 30
    assert not Operation.objects.exclude(status=Status.SUCCEEDED).exists()
