"""An operation that takes too much processor time ends its process, and nobody else's work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memcenter import monitoring
from memories.extraction.types import Extraction, TurnText
from memories.indexing import search_index
from memories.learning import turn_learning
from memories.models import Memory
from memories.reader import reader
from ops.access import as_system, as_user
from ops.models import Attempt, AttemptOutcome, Kind, Operation, Status, User
from ops.queue import outbox, watchdog, worker
from ops.queue.outbox import STOPPED
from ops.queue.watchdog import TOO_LONG
from tests import hostile_operations, workers
from tests.factories import make_conversation
from tests.hostile_operations import LONG, SHORT, TOGETHER
from tests.processes import fork

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT = 1  # seconds
HOSTILE = "tests.hostile_worker"


@pytest.fixture
def hostile_worker(alice: User) -> Iterator[None]:
    limits = {"MEMCENTER_OPERATION_CPU_SECONDS": str(LIMIT)}
    with workers.celery_worker(include=HOSTILE, **limits):
        yield


def enqueue(kind: Kind, user: User, act: str = "", **fields: Any) -> Operation:
    with as_system():
        return outbox.enqueue(kind, subject=user.subject, payload={"act": act}, **fields)


def tries(operation: Operation) -> list[tuple[str | None, str]]:
    with as_system():
        found = Attempt.objects.filter(operation=operation).order_by("number")
        return list(found.values_list("outcome", "error"))


def test_what_hangs_in_a_regular_expression_fails_and_everything_else_is_done(
    alice: User, mallory: User, hostile_worker: None
) -> None:
    hangs = [
        enqueue(SHORT, user, "hang", serial_key=str(user.subject)) for user in (alice, mallory)
    ]
    in_a_long_one = enqueue(LONG, mallory, "hang")
    behind = [enqueue(SHORT, alice, serial_key=str(alice.subject)) for _ in range(3)]
    beside = [enqueue(SHORT, alice) for _ in range(5)]
    dies = enqueue(SHORT, mallory, "die")
    works = enqueue(LONG, mallory, str(3 * LIMIT))
    over = {one.pk: one for one in workers.until_over()}
    for one in (*hangs, in_a_long_one):
        assert over[one.pk].status == Status.FAILED
        assert over[one.pk].last_error == TOO_LONG
        assert tries(one) == [(AttemptOutcome.RETRIED, TOO_LONG), (AttemptOutcome.FAILED, TOO_LONG)]
    for one in (*behind, *beside, works):
        assert over[one.pk].status == Status.SUCCEEDED
        assert tries(one) == [(AttemptOutcome.SUCCEEDED, "")]
    assert tries(dies) == [(AttemptOutcome.RETRIED, STOPPED), (AttemptOutcome.SUCCEEDED, "")]


def test_one_that_hangs_among_others_done_together_fails_alone(
    alice: User, hostile_worker: None
) -> None:
    acts = ["", "", "hang", "", ""]
    made = [enqueue(TOGETHER, alice, act, serial_key=str(alice.subject)) for act in acts]
    over = {one.pk: one for one in workers.until_over()}
    first, hangs = made[0], made[2]
    assert over[hangs.pk].status == Status.FAILED
    assert tries(hangs) == [(AttemptOutcome.RETRIED, TOO_LONG), (AttemptOutcome.FAILED, TOO_LONG)]
    assert tries(first) == [(AttemptOutcome.RETRIED, ""), (AttemptOutcome.SUCCEEDED, "")]
    for one in (made[1], *made[3:]):
        assert over[one.pk].status == Status.SUCCEEDED
        assert tries(one) == [(AttemptOutcome.SUCCEEDED, "")]


def test_of_turns_learned_together_the_one_that_hangs_is_the_only_one_not_learned(
    alice: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.OPERATION_CPU_SECONDS = LIMIT
    for said in ("I'm allergic to peanuts.", "This hangs.", "I'm allergic to soy."):
        with as_user(alice):
            turns.record_turn(
                user=alice,
                conversation=make_conversation(alice),
                user_message=MessageInput(said),
                assistant_message=MessageInput("I see."),
            )
    search_index.embed(["Loaded once, before the processes are forked."])
    reader().read("Loaded once, before the processes are forked.")
    extract = turn_learning.extract

    def hanging(text: TurnText) -> Extraction:
        hostile_operations.do(None, "hang" if "hangs" in text.user.text else "")
        return extract(text)

    monkeypatch.setattr(turn_learning, "extract", hanging)
    while Operation.objects.filter(status__in=workers.OPEN).exists():
        assert fork(lambda _reach: drain_as_a_worker()).ended() == ""
        watchdog.recover_operations()
        with as_system():
            Operation.objects.filter(status=Status.PENDING).update(run_after=timezone.now())
    (failed,) = Operation.objects.exclude(status=Status.SUCCEEDED)
    assert (failed.kind, failed.last_error) == (Kind.EXTRACT_TURN, TOO_LONG)
    with as_user(alice):
        known = sorted(Memory.objects.filter(user=alice).values_list("content", flat=True))
    assert known == ["I'm allergic to peanuts", "I'm allergic to soy"]


def drain_as_a_worker() -> None:
    watchdog.own.begin()
    worker.drain()


def test_while_every_process_hangs_the_product_says_so(
    alice: User, mallory: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, "RENEWED_SECONDS", 1)
    limits = {"MEMCENTER_OPERATION_CPU_SECONDS": "3"}
    with workers.celery_worker(include=HOSTILE, **limits):
        for user in (alice, mallory):
            enqueue(SHORT, user, "hang")
        waits = enqueue(SHORT, alice)
        workers.until(lambda: readyz() != "ok", what="/readyz to notice")
        workers.until(
            lambda: tries(waits) == [(AttemptOutcome.SUCCEEDED, "")], what="its neighbour"
        )


def readyz() -> str:
    return str(Client().get("/readyz").json()["checks"]["operations"])


def test_processes_that_live_or_ended_with_nothing_to_do_are_no_news(alice: User) -> None:
    assert watchdog.recover_operations() == 0
