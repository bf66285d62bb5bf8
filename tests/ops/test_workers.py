"""Many workers, none for an hour, and one that stood still: each operation is applied once."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import Settings

from conversations.models import Conversation
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories.forgetting import memory_forgets
from memories.indexing import search_index
from memories.learning import turn_learning
from memories.models import Memory, MemoryVersion, Source
from memories.reader import reader
from ops import registry
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import Attempt, AttemptOutcome, Kind, Operation, Priority, Receipt, Status, User
from ops.queue import outbox, watchdog, worker
from ops.queue.run import Run
from ops.queue.watchdog import Leases
from tests.claiming import claim
from tests.factories import make_conversation, make_memory, make_turn
from tests.processes import Reach, fork, fork_each

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 10


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    def put(handler: Any) -> None:
        monkeypatch.setattr(registry, "_handlers", {Kind.REINDEX.value: handler})

    return put


def enqueue(user: User, **fields: Any) -> Operation:
    with as_user(user):
        return outbox.enqueue(Kind.REINDEX, subject=user.subject, payload={}, **fields)


def apply(run: Run) -> dict[str, int]:
    """Leave one row for each time that it was applied."""
    user = run.user()
    assert user is not None
    with run.applying(user):
        Conversation.objects.create(
            user=user, title=run.operation.public_id, created_at=timezone.now()
        )
    return {"by": os.getpid()}


def applied() -> Counter[str]:
    with as_system():
        return Counter(Conversation.objects.values_list("title", flat=True))


def operations() -> list[Operation]:
    with as_system():
        # What goes from the disk waits for the quiet hour.
        return list(Operation.objects.exclude(kind=Kind.ERASE_DISK).order_by("pk"))


def drain_by_many() -> None:
    """Ten processes at once; what they left because its person was busy is done in the end."""
    assert fork_each(WORKERS, worker.drain) == []
    worker.drain()


def test_ten_workers_on_one_outbox_run_each_operation_once(
    handle: Callable[[Any], None], alice: User, mallory: User
) -> None:
    for number in range(60):
        user = (alice, mallory)[number % 2]
        serial = str(user.subject) if number % 3 == 0 else None
        priority = Priority.FORGET if number % 10 == 0 else Priority.TURN
        enqueue(user, serial_key=serial, priority=priority)
    handle(apply)
    drain_by_many()
    rows = operations()
    assert {(row.status, row.attempt) for row in rows} == {(Status.SUCCEEDED, 1)}
    assert applied() == {row.public_id: 1 for row in rows}
    assert len({row.result["by"] for row in rows}) > 1
    with as_system():
        assert Attempt.objects.filter(outcome=AttemptOutcome.SUCCEEDED).count() == len(rows)


def test_ten_workers_learn_each_turn_once_and_forget_once(alice: User, mallory: User) -> None:
    said = ("peanuts", "walnuts", "shellfish", "sesame")
    for user in (alice, mallory):
        with as_user(user):
            gone = make_memory(user, "Plays chess")
            memory_forgets.forget_memory(user=user, memory=gone)
            for what in said:
                thread = make_conversation(user)
                turns.record_turn(
                    user=user,
                    conversation=thread,
                    user_message=MessageInput(f"I'm allergic to {what}."),
                    assistant_message=MessageInput("I see."),
                )
    _warm_up()
    drain_by_many()
    assert {row.status for row in operations()} == {Status.SUCCEEDED}
    for user in (alice, mallory):
        with as_user(user):
            known = sorted(Memory.objects.filter(user=user).values_list("content", flat=True))
            assert known == sorted(f"I'm allergic to {what}" for what in said)
            assert MemoryVersion.objects.filter(user=user).count() == len(said)
    with as_system():
        assert Receipt.objects.count() == 2


def _warm_up() -> None:
    """Loaded once, before the workers are forked."""
    search_index.embed(["A first text."])
    reader().read("A first text.")


def test_after_an_hour_without_a_worker_nothing_is_lost_and_the_forget_comes_first(
    handle: Callable[[Any], None], alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def note(run: Run) -> None:
        ran.append(run.operation.public_id)
        apply(run)

    handle(note)
    turn = enqueue(alice)
    claimed = claim([Kind.REINDEX], now=timezone.now())  # by the last one, which dies
    assert claimed == turn
    others = [enqueue(alice) for _ in range(5)]
    forget = enqueue(alice, priority=Priority.FORGET)
    later = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    with as_system():
        assert outbox.expire(now=later) == 1
    worker.drain()
    assert ran == [one.public_id for one in (forget, turn, *others)]
    assert {row.status for row in operations()} == {Status.SUCCEEDED}
    assert applied() == dict.fromkeys(ran, 1)


@pytest.mark.parametrize("moment", ["before", "inside", "after"])
def test_a_worker_that_stood_still_past_its_lease_applies_nothing(
    handle: Callable[[Any], None], alice: User, moment: str
) -> None:
    operation = enqueue(alice)
    stopping: list[Reach] = []

    def handler(run: Run) -> object:
        user = run.user()
        assert user is not None
        reach = stopping.pop() if stopping else None
        if reach and moment == "before":
            reach()
        if reach and moment == "inside":
            with run.applying(user):
                Conversation.objects.create(user=user, title="half", created_at=timezone.now())
                _end_idle_transactions_soon()  # last: a slow machine may take 50 ms to get here
                reach()
        result = apply(run)
        if reach and moment == "after":
            reach()
        return result

    def work(reach: Reach) -> None:
        stopping.append(reach)
        worker.drain()

    handle(handler)
    stopped = fork(work)
    stopped.wait_until_it_reaches()
    _take_over()
    stopped.go_on()
    assert stopped.ended() == ""
    (row,) = operations()
    assert (row.status, row.attempt, row.result) == (Status.SUCCEEDED, 2, {"by": os.getpid()})
    # After its own transaction what it did stands; handlers find it there and leave it.
    assert applied() == {operation.public_id: 2 if moment == "after" else 1}
    with as_system():
        outcomes = list(Attempt.objects.order_by("number").values_list("outcome", flat=True))
    assert outcomes == [AttemptOutcome.EXPIRED, AttemptOutcome.SUCCEEDED]


def test_a_worker_that_loses_a_race_goes_on_with_the_rest(
    handle: Callable[[Any], None], alice: User, mallory: User
) -> None:
    raced = [enqueue(alice, serial_key="one at a time") for _ in range(2)]
    rest = [enqueue(mallory) for _ in range(5)]
    handle(apply)
    claimed, elsewhere = threading.Event(), threading.Thread(target=lambda: claim_slowly(claimed))
    elsewhere.start()
    assert claimed.wait(60)
    worker.drain()
    elsewhere.join()
    assert applied() == {one.public_id: 1 for one in rest}
    first, second = operations()[:2]
    assert [first.pk, second.pk] == [one.pk for one in raced]
    assert (first.status, second.status) == (Status.RUNNING, Status.PENDING)


def claim_slowly(claimed: threading.Event) -> None:
    """Claim the first operation; commit only when another worker waits for what comes of it."""
    with as_system():
        taken = outbox.claim_next([Kind.REINDEX], now=timezone.now())
        assert taken is not None
        claimed.set()
        with connection.cursor() as cursor:
            waiting = 0
            while not waiting:
                cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                waiting = cursor.fetchone()[0]
    connection.close()


def _end_idle_transactions_soon() -> None:
    """What `as_user` sets to twice the lease, for a test that doesn't wait so long."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '50ms'")


