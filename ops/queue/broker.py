"""Wake the worker with a message sent through Celery.

The message is empty, since the queue itself is in PostgreSQL.
"""

import logging

from celery import current_app
from django.core.cache import cache
from kombu.exceptions import KombuError, OperationalError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
_ASKED = "worker-asked"
_DRAIN = "ops.tasks.drain_outbox"  # by name, since the task's module imports this module
_ASKED_SECONDS = 5  # a lost message delays the next message by at most this long


def wake() -> None:
    """Send a message that makes a worker run due operations, unless one is already waiting.

    A thousand concurrent turns therefore send one message. If Redis is down, nothing is sent, and
    the periodic sweep finds the operations.
    """
    try:
        if cache.add(_ASKED, 1, timeout=_ASKED_SECONDS):
            current_app.send_task(_DRAIN, retry=False, ignore_result=True)
    except (OperationalError, KombuError, RedisError, OSError):
        logger.warning("The broker can't be reached; the sweep will find what is due.")


def record_worker_start() -> None:
    """Record that a worker has begun, so that the next enqueued operation sends a new message."""
    try:
        cache.delete(_ASKED)
    except (RedisError, OSError):
        logger.warning("Redis can't be reached.")
