"""The texts of the 20 most used memories of a person, kept in Redis for an hour.

PostgreSQL says at every recall which memories count and by a digest what each of them says now;
Redis only spares sending those texts again. So nothing that was forgotten, edited, disabled or
switched off can come from here, whatever lies in Redis and however late it is dropped.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from functools import partial

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

from memcenter.lib import afterwards, statements
from ops.access import STILL_THERE, within
from ops.models import User

logger = logging.getLogger(__name__)

SIZE = 20
_KEPT_SECONDS = 3600


def key(user_id: int) -> str:
    return f"hot:{user_id}"


def survey_key(user_id: int) -> str:
    """What the list's facets are counted from is kept for a while too."""
    return f"survey:{user_id}"


def texts_of(user: User) -> Mapping[int, str]:
    """What memories said when they were kept, by their ids; nothing where it is switched off.

    Where nothing is kept it is kept now, after the answer that is being given.
    """
    if not settings.HOT_CACHE:
        return {}
    try:
        kept = cache.get(key(user.pk))
    except RedisError:
        return {}
    if isinstance(kept, dict):
        return kept
    afterwards.do(partial(_keep, user))
    return {}


def digest(text: str) -> str:
    """As PostgreSQL's `md5` gives it; it tells texts apart and keeps no secret."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


# Who is read of is held until it lies in Redis: a forget that begins meanwhile drops it there, and
# after one that had begun before there is nothing to keep.
_MOST_USED = f"""
WITH person AS ({STILL_THERE})
SELECT r.id, r.content FROM person p JOIN memories_memory r ON r.user_id = p.id
 WHERE r.status = 'active' AND r.hidden_at IS NULL AND r.deleted_at IS NULL
 ORDER BY r.access_count DESC, r.id LIMIT %s
"""


def _keep(user: User) -> None:
    with within(user, durable=False):
        found = statements.rows(_MOST_USED, [user.pk, user.forgets, SIZE])
        if not found:
            return
        try:
            cache.set(key(user.pk), dict(found), _KEPT_SECONDS)
        except RedisError:
            _unreachable(user.pk)


def drop(user_id: int) -> None:
    """Drop all that is kept as soon as the change that makes it wrong is committed.

    With Redis gone nothing is kept that could be shown, so that isn't an error.
    """
    transaction.on_commit(lambda: _drop(user_id, key(user_id), survey_key(user_id)))


def drop_texts(user_id: int) -> None:
    """The same for a memory that says something else now, or isn't used any more."""
    if settings.HOT_CACHE:
        transaction.on_commit(lambda: _drop(user_id, key(user_id)))


def _drop(user_id: int, *keys: str) -> None:
    try:
        cache.delete_many(keys)
    except RedisError:
        _unreachable(user_id)


def _unreachable(user_id: int) -> None:
    logger.warning("The cache of user %s can't be reached.", user_id)
