"""`/metrics` for Prometheus. Contains only numbers and our own names, no personal data.

The figures are counted in PostgreSQL, so every process gives the same. Each statement reads an
index of recent or unfinished rows.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Avg, Count, Min, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memcenter import health
from memcenter.lib.database import statements
from memories.metrics import cache_hit_rate
from ops import selectors
from ops.access import as_system
from ops.audit import audit_chain
from ops.models import ModelCall, Operation, Status
from ops.selectors import Trouble

_OPEN = (Status.PENDING, Status.RUNNING, Status.FAILED)
_RECALLS_OF = timedelta(minutes=5)
_CALLS_OF = timedelta(days=1)
Sample = tuple[Mapping[str, str], float]


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer calls with the token; any other call gets a 404."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted = settings.METRICS_TOKEN
    if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Http404
    return HttpResponse("".join(_lines()), content_type="text/plain; version=0.0.4; charset=utf-8")


def _lines() -> Iterator[str]:
    ready = _ready()
    yield from _gauge("ready", "1 where this part answers.", ready)
    if ({"part": "database"}, 0.0) in ready:
        return  # an alert on the database needs an answer while it is away
    with as_system(durable=False):
        found = {
            "operations": ("Operations that aren't done, by kind and status.", _operations()),
            "operations_in_trouble": ("Due and not taken up, or not getting on.", _troubled()),
            "oldest_due_seconds": ("How long the oldest due operation waits.", _oldest()),
            "recalls": ("Recalls and searches of five minutes.", _recalls()),
            "recall_milliseconds": ("How long they took.", _recall_times()),
            "cache_hit_rate": ("Share of the pages of memories found in cache.", _hit_rate()),
            "model_calls": ("Calls of models in a day.", _model_calls("count")),
            "model_tokens_in": ("Tokens that were sent in a day.", _model_calls("sent")),
            "model_tokens_out": ("Tokens that came back in a day.", _model_calls("came")),
            "model_cost": ("What that cost, by the price settings.", _model_calls("cost")),
            "model_milliseconds": ("How long a call took on average.", _model_calls("took")),
            "audit_unsealed": ("Events that the audit log's chain lacks.", _unsealed()),
        }
    for name, (told, samples) in found.items():
        yield from _gauge(name, told, samples)


def _gauge(name: str, told: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# HELP memcenter_{name} {told}\n# TYPE memcenter_{name} gauge\n"
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"memcenter_{name}{f'{{{inside}}}' if inside else ''} {value:g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _ready() -> list[Sample]:
    return [({"part": name}, float(not check())) for name, check in health.CHECKS.items()]


def _operations() -> list[Sample]:
    rows = [
        row
        for status in _OPEN  # one by one: each has an index of its own
        for row in Operation.objects.filter(status=status)
        .order_by()
        .values_list("kind", "status")
        .annotate(count=Count("pk"))
    ]
    return [({"kind": kind, "status": status}, count) for kind, status, count in rows]


def _troubled() -> list[Sample]:
    now = timezone.now()
    return [
        (
            {"trouble": one.value},
            Operation.objects.filter(selectors.in_trouble(one, now=now)).count(),
        )
        for one in Trouble
    ]


def _unsealed() -> list[Sample]:
    return [({}, audit_chain.tail().count)]


def _oldest() -> list[Sample]:
    due = Operation.objects.filter(status=Status.PENDING, run_after__lt=timezone.now())
    oldest = due.aggregate(oldest=Min("run_after"))["oldest"]
    return [({}, (timezone.now() - oldest).total_seconds() if oldest else 0.0)]


def _recalls() -> list[Sample]:
    [(count,)] = statements.rows(
        "SELECT count(*) FROM memories_recalltrace WHERE created_at > %s",
        [timezone.now() - _RECALLS_OF],
    )
    return [({}, count)]


def _recall_times() -> list[Sample]:
    [(times,)] = statements.rows(
        "SELECT percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY took_ms)"
        " FROM memories_recalltrace WHERE created_at > %s",
        [timezone.now() - _RECALLS_OF],
    )
    shares = ("0.5", "0.99")
    return [({"quantile": share}, took) for share, took in zip(shares, times or (), strict=False)]


def _hit_rate() -> list[Sample]:
    return [({}, cache_hit_rate())]


def _model_calls(figure: str) -> list[Sample]:
    rows: Any = (
        ModelCall.objects.filter(created_at__gt=timezone.now() - _CALLS_OF)
        .order_by()
        .values("step", "model", "outcome")
        .annotate(
            count=Count("pk"),
            sent=Sum("input_tokens"),
            came=Sum("output_tokens"),
            cost=Sum("cost"),
            took=Avg("took_ms"),
        )
    )
    names = ("step", "model", "outcome")
    return [({name: row[name] for name in names}, float(row[figure])) for row in rows]
