"""How often a key may call, and how often about one person."""

from __future__ import annotations

import functools
import hashlib
import logging
import math
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from ops.models import ApiKey, Scope, User

if TYPE_CHECKING:
    from memcenter.rest.base import MemcenterView

logger = logging.getLogger(__name__)
WINDOW_SECONDS = 60
HEAVY = (Scope.FORGET, Scope.EXPORT)
KEY, PERSON, HEAVY_OF_PERSON = "key", "person", "heavy"


@dataclass(frozen=True)
class Limit:
    """A limit that a call was counted against: so many calls a minute, so many of them left."""

    name: str
    quota: int
    left: int


# What the call that is being answered was counted against.
_counted: ContextVar[tuple[Limit, ...]] = ContextVar("counted", default=())


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
    """Counts a key's calls of the present minute in Redis. With Redis gone every call passes.

    The person is counted by `count_person` once the call has said who it is about.
    """

    def allow_request(self, request: Request, view: APIView | MemcenterView) -> bool:
        if getattr(view, "endpoint", None) is not None and isinstance(request.auth, ApiKey):
            count_key(request.auth)
        return True


def begin() -> None:
    """A request comes in: its thread may have answered another one before."""
    _counted.set(())


def count_key(key: ApiKey) -> None:
    """Raises `Throttled` when all calls that the key has this minute are used up."""
    _count(KEY, f"{key.pk}", quota=settings.RATE_LIMIT_KEY)


def count_person(key: ApiKey | None, user: User | None, *, scope: str) -> None:
    """Count a call about one person; forgets and exports are counted apart from the rest.

    Raises `Throttled` when the calls that the key has about this person are used up.
    """
    if key is None or user is None:
        return
    name, quota = PERSON, settings.RATE_LIMIT
    if scope in HEAVY:
        name, quota = HEAVY_OF_PERSON, settings.RATE_LIMIT_HEAVY
    _count(name, f"{key.pk}:{name}:{_bucket(user)}", quota=quota)


def headers() -> dict[str, str]:
    """The limits of the call that is being answered, as headers (draft-ietf-httpapi-ratelimit)."""
    counted = _counted.get()
    if not counted:
        return {}
    policy = [f'"{one.name}";q={one.quota};w={WINDOW_SECONDS}' for one in counted]
    state = [f'"{one.name}";r={one.left};t={seconds_left()}' for one in counted]
    return {"RateLimit-Policy": ", ".join(policy), "RateLimit": ", ".join(state)}


def seconds_left() -> int:
    return math.ceil(WINDOW_SECONDS - now() % WINDOW_SECONDS) or 1


def _bucket(user: User) -> str:
    """A temporary conversation's person may have no row; their id is not written down."""
    if user.pk is not None:
        return str(user.pk)
    return hashlib.sha256(str(user.external_id).encode()).hexdigest()[:16]


def _count(name: str, bucket: str, *, quota: int) -> None:
    used = _used(f"mc:rate:{bucket}:{int(now() // WINDOW_SECONDS)}")
    if used is None:
        return
    _counted.set((*_counted.get(), Limit(name, quota, max(0, quota - used))))
    if used > quota:
        whose = "this key" if name == KEY else "this person"
        raise Throttled(seconds_left(), f"Too many calls of {whose}: {quota} a minute are allowed.")


def _used(name: str) -> int | None:
    """How many calls of the minute there were with this one; None with Redis gone."""
    try:
        with client().pipeline(transaction=False) as pipe:
            pipe.incr(name)
            pipe.expire(name, 2 * WINDOW_SECONDS)
            return int(pipe.execute()[0])
    except (redis.RedisError, OSError):
        logger.warning("Redis can't be reached; calls are not counted.")
        return None