def _take_over() -> None:
    """As another worker does it: the database ends what a stopped one holds, then a sweep."""
    later = timezone.now() + timedelta(hours=1)
    expired = 0
    while not expired:
        with as_system():
            expired = outbox.expire(now=later)
    worker.drain()


def test_a_turn_is_learned_once_though_its_worker_stood_still_at_the_model(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_user(alice):
        turn = make_turn(make_conversation(alice), "I'm allergic to peanuts.")
        outbox.enqueue(Kind.EXTRACT_TURN, subject=alice.subject, payload={"turn": turn.pk})
    _warm_up()
    extract = turn_learning.extract
    stopping: list[Reach] = []

    def slow(text: Any) -> Any:
        found = extract(text)
        if stopping:
            stopping.pop()()
        return found

    monkeypatch.setattr(turn_learning, "extract", slow)

    def work(reach: Reach) -> None:
        stopping.append(reach)
        worker.drain()

    stopped = fork(work)
    stopped.wait_until_it_reaches()
    _take_over()
    stopped.go_on()
    assert stopped.ended() == ""
    with as_user(alice):
        (memory,) = Memory.objects.filter(user=alice)
        assert (memory.content, memory.current_version) == ("I'm allergic to peanuts", 1)
        assert Source.objects.filter(user=alice).count() == 1


def test_a_forget_is_receipted_once_though_its_worker_stood_still_before_the_receipt(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=make_memory(alice, "Plays chess"))
    stopping: list[Reach] = []
    step = Run.step

    def slow(run: Run, name: str, **given: int) -> None:
        step(run, name, **given)
        if name == "vacuum" and stopping:
            stopping.pop()()

    monkeypatch.setattr(Run, "step", slow)

    def work(reach: Reach) -> None:
        stopping.append(reach)
        worker.drain()

    stopped = fork(work)
    stopped.wait_until_it_reaches()
    _take_over()
    stopped.go_on()
    assert stopped.ended() == ""
    with as_system():
        assert Receipt.objects.count() == 1
    assert [row.status for row in operations()] == [Status.SUCCEEDED]
    assert users.find_or_create("alice") == alice


def test_a_lease_is_renewed_again_after_the_database_was_away(
    handle: Callable[[Any], None], alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(alice)
    claimed = claim([Kind.REINDEX], now=timezone.now())
    assert claimed is not None
    held = Leases()
    long_ago = timezone.now() - timedelta(hours=1)

    def renewed() -> bool:
        with as_system():
            Operation.objects.filter(status=Status.RUNNING).update(lease_until=long_ago)
        held.renew()
        return Operation.objects.get().lease_until not in (None, long_ago)

    def away(_operation: Operation) -> bool:
        raise OperationalError("the database system is starting up")

    with held.holding(claimed):
        with monkeypatch.context() as patch:
            patch.setattr(outbox, "renew", away)
            assert not renewed()
        assert renewed()
        with as_system():
            outbox.expire(now=timezone.now() + timedelta(hours=1))
        assert not renewed()
        assert claim([Kind.REINDEX], now=timezone.now()) is not None
        assert not renewed()  # it is another attempt's now, and this one gave up


def test_what_has_ended_is_held_no_longer(handle: Callable[[Any], None], alice: User) -> None:
    enqueue(alice)
    claimed = claim([Kind.REINDEX], now=timezone.now())
    assert claimed is not None
    held = Leases()
    with held.holding(claimed):
        pass
    held.renew()
    assert Operation.objects.get().lease_until == claimed.lease_until


def test_a_lease_whose_row_is_locked_is_held_and_not_waited_for(
    handle: Callable[[Any], None], alice: User
) -> None:
    enqueue(alice)
    claimed = claim([Kind.REINDEX], now=timezone.now())
    assert claimed is not None
    held = Leases()
    with held.holding(claimed):
        with as_system():
            assert outbox.has_lease(claimed)
            renewing = threading.Thread(target=held.renew, daemon=True)
            renewing.start()
            renewing.join(60)
            assert not renewing.is_alive()
        assert cache.get(watchdog.RENEWED_KEY)
        held.renew()
    lease = Operation.objects.get().lease_until
    assert claimed.lease_until is not None and lease is not None and lease > claimed.lease_until


def test_one_thread_renews_what_runs_for_long(
    handle: Callable[[Any], None],
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    settings.LEASE_SECONDS = 0.3
    monkeypatch.setattr(watchdog, "held", Leases())
    enqueue(alice)
    renewed = threading.Event()
    renew = outbox.renew

    def telling(operation: Operation) -> bool:
        held = renew(operation)
        renewed.set()
        return held

    def until_renewed(run: Run) -> dict[str, bool]:
        return {"renewed": renewed.wait(60)}

    monkeypatch.setattr(outbox, "renew", telling)
    handle(until_renewed)
    worker.drain()
    assert [(row.status, row.result) for row in operations()] == [
        (Status.SUCCEEDED, {"renewed": True})
    ]
