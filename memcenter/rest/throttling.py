"""How often a key may call."""

from __future__ import annotations

import functools
import logging
import math
import time
from typing import TYPE_CHECKING

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from ops.models import ApiKey, Scope

if TYPE_CHECKING:
    from memcenter.rest.base import MemcenterView

logger = logging.getLogger(__name__)
WINDOW_SECONDS = 60
HEAVY = (Scope.FORGET, Scope.EXPORT)


def now() -> float:
    return time.time()


@functools.cache
def client() -> redis.Redis:
    """A client that gives up soon: limiting must never hold up what it limits."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=0.5,
        socket_connect_timeout=0.5,
        retry=Retry(NoBackoff(), 0),
    )


class KeyThrottle(BaseThrottle):
    """Counts a key's calls of the present minute in Redis; forgetting and export apart.

    With Redis gone every call passes.
    """

    def allow_request(self, request: Request, view: APIView | MemcenterView) -> bool:
        endpoint = getattr(view, "endpoint", None)
        if endpoint is None or not isinstance(request.auth, ApiKey):
            return True
        return may_call(request.auth, scope=endpoint.scope)

    def wait(self) -> float:
        return seconds_left()


def may_call(key: ApiKey, *, scope: str) -> bool:
    """Count one call of the key; False when this minute's are used up."""
    heavy = scope in HEAVY
    limit = settings.RATE_LIMIT_HEAVY if heavy else settings.RATE_LIMIT
    return _count(f"{key.pk}:{'heavy' if heavy else 'all'}") <= limit


def seconds_left() -> int:
    return math.ceil(WINDOW_SECONDS - now() % WINDOW_SECONDS) or 1


def _count(bucket: str) -> int:
    name = f"mc:rate:{bucket}:{int(now() // WINDOW_SECONDS)}"
    try:
        with client().pipeline(transaction=False) as pipe:
            pipe.incr(name)
            pipe.expire(name, 2 * WINDOW_SECONDS)
            return int(pipe.execute()[0])
    except (redis.RedisError, OSError):
        logger.warning("Redis can't be reached; calls are not counted.")
        return 0
