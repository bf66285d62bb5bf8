from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from foundation.errors import Conflict, Invalid, ProviderError
from ops import registry
from ops.models import Attempt, AttemptOutcome, Kind, Operation, Priority, Status
from ops.queue import outbox, worker
from ops.queue.run import Run
from tests.claiming import claim

pytestmark = pytest.mark.django_db

Calls = list[str]


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Put a handler in place of the registered ones, for the kind `reindex`."""

    def put(handler: Any) -> None:
        monkeypatch.setattr(registry, "_handlers", {Kind.REINDEX.value: handler})

    return put


def enqueue(**fields: Any) -> Operation:
    return outbox.enqueue(Kind.REINDEX, subject=uuid4(), payload={}, **fields)


def claim_reindex() -> Operation | None:
    return claim([Kind.REINDEX], now=timezone.now())


def test_a_claimed_operation_is_running_under_a_lease() -> None:
    enqueue()
    operation = claim_reindex()
    assert operation is not None
    assert (operation.status, operation.attempt) == (Status.RUNNING, 1)
    assert operation.lease_until is not None and operation.lease_until > timezone.now()
    assert claim_reindex() is None


def test_what_a_clock_put_off_that_has_been_set_back_is_due_again() -> None:
    enqueue()
    operation = claim_reindex()
    assert operation is not None
    outbox.fail(operation, error="It broke off.")
    later = timezone.now() + timedelta(hours=2)
    Operation.objects.update(updated_at=later, run_after=later)
    assert claim_reindex() is None
    outbox.expire(now=timezone.now())
    assert claim_reindex() == operation


def test_a_lease_by_a_clock_that_has_been_set_back_runs_out_as_any_other() -> None:
    enqueue()
    operation = claim_reindex()
    later = timezone.now() + timedelta(hours=2)
    Operation.objects.update(updated_at=later, lease_until=later)
    outbox.expire(now=timezone.now())
    assert claim_reindex() is None
    outbox.expire(now=timezone.now() + timedelta(seconds=settings.LEASE_SECONDS + 1))
    assert claim_reindex() == operation


def test_what_is_to_wait_waits() -> None:
    enqueue(run_after=timezone.now() + timedelta(days=1))
    outbox.expire(now=timezone.now())
    assert claim_reindex() is None


def test_forgetting_is_claimed_before_older_work() -> None:
    enqueue(priority=Priority.TURN)
    urgent = enqueue(priority=Priority.FORGET)
    assert claim_reindex() == urgent


def test_an_operation_is_not_claimed_before_its_time() -> None:
    enqueue(run_after=timezone.now() + timedelta(minutes=1))
    assert claim_reindex() is None


def test_one_serial_key_runs_once_at_a_time() -> None:
    enqueue(serial_key="alice")
    enqueue(serial_key="alice")
    other = enqueue(serial_key="bob")
    claim_reindex()
    assert claim_reindex() == other
    assert claim_reindex() is None


def test_a_dedupe_key_waits_only_once() -> None:
    assert enqueue(dedupe_key="k") == enqueue(dedupe_key="k")
    first = claim_reindex()
    assert enqueue(dedupe_key="k") != first


def test_a_lost_lease_can_not_finish_the_operation() -> None:
    enqueue()
    stale = claim_reindex()
    assert stale is not None
    assert outbox.expire(now=timezone.now() + timedelta(hours=1)) == 1
    fresh = claim_reindex()
    assert fresh is not None and fresh.attempt == 2
    assert not outbox.succeed(stale)
    assert not outbox.fail(stale, error="late")
    assert not outbox.renew(stale)
    assert outbox.succeed(fresh)


def test_an_expired_attempt_says_so() -> None:
    enqueue()
    claim_reindex()
    outbox.expire(now=timezone.now() + timedelta(hours=1))
    assert Attempt.objects.get().outcome == AttemptOutcome.EXPIRED


def test_waiting_doubles_with_each_failure() -> None:
    operation = enqueue()
    for seconds in (1, 2, 4):
        operation.refresh_from_db()
        Operation.objects.filter(pk=operation.pk).update(run_after=timezone.now())
        claimed = claim_reindex()
        assert claimed is not None
        outbox.fail(claimed, error="no")
        operation.refresh_from_db()
        wait = operation.run_after - operation.updated_at
        assert wait == timedelta(seconds=seconds)


def test_the_last_attempt_fails_for_good_and_can_be_retried() -> None:
    operation = enqueue()
    Operation.objects.filter(pk=operation.pk).update(max_attempts=1)
    claimed = claim_reindex()
    assert claimed is not None
    outbox.fail(claimed, error="no")
    operation.refresh_from_db()
    assert operation.status == Status.FAILED
    outbox.retry(operation)
    assert claim_reindex() is not None


def test_failing_beside_a_waiting_twin_leaves_the_work_to_it() -> None:
    enqueue(dedupe_key="k")
    first = claim_reindex()
    assert first is not None
    twin = enqueue(dedupe_key="k")
    outbox.fail(first, error="no")
    first.refresh_from_db()
    assert first.status == Status.CANCELLED
    assert claim_reindex() == twin or twin.status == Status.PENDING


def test_only_what_waits_can_be_cancelled() -> None:
    operation = enqueue()
    outbox.cancel(operation)
    with pytest.raises(Conflict):
        outbox.cancel(operation)


def test_only_what_failed_can_be_retried() -> None:
    with pytest.raises(Conflict):
        outbox.retry(enqueue())


def test_a_handler_runs_and_its_result_is_kept(handle: Callable[[Any], None]) -> None:
    handle(lambda run: {"ids": [1]})
    operation = enqueue()
    assert worker.drain() == 1
    operation.refresh_from_db()
    assert (operation.status, operation.result) == (Status.SUCCEEDED, {"ids": [1]})


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ProviderError("busy", retryable=True), Status.PENDING),
        (ProviderError("bad key", retryable=False), Status.FAILED),
        (Invalid("never right"), Status.FAILED),
        (ValueError("a secret that must not be kept"), Status.PENDING),
    ],
)
def test_what_a_handler_raises_decides_whether_it_is_tried_again(
    handle: Callable[[Any], None], error: Exception, status: Status
) -> None:
    def broken(run: Run) -> None:
        raise error

    handle(broken)
    operation = enqueue()
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == status
    assert "secret" not in operation.last_error


def test_a_handler_that_lost_its_lease_applies_nothing(handle: Callable[[Any], None]) -> None:
    applied: Calls = []

    def slow(run: Run) -> None:
        outbox.expire(now=timezone.now() + timedelta(hours=1))
        with run.applying_as_system():
            applied.append("late")

    handle(slow)
    operation = enqueue()
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert applied == []
    assert operation.status == Status.PENDING


def _fail_all_day(operation: Operation) -> None:
    """Each try of a day finds the server down."""
    for _ in range(40):
        Operation.objects.filter(pk=operation.pk).update(run_after=timezone.now())
        worker.drain()


def test_a_server_that_is_down_uses_up_no_attempt(handle: Callable[[Any], None]) -> None:
    def down(run: Run) -> None:
        raise ProviderError("The server can't be reached.", retryable=True)

    handle(down)
    operation = enqueue()
    _fail_all_day(operation)
    operation.refresh_from_db()
    assert (operation.status, operation.attempt) == (Status.PENDING, 40)
    assert operation.run_after - operation.updated_at == timedelta(hours=1)
    handle(lambda run: {})
    Operation.objects.filter(pk=operation.pk).update(run_after=timezone.now())
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED


def test_patience_with_a_server_ends(handle: Callable[[Any], None]) -> None:
    def down(run: Run) -> None:
        raise ProviderError("The server can't be reached.", retryable=True)

    handle(down)
    operation = enqueue()
    long_ago = timezone.now() - timedelta(days=4)
    Operation.objects.filter(pk=operation.pk).update(created_at=long_ago)
    _fail_all_day(operation)
    operation.refresh_from_db()
    assert (operation.status, operation.attempt) == (Status.FAILED, 8)


def test_an_answer_that_is_nonsense_uses_up_attempts(handle: Callable[[Any], None]) -> None:
    class Nonsense(ProviderError):
        uses_up = True

    def answered(run: Run) -> None:
        raise Nonsense("The answer could not be read.", retryable=True)

    handle(answered)
    operation = enqueue()
    _fail_all_day(operation)
    operation.refresh_from_db()
    assert (operation.status, operation.attempt) == (Status.FAILED, 8)
