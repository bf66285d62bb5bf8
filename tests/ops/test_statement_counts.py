"""How many statements the worker itself needs: what each operation costs beside its handler."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from ops import registry
from ops.models import Attempt, AttemptOutcome, Kind, Operation, Priority, Status, User
from ops.queue import outbox, worker
from ops.queue.run import Run

pytestmark = pytest.mark.django_db

_DRAIN = 5  # the first claim beside two savepoints and the role, in tests
_EACH = 6


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    def put(result: object) -> None:
        monkeypatch.setattr(registry, "_handlers", {Kind.REINDEX.value: lambda _: result})
        monkeypatch.setattr(worker, "_turns", worker._Turns())

    return put


def test_an_ending_and_the_next_claim_are_one_transaction_of_two_statements(
    alice: User,
    handled: Callable[[object], None],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    handled(None)
    for _ in range(2):
        outbox.enqueue(Kind.REINDEX, subject=alice.subject, payload={})
    with django_assert_num_queries(_DRAIN + 2 * _EACH):
        assert worker.drain() == 2
    assert set(Operation.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {AttemptOutcome.SUCCEEDED}


def test_a_handler_is_given_the_person_without_asking_again(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[User | None] = []

    def handler(run: Run) -> None:
        seen.append(run.user())

    monkeypatch.setattr(registry, "_handlers", {Kind.REINDEX.value: handler})
    outbox.enqueue(Kind.REINDEX, subject=alice.subject, payload={})
    outbox.enqueue(Kind.REINDEX, subject=uuid4(), payload={}, priority=Priority.BULK)
    worker.drain()
    assert seen == [alice, None]


def test_a_result_that_is_not_json_fails_the_operation_and_nothing_else(
    handled: Callable[[object], None],
) -> None:
    handled({"not": object()})
    operation = outbox.enqueue(Kind.REINDEX, subject=None, payload={})
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert (operation.status, operation.last_error) == (
        Status.PENDING,
        "It broke off (TypeError).",
    )


def test_a_claim_that_another_worker_won_still_records_the_ending(
    handled: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    handled(None)
    first, second = (outbox.enqueue(Kind.REINDEX, subject=None, payload={}) for _ in range(2))
    real = outbox.claim_next
    calls: list[int] = []

    def beaten(*args: object, **given: object) -> object:
        calls.append(1)
        if len(calls) > 1:  # what PostgreSQL says of a second RUNNING row of one serial key
            Operation.objects.create(
                kind=Kind.REINDEX, run_after=first.run_after, public_id=first.public_id
            )
        return real(*args, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(outbox, "claim_next", beaten)
    assert worker.drain() == 1
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == (Status.SUCCEEDED, Status.PENDING)
