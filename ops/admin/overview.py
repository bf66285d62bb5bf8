"""What the admin tells above its lists: how the queue goes, and what models cost."""

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
    """Operations of one kind that aren't done. `oldest` became due first, and still waits."""

    kind: str
    name: str
    waiting: int
    running: int
    failed: int
    oldest: datetime | None


def queue(*, now: datetime) -> Sequence[Queue]:
    """The kinds of which something waits, runs or failed; read by the indexes of just those."""
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
    """What one step took of one model in one day (UTC)."""

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
    """By day, step and model, newest first; of the last thirty days."""
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
