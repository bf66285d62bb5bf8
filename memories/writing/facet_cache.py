"""The Redis cache of the counts behind the list's facets, for users with very many memories.

`memories.pages.lists.facets` writes it. It holds counts with the names of tags and projects, so
every forget drops it.
"""

from __future__ import annotations

import logging

from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


def key(user_id: int) -> str:
    return f"survey:{user_id}"


def drop(user_id: int) -> None:
    """Drop the user's entry as soon as the current transaction is committed.

    An unreachable Redis isn't an error: no outdated entry could be shown from it.
    """
    transaction.on_commit(lambda: _drop(user_id))


def _drop(user_id: int) -> None:
    try:
        cache.delete(key(user_id))
    except RedisError:
        logger.warning("The cache of user %s can't be reached.", user_id)
