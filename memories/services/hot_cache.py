"""The 20 most used memories of a person, kept in Redis for an hour."""

from __future__ import annotations

import logging

from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


def key(user_id: int) -> str:
    return f"hot:{user_id}"


def survey_key(user_id: int) -> str:
    """What the list's facets are counted from is kept for a while too."""
    return f"survey:{user_id}"


def drop(user_id: int) -> None:
    """Drop it as soon as the change that makes it wrong is committed.

    With Redis gone nothing is kept that could be shown, so that isn't an error.
    """
    transaction.on_commit(lambda: _drop(user_id))


def _drop(user_id: int) -> None:
    try:
        cache.delete_many([key(user_id), survey_key(user_id)])
    except RedisError:
        logger.warning("The cache of user %s can't be reached.", user_id)
