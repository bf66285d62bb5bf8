"""Waking the worker through Celery. The message is empty: what is due stands in Postgres."""

import logging

from kombu.exceptions import KombuError, OperationalError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


def wake() -> None:
    """Ask a worker to drain the outbox. With Redis gone this does nothing: the sweep catches up."""
    from ops.tasks import drain_outbox  # the task imports the worker, which imports the outbox

    try:
        drain_outbox.apply_async(retry=False, ignore_result=True)
    except (OperationalError, KombuError, RedisError, OSError):
        logger.warning("The broker can't be reached; the sweep will find what is due.")
