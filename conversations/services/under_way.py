"""Which conversations are being answered at this moment, and which of these answers is to stop.

Both are marks in Redis, so that every process sees them. They hold a hash of the conversation's id
and no more, and pass away by themselves soon after their process has died. Without Redis an
answer can't be stopped from elsewhere, and all else goes on.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from conversations.services.temporary import client

logger = logging.getLogger(__name__)
_PREFIX = "mc:answering:"
_SECONDS = 30
_STOP = b"stop"
_GO_ON = b"go on"


def begin(conversation: str) -> bool:
    """Mark it as being answered; False where somebody else is answering it."""
    with _going_on_without():
        return bool(client().set(_key(conversation), _GO_ON, nx=True, ex=_SECONDS))
    return True


def goes_on(conversation: str) -> bool:
    """Keep the mark alive; False where the answer is to stop."""
    with _going_on_without():
        mark = client().getex(_key(conversation), ex=_SECONDS)
        return bool(mark != _STOP)
    return True


def end(conversation: str) -> None:
    with _going_on_without():
        client().delete(_key(conversation))


def stop(conversation: str) -> bool:
    """Ask for the answer to stop; False where none is under way."""
    with _going_on_without():
        return bool(client().set(_key(conversation), _STOP, xx=True, ex=_SECONDS))
    return False


def is_answering(conversation: str) -> bool:
    """Also of an answer that has been told to stop, until what was shown of it is kept."""
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
