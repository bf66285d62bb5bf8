"""Failed sign-ins by login name and address, and by address, counted in Redis for 15 minutes.

If Redis is down nobody is locked out: the counter only slows guessing.
"""

from __future__ import annotations

import logging

from django.core.cache import cache
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

ALLOWED = 10
# By address, for all names; several people may share one address.
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
    """Return the keys that failures are counted by, with the limit of each."""
    of_address = {_key("", address): ALLOWED_OF_ADDRESS} if address else {}
    return {_key(name, address): ALLOWED} | of_address


def _key(name: str, address: str) -> str:
    """Return a hashed key, so that neither name nor address is stored in Redis."""
    told = f"{name.strip().casefold()}\n{address}"
    return "signin:" + salted_hmac("ops.attempts", told, algorithm="sha256").hexdigest()
