"""`/readyz`: tells whether this instance can do its work."""

from collections.abc import Callable
from datetime import timedelta

import redis
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memcenter.rest.requests import throttling
from ops import selectors
from ops.access import as_system
from ops.queue.leases import RENEWED_KEY, RENEWED_SECONDS
from ops.tasks import HEARTBEAT_KEY


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 if every part works, else 503; each part reports `ok` or its problem."""
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
    """Check that operations progress, since a worker may answer while all its processes hang."""
    try:
        if cache.get(RENEWED_KEY):
            return ""
        since = timezone.now() - timedelta(seconds=RENEWED_SECONDS)
        with as_system(durable=False):
            still = selectors.stand_still(since=since)
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
