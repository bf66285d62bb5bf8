"""The outbox under whatever its users and workers do, in any order: its invariants always hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from copy import copy
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

import hypothesis
import pytest
from django.utils import timezone
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from foundation.errors import Conflict
from ops.models import Attempt, AttemptOutcome, Kind, Operation, Priority, Status
from ops.queue import outbox
from tests.claiming import claim

pytestmark = pytest.mark.django_db

_PEOPLE = [UUID(int=number) for number in range(1, 4)]
_BULK = Priority.BULK
_OVER = {Status.SUCCEEDED, Status.CANCELLED}
_ENDED = {*_OVER, Status.FAILED}
priorities = st.sampled_from([Priority.FORGET, Priority.TURN, Priority.BULK])
people = st.sampled_from(_PEOPLE)


Pair = tuple[str, str]
# The arrows of `Status`; a row that is new comes from nowhere.
ARROWS = {
    "enqueue": {("", "pending")},
    "claim": {("pending", "running")},
    "succeed": {("running", "succeeded")},
    "fail": {("running", "pending"), ("running", "failed")},
    "expire": {("running", "pending"), ("running", "failed")},
    "cancel": {("pending", "cancelled")},
    "retry": {("failed", "pending")},
    # One that goes back beside a waiting twin leaves the work to it.
    "leave": {("running", "cancelled")},
}


class Outbox(RuleBasedStateMachine):
    """`held` are claims that workers believe in; a dead or frozen worker simply keeps its own."""

    held = Bundle("held")
    taken: ClassVar[dict[str, set[Pair]]] = defaultdict(set)

    def __init__(self) -> None:
        super().__init__()
        Operation.objects.all().delete()
        self.over: dict[int, str] = {}
        self.successes: Counter[int] = Counter()
        self.attempts: dict[int, int] = {}
        self.states: dict[int, str] = {}
        self.doing = ""

    def _now(self) -> datetime:
        """Late enough for whatever waits after a failure."""
        return timezone.now() + timedelta(hours=2)

    @rule(
        person=people,
        priority=priorities,
        serial=st.booleans(),
        dedupe=st.sampled_from([None, "one", "other"]),
    )
    def enqueue(self, person: UUID, priority: Priority, serial: bool, dedupe: str | None) -> None:
        self.doing = "enqueue"
        waiting = Operation.objects.filter(dedupe_key=dedupe, status=Status.PENDING).first()
        made = outbox.enqueue(
            Kind.REINDEX,
            subject=person,
            payload={},
            priority=priority,
            serial_key=str(person) if serial else None,
            dedupe_key=dedupe,
        )
        assert dedupe is None or waiting is None or made == waiting

    @rule(target=held, after=st.none() | people)
    def claim(self, after: UUID | None) -> Operation | None:
        self.doing = "claim"
        best = self._claimable()
        claimed = claim([Kind.REINDEX], now=self._now(), after=after)
        if claimed is None:
            assert after is not None or not best
            return None
        assert claimed.pk in best
        assert after is None or (claimed.subject is not None and claimed.subject > after)
        return claimed

    def _claimable(self) -> set[int]:
        """What may run, of the highest priority at which something may."""
        running = Operation.objects.filter(status=Status.RUNNING, serial_key__isnull=False)
        busy = set(running.values_list("serial_key", flat=True))
        rows = Operation.objects.filter(status=Status.PENDING)
        free = [row for row in rows if row.serial_key not in busy]
        first = min((row.priority for row in free), default=0)
        return {row.pk for row in free if row.priority == first}

    @rule(claimed=consumes(held))
    def succeed(self, claimed: Operation | None) -> None:
        self.doing = "succeed"
        if claimed is not None:
            mine = self._is_mine(claimed)
            assert outbox.succeed(claimed) == mine
            self.successes[claimed.pk] += mine

    @rule(claimed=consumes(held), permanent=st.booleans(), counts=st.booleans())
    def fail(self, claimed: Operation | None, permanent: bool, counts: bool) -> None:
        self.doing = "fail"
        if claimed is not None:
            mine = self._is_mine(claimed)
            assert outbox.fail(claimed, error="no", permanent=permanent, counts=counts) == mine

    @rule(claimed=consumes(held))
    def give_back(self, claimed: Operation | None) -> None:
        self.doing = "fail"
        if claimed is not None:
            mine = self._is_mine(claimed)
            assert outbox.release(claimed) == mine

    @rule(claimed=held)
    def renew(self, claimed: Operation | None) -> None:
        if claimed is not None:
            assert outbox.renew(claimed) == self._is_mine(claimed) == outbox.has_lease(claimed)

    @rule()
    def leases_run_out(self) -> None:
        """Of dead workers and of those that only stand still."""
        self.doing = "expire"
        outbox.expire(now=timezone.now() + timedelta(hours=3))
        assert not Operation.objects.filter(status=Status.RUNNING).exists()

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.doing = "cancel"
        operation = self._any(data)
        if operation is None:
            return
        if operation.status == Status.PENDING:
            outbox.cancel(operation)
        else:
            with pytest.raises(Conflict):
                outbox.cancel(operation)

    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        self.doing = "retry"
        operation = self._any(data)
        if operation is None:
            return
        if operation.status == Status.FAILED and not self._has_twin(operation):
            outbox.retry(operation)
        else:
            with pytest.raises(Conflict):
                outbox.retry(operation)

    def _has_twin(self, operation: Operation) -> bool:
        twins = Operation.objects.filter(dedupe_key=operation.dedupe_key, status=Status.PENDING)
        return operation.dedupe_key is not None and twins.exists()

    def what_does_not_begin_there_is_refused(self, status: Status) -> None:
        for operation in Operation.objects.filter(status=status):
            lost = copy(operation)
            lost.attempt += status == Status.RUNNING  # otherwise nobody holds it, not even this try
            assert (
                not outbox.succeed(lost) and not outbox.renew(lost) and not outbox.has_lease(lost)
            )
            assert not outbox.fail(lost, error="no") and not outbox.release(lost)
            for act, begins in ((outbox.retry, Status.FAILED), (outbox.cancel, Status.PENDING)):
                if status != begins:
                    with pytest.raises(Conflict):
                        act(operation)
        assert self.states == dict(Operation.objects.values_list("pk", "status"))

    def _any(self, data: st.DataObject) -> Operation | None:
        rows = list(Operation.objects.order_by("pk"))
        return data.draw(st.sampled_from(rows)) if rows else None

    def _is_mine(self, claimed: Operation) -> bool:
        current = Operation.objects.get(pk=claimed.pk)
        return (current.status, current.attempt) == (Status.RUNNING, claimed.attempt)

    @invariant()
    def the_outbox_is_in_order(self) -> None:
        rows = {row.pk: row for row in Operation.objects.order_by("pk")}
        tries: dict[int, list[Attempt]] = defaultdict(list)
        for one in Attempt.objects.order_by("number"):
            tries[one.operation_id].append(one)
        self._only_known_arrows_are_taken(rows)
        self._what_is_over_stays_over(rows)
        self._one_of_a_person_runs_and_one_of_a_dedupe_key_waits(rows)
        for row in rows.values():
            self._each_row_says_what_it_is(row)
            self._every_attempt_is_written_down(row, tries[row.pk])

    def _only_known_arrows_are_taken(self, rows: Mapping[int, Operation]) -> None:
        for pk, row in rows.items():
            arrow = (self.states.get(pk, ""), str(row.status))
            if arrow[0] != arrow[1]:
                left = self.doing in ("fail", "expire") and arrow in ARROWS["leave"]
                name = "leave" if left else self.doing
                assert arrow in ARROWS[name]
                self.taken[name].add(arrow)
            self.states[pk] = str(row.status)

    def _what_is_over_stays_over(self, rows: Mapping[int, Operation]) -> None:
        for pk, status in self.over.items():
            assert rows[pk].status == status
        self.over |= {pk: str(row.status) for pk, row in rows.items() if row.status in _OVER}
        assert all(count == 1 for count in self.successes.values() if count)

    def _one_of_a_person_runs_and_one_of_a_dedupe_key_waits(
        self, rows: Mapping[int, Operation]
    ) -> None:
        running = [row for row in rows.values() if row.status == Status.RUNNING]
        keys = [row.serial_key for row in running if row.serial_key]
        assert len(keys) == len(set(keys))
        waiting = [row for row in rows.values() if row.status == Status.PENDING]
        names = [row.dedupe_key for row in waiting if row.dedupe_key]
        assert len(names) == len(set(names))

    def _each_row_says_what_it_is(self, row: Operation) -> None:
        assert (row.lease_until is not None) == (row.status == Status.RUNNING)
        assert (row.finished_at is not None) == (row.status in _ENDED)
        assert row.attempt <= row.max_attempts
        assert row.attempt >= self.attempts.get(row.pk, 0)
        assert row.status != Status.FAILED or row.last_error
        self.attempts[row.pk] = row.attempt

    def _every_attempt_is_written_down(self, row: Operation, tries: list[Attempt]) -> None:
        """And only the running one is open."""
        assert [one.number for one in tries] == list(range(1, row.attempt + 1))
        is_open = [one.number for one in tries if one.outcome is None]
        assert is_open == ([row.attempt] if row.status == Status.RUNNING else [])
        won = [one for one in tries if one.outcome == AttemptOutcome.SUCCEEDED]
        assert len(won) == (row.status == Status.SUCCEEDED)


def test_the_outbox_keeps_its_promises_whatever_happens(settings: Any) -> None:
    settings.OPERATION_ATTEMPTS = 2  # so that attempts are used up now and then
    run_machine(
        Outbox,
        settings=hypothesis.settings(
            max_examples=15,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[hypothesis.Phase.generate],  # a failure is told at once, and not made shorter
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_every_arrow_is_taken_and_refused_where_it_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.OPERATION_ATTEMPTS = 2
    monkeypatch.setattr(Outbox, "taken", defaultdict(set))
    machine = Outbox()

    def do(act: Callable[..., Any], **how: Any) -> Any:
        result = act(**how)
        machine.the_outbox_is_in_order()
        for status in Status:
            machine.what_does_not_begin_there_is_refused(status)
        return result

    def enqueued(dedupe: str | None = None) -> Operation:
        do(machine.enqueue, person=_PEOPLE[0], priority=_BULK, serial=True, dedupe=dedupe)
        claimed: Operation = do(machine.claim, after=None)
        return claimed

    do(machine.succeed, claimed=enqueued())
    do(machine.fail, claimed=enqueued(), permanent=True, counts=True)
    machine.doing = "retry"
    do(lambda: outbox.retry(Operation.objects.get(status=Status.FAILED)))
    machine.doing = "cancel"
    do(lambda: outbox.cancel(Operation.objects.get(status=Status.PENDING)))
    do(machine.fail, claimed=enqueued(), permanent=False, counts=True)
    do(machine.give_back, claimed=do(machine.claim, after=None))
    do(machine.succeed, claimed=do(machine.claim, after=None))
    enqueued()
    do(machine.leases_run_out)
    do(machine.claim, after=None)
    do(machine.leases_run_out)
    ways: tuple[Callable[[Operation], Any], ...] = (
        lambda one: do(machine.fail, claimed=one, permanent=False, counts=True),
        lambda one: do(machine.give_back, claimed=one),
        lambda one: do(machine.leases_run_out),
    )
    for leave in ways:
        first = enqueued("one")
        do(machine.enqueue, person=_PEOPLE[0], priority=_BULK, serial=True, dedupe="one")
        leave(first)
        do(machine.succeed, claimed=do(machine.claim, after=None))
    assert Outbox.taken == ARROWS
