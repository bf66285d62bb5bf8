"""How often signing in failed for a name from an address, and from an address at all.

Counted in Redis for a quarter hour.

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
# Of one address, whatever names it tries: a house behind one address fails less often.
ALLOWED_OF_ADDRESS = 100
SECONDS = 15 * 60


def are_used_up(name: str, *, address: str) -> bool:
    try:
        return any(int(cache.get(key, 0)) >= most for key, most in _counted(name, address).items())
    except (RedisError, OSError):
        logger.warning("Failed sign-ins can't be counted: Redis is gone.")
        return False


def note_failure(name: str, *, address: str) -> None:
    try:
        for key in _counted(name, address):
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


def _counted(name: str, address: str) -> dict[str, int]:
    """What failures are counted by, and how many each may have."""
    of_address = {_key("", address): ALLOWED_OF_ADDRESS} if address else {}
    return {_key(name, address): ALLOWED} | of_address


def _key(name: str, address: str) -> str:
    """Neither the name nor the address stands in Redis."""
    told = f"{name.strip().casefold()}\n{address}"
    return "signin:" + salted_hmac("ops.attempts", told, algorithm="sha256").hexdigest()
