"""The outbox under whatever its users and workers do, in any order: its invariants always hold."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from memcenter.lib.errors import Conflict
from ops.models import Attempt, Kind, Operation, Outcome, Priority, Status
from ops.services import outbox

pytestmark = pytest.mark.django_db

_PEOPLE = [UUID(int=number) for number in range(1, 4)]
_OVER = {Status.SUCCEEDED, Status.CANCELLED}
_ENDED = {*_OVER, Status.FAILED}
priorities = st.sampled_from([Priority.FORGET, Priority.TURN, Priority.BULK])
people = st.sampled_from(_PEOPLE)


class Outbox(RuleBasedStateMachine):
    """`held` are claims that workers believe in; a dead or frozen worker simply keeps its own."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        Operation.objects.all().delete()
        self.over: dict[int, str] = {}
        self.successes: Counter[int] = Counter()
        self.attempts: dict[int, int] = {}

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
        best = self._claimable()
        claimed = outbox.claim([Kind.REINDEX], now=self._now(), after=after)
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
        if claimed is not None:
            mine = self._is_mine(claimed)
            assert outbox.succeed(claimed) == mine
            self.successes[claimed.pk] += mine

    @rule(claimed=consumes(held), permanent=st.booleans(), counts=st.booleans())
    def fail(self, claimed: Operation | None, permanent: bool, counts: bool) -> None:
        if claimed is not None:
            mine = self._is_mine(claimed)
            assert outbox.fail(claimed, error="no", permanent=permanent, counts=counts) == mine

    @rule(claimed=consumes(held))
    def give_back(self, claimed: Operation | None) -> None:
        if claimed is not None:
            mine = self._is_mine(claimed)
            assert outbox.give_back(claimed) == mine

    @rule(claimed=held)
    def renew(self, claimed: Operation | None) -> None:
        if claimed is not None:
            assert outbox.renew(claimed) == self._is_mine(claimed) == outbox.holds(claimed)

    @rule()
    def leases_run_out(self) -> None:
        """Of dead workers and of those that only stand still."""
        outbox.expire(now=timezone.now() + timedelta(hours=3))
        assert not Operation.objects.filter(status=Status.RUNNING).exists()

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
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

    def _any(self, data: st.DataObject) -> Operation | None:
        rows = list(Operation.objects.order_by("pk"))
        return data.draw(st.sampled_from(rows)) if rows else None

    def _is_mine(self, claimed: Operation) -> bool:
        current = Operation.objects.get(pk=claimed.pk)
        return (current.status, current.attempt) == (Status.RUNNING, claimed.attempt)

    @invariant()
    def what_is_over_stays_over(self) -> None:
        now = {row.pk: row.status for row in Operation.objects.all()}
        for pk, status in self.over.items():
            assert now[pk] == status
        self.over |= {pk: status for pk, status in now.items() if status in _OVER}
        assert all(count == 1 for count in self.successes.values() if count)

    @invariant()
    def one_of_a_person_runs_and_one_of_a_dedupe_key_waits(self) -> None:
        running = Operation.objects.filter(status=Status.RUNNING, serial_key__isnull=False)
        keys = list(running.values_list("serial_key", flat=True))
        assert len(keys) == len(set(keys))
        waiting = Operation.objects.filter(status=Status.PENDING, dedupe_key__isnull=False)
        names = list(waiting.values_list("dedupe_key", flat=True))
        assert len(names) == len(set(names))

    @invariant()
    def each_row_says_what_it_is(self) -> None:
        for row in Operation.objects.all():
            assert (row.lease_until is not None) == (row.status == Status.RUNNING)
            assert (row.finished_at is not None) == (row.status in _ENDED)
            assert row.attempt <= row.max_attempts
            assert row.attempt >= self.attempts.get(row.pk, 0)
            assert row.status != Status.FAILED or row.last_error
            self.attempts[row.pk] = row.attempt

    @invariant()
    def every_attempt_is_written_down_and_only_the_running_one_is_open(self) -> None:
        for row in Operation.objects.all():
            attempts = list(Attempt.objects.filter(operation=row).order_by("number"))
            assert [one.number for one in attempts] == list(range(1, row.attempt + 1))
            is_open = [one.number for one in attempts if one.outcome is None]
            assert is_open == ([row.attempt] if row.status == Status.RUNNING else [])
            won = [one for one in attempts if one.outcome == Outcome.SUCCEEDED]
            assert len(won) == (row.status == Status.SUCCEEDED)


def test_the_outbox_keeps_its_promises_whatever_happens() -> None:
    run_machine(
        Outbox,
        settings=settings(
            max_examples=10,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
