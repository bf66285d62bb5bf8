"""Rate limits for each key and each person, and a limit on concurrent long answers."""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from foundation.process import once_per_process
from ops.models import ApiKey, Scope, User

if TYPE_CHECKING:
    from memcenter.rest.base import MemcenterView


logger = logging.getLogger(__name__)
WINDOW_SECONDS = 60
HEAVY = (Scope.FORGET, Scope.EXPORT)
KEY, PERSON, HEAVY_OF_PERSON = "key", "person", "heavy"


@dataclass(frozen=True)
class Limit:
    """A limit that applies to a call: the allowed calls per minute, and the calls left."""

    name: str
    quota: int
    left: int


# The limits towards which the current call has been counted.
_counted: ContextVar[tuple[Limit, ...]] = ContextVar("counted", default=())
# The person's counter, if it was incremented together with the key's counter.
_with_key: ContextVar[frozenset[str]] = ContextVar("with_key", default=frozenset())


def now() -> float:
    return time.time()


@once_per_process
def client() -> redis.Redis:
    """Return a Redis client with short time-outs, so that counting never delays a call for long."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=0.5,
        socket_connect_timeout=0.5,
        retry=Retry(NoBackoff(), 0),
    )


class KeyThrottle(BaseThrottle):
    """Counts the calls of a key in the current minute, in Redis.

    Raises `Throttled` for a call above the limit. If Redis is down, every call is allowed. If the
    person was loaded together with the key, the call is also counted for the person, in the same
    round trip; otherwise `count_person` does this later.
    """

    def allow_request(self, request: Request, view: APIView | MemcenterView) -> bool:
        endpoint = getattr(view, "endpoint", None)
        if endpoint is not None and isinstance(request.auth, ApiKey):
            person = getattr(request, "person", None)
            known = person.user if person is not None and endpoint.whose is None else None
            count_key(request.auth, user=known, scope=endpoint.scope, heavy=endpoint.heavy)
        return True


def begin() -> None:
    """Clear the recorded limits of the previous call, at the beginning of a request."""
    _counted.set(())


def count_key(
    key: ApiKey, *, user: User | None = None, scope: str = "", heavy: bool = False
) -> None:
    """Count a call towards the key's limit, and towards the person's limit if `user` is given.

    Raise `Throttled` if a limit for the current minute is exceeded.
    """
    persons = [_of_person(key, user, scope=scope, heavy=heavy)] if user is not None else []
    _with_key.set(frozenset(bucket for _, bucket, _ in persons))
    _count((KEY, f"{key.pk}", settings.RATE_LIMIT_KEY), *persons)


def count_person(key: ApiKey | None, user: User | None, *, scope: str, heavy: bool = False) -> None:
    """Count a call towards the person's limit, unless `count_key` has already done so.

    Calls marked `heavy`, and calls that need the scope "forget" or "export", count towards a
    separate limit. Raise `Throttled` if the limit for this key and person is exceeded.
    """
    if key is None or user is None:
        return
    counter = _of_person(key, user, scope=scope, heavy=heavy)
    if counter[1] not in _with_key.get():
        _count(counter)


def _of_person(key: ApiKey, user: User, *, scope: str, heavy: bool) -> tuple[str, str, int]:
    name, quota = PERSON, settings.RATE_LIMIT
    if heavy or scope in HEAVY:
        name, quota = HEAVY_OF_PERSON, settings.RATE_LIMIT_HEAVY
    return name, f"{key.pk}:{name}:{_bucket(user)}", quota


def headers() -> dict[str, str]:
    """Return the headers that report the limits (draft-ietf-httpapi-ratelimit)."""
    counted = _counted.get()
    if not counted:
        return {}
    policy = [f'"{limit.name}";q={limit.quota};w={WINDOW_SECONDS}' for limit in counted]
    state = [f'"{limit.name}";r={limit.left};t={seconds_left()}' for limit in counted]
    return {"RateLimit-Policy": ", ".join(policy), "RateLimit": ", ".join(state)}


def seconds_left() -> int:
    return math.ceil(WINDOW_SECONDS - now() % WINDOW_SECONDS) or 1


def _bucket(user: User) -> str:
    """Return the part of a counter's name that identifies the person.

    For a person without a row in the database, this part is a hash, so that Redis doesn't store the
    external id.
    """
    if user.pk is not None:
        return str(user.pk)
    return hashlib.sha256(str(user.external_id).encode()).hexdigest()[:16]


def _count(*counters: tuple[str, str, int]) -> None:
    minute = int(now() // WINDOW_SECONDS)
    used = _used([f"mc:rate:{bucket}:{minute}" for _, bucket, _ in counters])
    for (name, _, quota), count in zip(counters, used, strict=False):
        _counted.set((*_counted.get(), Limit(name, quota, max(0, quota - count))))
        if count > quota:
            whose = "this key" if name == KEY else "this person"
            text = f"Too many calls of {whose}: {quota} a minute are allowed."
            raise Throttled(seconds_left(), text)


def _used(names: Sequence[str]) -> list[int]:
    """Increment the counters, and return their values, in one round trip to Redis.

    The result is empty if Redis is down.
    """
    try:
        with client().pipeline(transaction=False) as pipe:
            for name in names:
                pipe.incr(name)
                pipe.expire(name, 2 * WINDOW_SECONDS)
            return [int(count) for count in pipe.execute()[::2]]
    except (redis.RedisError, OSError):
        logger.warning("Redis can't be reached; calls are not counted.")
        return []


_RETRY_SECONDS = 2


class ConcurrencyLimit:
    """A limit on concurrent long calls, so that some threads stay free for short calls.

    A call above the limit is refused rather than queued.
    """

    def __init__(self, places: int) -> None:
        self._places = threading.BoundedSemaphore(places)

    def acquire(self) -> ExitStack:
        """Take a place until the returned stack is closed. Raise `Throttled` if none is free."""
        if not self._places.acquire(blocking=False):
            raise Throttled(wait=_RETRY_SECONDS, detail="Too many long answers are under way.")
        place = ExitStack()
        place.callback(self._places.release)
        return place


@cache
def long_answers() -> ConcurrencyLimit:
    return ConcurrencyLimit(settings.LONG_ANSWERS)
