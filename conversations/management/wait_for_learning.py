"""Wait until memories have been learned from all recorded turns; show progress in the terminal."""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.core.management.base import OutputWrapper
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from memories.models import Memory, MemoryStatus
from ops import registry
from ops.access import as_system, as_user
from ops.models import Operation, Status, User
from ops.queue import outbox, worker
from ops.tasks import HEARTBEAT_KEY

_PORTION_SECONDS = 1.0
_LOOK_EVERY = 0.5
_LISTED = 20
_LABEL_COLUMNS = 20


@dataclass(frozen=True)
class LearningResult:
    """The result of learning for the people that the command loaded.

    `failures` lists the failed operations as (count, kind, last error). `later` counts operations
    that are still queued or running.
    """

    memories: int
    to_review: int
    later: int
    failures: tuple[tuple[int, str, str], ...]

    @property
    def failed(self) -> int:
        return sum(count for count, _, _ in self.failures)


def wait(people: Sequence[User], *, since: datetime, terminal: Terminal) -> None:
    """Wait until no operation of these people is due or running.

    If no worker is running, the operations run in this process.
    """
    tenth = -1
    while True:
        # A delayed retry counts as due; an operation that was scheduled for later doesn't.
        due = Q(run_after__lte=timezone.now()) | Q(attempt__gt=0)
        can_run = Q(status=Status.PENDING, kind__in=registry.handled_kinds()) & due
        with as_system():
            # One statement, since an operation that ends between two statements would be missing
            # from both counts.
            found = _operations_of(people).aggregate(
                done=Count("pk", filter=Q(finished_at__gte=since)),
                left=Count("pk", filter=can_run | Q(status=Status.RUNNING)),
            )
        done, left = found["done"], found["left"]
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


def result_of(people: Sequence[User]) -> LearningResult:
    found: Counter[str] = Counter()
    for user in people:
        with as_user(user):
            found.update(Memory.objects.filter(user=user).values_list("status", flat=True))
    with as_system():
        operations = _operations_of(people)
        later = operations.filter(status__in=(Status.PENDING, Status.RUNNING)).count()
        failed = Counter(operations.filter(status=Status.FAILED).values_list("kind", "last_error"))
    return LearningResult(
        memories=found[MemoryStatus.ACTIVE],
        to_review=found[MemoryStatus.CANDIDATE],
        later=later,
        failures=tuple((count, *kind_and_error) for kind_and_error, count in failed.most_common()),
    )


def _operations_of(people: Sequence[User]) -> QuerySet[Operation]:
    return Operation.objects.filter(subject__in=[user.subject for user in people])


def _worker_runs() -> bool:
    try:
        return cache.get(HEARTBEAT_KEY) is not None
    except RedisError:
        return False


def _work() -> int:
    with as_system():
        outbox.expire(now=timezone.now())
    return worker.drain(seconds=_PORTION_SECONDS)


class Terminal:
    """Prints lines of text, and one progress line that is overwritten on a real terminal."""

    def __init__(self, stream: OutputWrapper) -> None:
        self._stream = stream
        self._is_watched = stream.isatty()
        self._is_open = False
        self._shown = ""

    def progress(self, label: str, done: int, total: int, *, worth_a_line: bool) -> None:
        """Overwrite the progress line.

        If the output isn't a terminal, print a new line instead, but only if `worth_a_line` is set.
        """
        text = f"{label}  {done} of {total}"
        if self._is_watched:
            filled = 20 * done // total if total else 20
            self._stream.write(f"\r\x1b[K[{'#' * filled:<20}] {text}", ending="")
            self._stream.flush()
            self._is_open = True
        elif worth_a_line and text != self._shown:
            self._stream.write(text)
            self._shown = text

    def say(self, text: str) -> None:
        if self._is_open:
            self._stream.write("")
        self._is_open = False
        self._stream.write(text)

    def row(self, label: str, value: str) -> None:
        self.say(f"  {label}{' ' * max(1, _LABEL_COLUMNS - _columns(label))}{value}")

    def listing(self, lines: Sequence[str]) -> None:
        for line in lines[:_LISTED]:
            self.say(f"    {line}")
        if len(lines) > _LISTED:
            self.say(f"    … {len(lines) - _LISTED} more")


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
