"""Operations of one person that are done together."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest

from ops import registry
from ops.models import Attempt, AttemptOutcome, Kind, Operation, Priority, Status, User
from ops.queue import outbox, worker
from ops.queue.run import Run, find_queued, lock_queued, succeed_queued
from tests.claiming import claim

pytestmark = pytest.mark.django_db


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Run], object]], None]:
    def put(handler: Callable[[Run], object]) -> None:
        monkeypatch.setattr(registry, "_handlers", {Kind.REINDEX.value: handler})

    return put


def enqueue(subject: UUID, number: int, **given: Any) -> Operation:
    return outbox.enqueue(
        Kind.REINDEX,
        subject=subject,
        payload={"number": number},
        serial_key=str(subject),
        **given,
    )


def together(user: User, seen: list[list[int]]) -> Callable[[Run], Mapping[str, int]]:
    def handler(run: Run) -> Mapping[str, int]:
        queued = run.find_queued(limit=2)
        seen.append([run.payload["number"], *(one.payload["number"] for one in queued)])
        with run.applying(user):
            held = lock_queued(queued)
            succeed_queued(
                {one.pk: {"n": one.payload["number"]} for one in queued if one.pk in held}
            )
        return {"n": run.payload["number"]}

    return handler


def test_what_waits_is_done_with_what_runs_in_its_order_and_up_to_the_limit(
    alice: User, handled: Callable[[object], None]
) -> None:
    seen: list[list[int]] = []
    handled(together(alice, seen))
    for number in range(4):
        enqueue(alice.subject, number)
    assert worker.drain() == 2
    assert seen == [[0, 1, 2], [3]]
    found = Operation.objects.order_by("pk")
    assert [(one.status, one.attempt, one.result) for one in found] == [
        (Status.SUCCEEDED, 1, {"n": number}) for number in range(4)
    ]
    assert set(Attempt.objects.values_list("number", "outcome")) == {(1, AttemptOutcome.SUCCEEDED)}
    assert Attempt.objects.count() == 4


def test_others_other_kinds_and_what_failed_before_are_left_alone(alice: User) -> None:
    running = enqueue(alice.subject, 0)
    enqueue(uuid4(), 1)
    enqueue(alice.subject, 2, priority=Priority.BULK)
    failed = enqueue(alice.subject, 3)
    Operation.objects.filter(pk=failed.pk).update(attempt=1)
    outbox.enqueue(Kind.CLEANUP, subject=alice.subject, payload={}, serial_key=str(alice.subject))
    fine = enqueue(alice.subject, 4)
    Operation.objects.filter(pk=running.pk).update(run_after="2020-01-01T00:00:00Z")
    claimed = claim([Kind.REINDEX], now=running.run_after)
    assert claimed is not None and claimed.pk == running.pk
    assert [one.pk for one in find_queued(claimed, limit=9)] == [fine.pk]
    claimed.attempt = 2
    assert find_queued(claimed, limit=9) == []


def test_what_was_cancelled_meanwhile_is_not_held(alice: User) -> None:
    first, second = (enqueue(alice.subject, number) for number in range(2))
    Operation.objects.filter(pk=first.pk).update(run_after="2020-01-01T00:00:00Z")
    claimed = claim([Kind.REINDEX], now=second.run_after)
    assert claimed is not None
    queued = find_queued(claimed, limit=9)
    outbox.cancel(second)
    assert lock_queued(queued) == set()
    succeed_queued({second.pk: None})
    second.refresh_from_db()
    assert second.status == Status.CANCELLED


def test_what_breaks_off_leaves_the_others_waiting(
    alice: User, handled: Callable[[object], None]
) -> None:
    def handler(run: Run) -> None:
        queued = run.find_queued(limit=2)
        with run.applying(alice):
            lock_queued(queued)
            succeed_queued({one.pk: None for one in queued})
            raise ValueError

    handled(handler)
    first, second = (enqueue(alice.subject, number) for number in range(2))
    worker.drain(limit=1)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, first.attempt) == (Status.PENDING, 1)
    assert (second.status, second.attempt) == (Status.PENDING, 0)
