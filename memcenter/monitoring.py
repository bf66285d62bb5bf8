"""`/readyz` reports whether this instance works; `/metrics` returns metrics for Prometheus.

The metrics consist of numbers and of names from our code, and contain no personal data. The numbers
come from the database and Redis, so every process returns the same metrics. To stay fast, the
queries read only recent or unfinished rows, by an index.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import redis
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Avg, Count, Min, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from foundation.database import statements
from memcenter.rest import throttling
from memories.metrics import cache_hit_rate
from ops import audit_chain, selectors
from ops.access import as_system
from ops.models import ModelCall, Operation, Status
from ops.queue.watchdog import RENEWED_KEY, RENEWED_SECONDS
from ops.selectors import Trouble
from ops.tasks import HEARTBEAT_KEY

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 if every check passes, else 503, with `ok` or the problem for each check."""
    states = {name: check() or "ok" for name, check in CHECKS.items()}
    good = all(state == "ok" for state in states.values())
    return JsonResponse(
        {"status": "ready" if good else "not ready", "checks": states}, status=200 if good else 503
    )


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return "The database doesn't answer."
    return ""


def _broker() -> str:
    try:
        throttling.client().ping()
    except (redis.RedisError, OSError):
        return "The broker doesn't answer."
    return ""


def _worker() -> str:
    try:
        beat = cache.get(HEARTBEAT_KEY)
    except (redis.RedisError, OSError):
        return "Unknown while the broker doesn't answer."
    return "" if beat else "No worker has been heard of in the last minute."


def _operations() -> str:
    try:
        if cache.get(RENEWED_KEY):
            return ""
        since = timezone.now() - timedelta(seconds=RENEWED_SECONDS)
        with as_system(durable=False):
            still = selectors.is_stalled(since=since)
    except (redis.RedisError, OSError):
        return "Unknown while the broker doesn't answer."
    except (DatabaseError, InterfaceError):
        return "Unknown while the database doesn't answer."
    stopped = (
        f"Operations are due, and for {RENEWED_SECONDS} seconds no worker has got on with any."
    )
    return stopped if still else ""


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "broker": _broker,
    "worker": _worker,
    "operations": _operations,
}


_OPEN = (Status.PENDING, Status.RUNNING, Status.FAILED)
_RECALLS_OF = timedelta(minutes=5)
_CALLS_OF = timedelta(days=1)
Sample = tuple[Mapping[str, str], float]
Gauge = tuple[str, str, list[Sample]]


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics.

    Raise `Http404` if no token is configured or the request lacks the configured token.
    """
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted = settings.METRICS_TOKEN
    if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Http404
    from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(_Gauges())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Gauges:
    def collect(self) -> Iterator[GaugeMetricFamily]:
        from prometheus_client.core import GaugeMetricFamily

        for name, description, samples in list(_gauges()):  # the transaction ends here
            gauge = GaugeMetricFamily(f"memcenter_{name}", description)
            for labels, value in samples:
                gauge.add_sample(gauge.name, dict(labels), value)
            yield gauge


def _gauges() -> Iterator[Gauge]:
    ready: list[Sample] = [({"part": name}, float(not check())) for name, check in CHECKS.items()]
    yield "ready", "1 where this part answers.", ready
    if ({"part": "database"}, 0.0) in ready:
        return  # an alert about the database must work while the database is down
    with as_system(durable=False):
        yield "operations", "Operations that aren't done, by kind and status.", _open_operations()
        yield "operations_in_trouble", "Due and not taken up, or not getting on.", _troubled()
        yield "oldest_due_seconds", "How long the oldest due operation waits.", _oldest()
        yield from _recalls()
        hits = cache_hit_rate()
        yield "cache_hit_rate", "Share of the pages of memories found in cache.", [({}, hits)]
        yield from _model_calls()
        unsealed = audit_chain.tail().count
        yield "audit_unsealed", "Events that the audit log's chain lacks.", [({}, unsealed)]


def _open_operations() -> list[Sample]:
    rows = [
        row
        for status in _OPEN  # one query per status, since each status has its own partial index
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
            {"trouble": trouble.value},
            Operation.objects.filter(selectors.in_trouble(trouble, now=now)).count(),
        )
        for trouble in Trouble
    ]


def _oldest() -> list[Sample]:
    due = Operation.objects.filter(status=Status.PENDING, run_after__lt=timezone.now())
    oldest = due.aggregate(oldest=Min("run_after"))["oldest"]
    return [({}, (timezone.now() - oldest).total_seconds() if oldest else 0.0)]


def _recalls() -> Iterator[Gauge]:
    [(count, times)] = statements.rows(
        "SELECT count(*), percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY took_ms)"
        " FROM memories_recalltrace WHERE created_at > %s",
        [timezone.now() - _RECALLS_OF],
    )
    took = zip(("0.5", "0.99"), times or (), strict=False)
    yield "recalls", "Recalls and searches of five minutes.", [({}, count)]
    yield "recall_milliseconds", "How long they took.", [({"quantile": q}, ms) for q, ms in took]


def _model_calls() -> Iterator[Gauge]:
    labels = ("step", "model", "outcome")
    rows: Any = (
        ModelCall.objects.filter(created_at__gt=timezone.now() - _CALLS_OF)
        .order_by()
        .values(*labels)
        .annotate(
            model_calls=Count("pk"),
            model_tokens_in=Sum("input_tokens"),
            model_tokens_out=Sum("output_tokens"),
            model_cost=Sum("cost"),
            model_milliseconds=Avg("took_ms"),
        )
    )
    for name, about in (
        ("model_calls", "Calls of models in a day."),
        ("model_tokens_in", "Tokens that were sent in a day."),
        ("model_tokens_out", "Tokens that came back in a day."),
        ("model_cost", "What that cost, by the price settings."),
        ("model_milliseconds", "How long a call took on average."),
    ):
        yield name, about, [({key: row[key] for key in labels}, float(row[name])) for row in rows]
