"""The overview of the admin: the state of the queue, and the cost of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Min, Q, Sum
from django.db.models.functions import TruncDate

from ops.models import Kind, ModelCall, Operation, Status

_DAYS = 30


@dataclass(frozen=True)
class Queue:
    """Unfinished operations of one kind. `oldest` is when the oldest queued one became due."""

    kind: str
    name: str
    waiting: int
    running: int
    failed: int
    oldest: datetime | None


def queue(*, now: datetime) -> Sequence[Queue]:
    """Return the kinds with queued, running or failed operations, read by indexes only."""
    found: dict[str, dict[str, Any]] = {}
    for status in (Status.PENDING, Status.RUNNING, Status.FAILED):
        rows = Operation.objects.filter(status=status).order_by().values("kind")
        due = Min("run_after", filter=Q(run_after__lte=now))
        for row in rows.annotate(count=Count("pk"), oldest=due):
            figures = found.setdefault(row["kind"], {})
            figures[status] = row["count"]
            if status == Status.PENDING:
                figures["oldest"] = row["oldest"]
    return [_queue(kind, figures) for kind, figures in sorted(found.items())]


def _queue(kind: str, figures: dict[str, Any]) -> Queue:
    return Queue(
        kind,
        str(Kind(kind).label),
        waiting=figures.get(Status.PENDING, 0),
        running=figures.get(Status.RUNNING, 0),
        failed=figures.get(Status.FAILED, 0),
        oldest=figures.get("oldest"),
    )


@dataclass(frozen=True)
class Spent:
    """The use of one model by one step on one day (UTC)."""

    day: date
    step: str
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: Decimal
    took_ms: float


def spent(*, now: datetime) -> Sequence[Spent]:
    """Return the use by day, step and model in the last thirty days, newest first."""
    rows = (
        ModelCall.objects.filter(created_at__gt=now - timedelta(days=_DAYS))
        .order_by()
        .annotate(day=TruncDate("created_at"))
        .values_list("day", "step", "model")
        .annotate(
            calls=Count("pk"),
            failed=Count("pk", filter=Q(outcome__in=["failed", "unreadable"])),
            sent=Sum("input_tokens"),
            answered=Sum("output_tokens"),
            paid=Sum("cost"),
            took=Avg("took_ms"),
        )
        .order_by("-day", "step", "model")
    )
    return [Spent(*row) for row in rows]
