"""Wait until recorded turns are learned from, and report the outcome."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from conversations.management.terminal import Terminal
from memories.models import Memory, MemoryStatus
from ops import registry
from ops.access import as_system, as_user
from ops.models import Operation, Status, User
from ops.queue import outbox, worker
from ops.tasks import HEARTBEAT_KEY

_PORTION_SECONDS = 1.0
_LOOK_EVERY = 0.5


@dataclass(frozen=True)
class Outcome:
    """`failures` are (count, kind, last error); `later` counts queued operations."""

    memories: int
    to_review: int
    later: int
    failures: tuple[tuple[int, str, str], ...]

    @property
    def failed(self) -> int:
        return sum(count for count, _, _ in self.failures)


def wait(people: Sequence[User], *, since: datetime, terminal: Terminal) -> None:
    """Wait until no operation of these people is due. Without a worker, run them here."""
    tenth = -1
    while True:
        done, left = _progress(people, since=since)
        before, tenth = tenth, 10 * done // max(1, done + left)
        terminal.progress("Learning 学习", done, done + left, worth_a_line=tenth != before)
        if not left:
            return
        if _worker_runs() or not _work():
            time.sleep(_LOOK_EVERY)


def retry(people: Sequence[User]) -> None:
    with as_system():
        for operation in _operations_of(people).filter(status=Status.FAILED).order_by("pk"):
            outbox.retry(operation)


def outcome_of(people: Sequence[User]) -> Outcome:
    found: Counter[str] = Counter()
    for user in people:
        with as_user(user):
            found.update(Memory.objects.filter(user=user).values_list("status", flat=True))
    with as_system():
        ours = _operations_of(people)
        later = ours.filter(status__in=(Status.PENDING, Status.RUNNING)).count()
        failed = Counter(ours.filter(status=Status.FAILED).values_list("kind", "last_error"))
    return Outcome(
        memories=found[MemoryStatus.ACTIVE],
        to_review=found[MemoryStatus.CANDIDATE],
        later=later,
        failures=tuple((count, *what) for what, count in failed.most_common()),
    )


def _progress(people: Sequence[User], *, since: datetime) -> tuple[int, int]:
    """Return (done since then, due now), including retries but not later planned operations."""
    due = Q(run_after__lte=timezone.now()) | Q(attempt__gt=0)
    can_run = Q(status=Status.PENDING, kind__in=registry.handled_kinds()) & due
    with as_system():
        # One statement, since an operation that ends between two would be missing from both.
        found = _operations_of(people).aggregate(
            done=Count("pk", filter=Q(finished_at__gte=since)),
            left=Count("pk", filter=can_run | Q(status=Status.RUNNING)),
        )
    return found["done"], found["left"]


def _operations_of(people: Sequence[User]) -> QuerySet[Operation]:
    return Operation.objects.filter(subject__in=[user.subject for user in people])


def _worker_runs() -> bool:
    try:
        return cache.get(HEARTBEAT_KEY) is not None
    except RedisError:
        return False


def _work() -> int:
    """Do a part of the worker's sweep; return how many operations were run."""
    with as_system():
        outbox.expire(now=timezone.now())
    return worker.drain(seconds=_PORTION_SECONDS)
