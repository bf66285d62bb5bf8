"""How often signing in failed for a name from an address: counted in Redis for a quarter hour.

With Redis gone nobody is kept out: the counter slows guessing down, passwords keep it from
succeeding.
"""

from __future__ import annotations

import logging

from django.core.cache import cache
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

ALLOWED = 10
SECONDS = 15 * 60


def are_used_up(name: str, *, address: str) -> bool:
    try:
        return int(cache.get(_key(name, address), 0)) >= ALLOWED
    except (RedisError, OSError):
        logger.warning("Failed sign-ins can't be counted: Redis is gone.")
        return False


def note_failure(name: str, *, address: str) -> None:
    key = _key(name, address)
    try:
        cache.add(key, 0, SECONDS)
        cache.incr(key)
    except ValueError:  # it ran out between the two
        return
    except (RedisError, OSError):
        logger.warning("Failed sign-ins can't be counted: Redis is gone.")


def forgive(name: str, *, address: str) -> None:
    try:
        cache.delete(_key(name, address))
    except (RedisError, OSError):
        logger.warning("Failed sign-ins can't be counted: Redis is gone.")


def _key(name: str, address: str) -> str:
    """Neither the name nor the address stands in Redis."""
    told = f"{name.strip().casefold()}\n{address}"
    return "signin:" + salted_hmac("ops.attempts", told, algorithm="sha256").hexdigest()
