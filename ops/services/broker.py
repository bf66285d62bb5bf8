"""Waking the worker through Celery. The message is empty: what is due stands in Postgres."""

import logging

from django.core.cache import cache
from kombu.exceptions import KombuError, OperationalError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
_ASKED = "worker-asked"
_ASKED_SECONDS = 5  # a message that was lost holds back no more than this


def wake() -> None:
    """Ask a worker to drain the outbox, unless one has been asked and hasn't begun.

    So a thousand turns at once are one message, and the sweep is never far back in the queue.
    With Redis gone this does nothing: the sweep catches up.
    """
    from ops.tasks import drain_outbox  # the task imports the worker, which imports the outbox

    try:
        if cache.add(_ASKED, 1, timeout=_ASKED_SECONDS):
            drain_outbox.apply_async(retry=False, ignore_result=True)
    except (OperationalError, KombuError, RedisError, OSError):
        logger.warning("The broker can't be reached; the sweep will find what is due.")


def begun() -> None:
    """A worker looks at the outbox from now on: what is written later needs another message."""
    try:
        cache.delete(_ASKED)
    except (RedisError, OSError):
        logger.warning("Redis can't be reached.")
