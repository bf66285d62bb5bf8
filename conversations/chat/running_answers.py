"""Answers in progress, and requests to stop them.

Both are keys in Redis, visible to every process. They hold only a hash of the conversation's id
and expire soon after their process has died. Without Redis an answer can't be stopped from
another process; everything else goes on.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from conversations.recording.temporary import client

logger = logging.getLogger(__name__)
_PREFIX = "mc:answering:"
_SECONDS = 30
_STOP = b"stop"
_GO_ON = b"go on"


def begin(conversation: str) -> bool:
    """Mark the conversation as being answered; return False if another answer is in progress."""
    with _going_on_without():
        return bool(client().set(_key(conversation), _GO_ON, nx=True, ex=_SECONDS))
    return True


def goes_on(conversation: str) -> bool:
    """Renew the mark; return False if the answer must stop."""
    with _going_on_without():
        mark = client().getex(_key(conversation), ex=_SECONDS)
        return bool(mark != _STOP)
    return True


def end(conversation: str) -> None:
    with _going_on_without():
        client().delete(_key(conversation))


def stop(conversation: str) -> bool:
    """Request that the answer stops; return False if none is in progress."""
    with _going_on_without():
        return bool(client().set(_key(conversation), _STOP, xx=True, ex=_SECONDS))
    return False


def is_answering(conversation: str) -> bool:
    """Tell whether an answer is in progress; a stopped one is, until it is recorded."""
    with _going_on_without():
        return bool(client().exists(_key(conversation)))
    return False


@contextmanager
def _going_on_without() -> Iterator[None]:
    try:
        yield
    except RedisError:
        logger.warning("Redis can't be reached; answers under way are not marked.")


def _key(conversation: str) -> str:
    return _PREFIX + hashlib.sha256(conversation.encode()).hexdigest()[:32]
