"""A value that a process makes once, however many threads ask for it first."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function without arguments so that it runs once a process.

    `functools.cache` lets two threads make one each, and what the loser made is closed while
    somebody uses it: a Redis client closes its connections when it is collected.
    """
    cached, lock = functools.cache(make), threading.Lock()

    @functools.wraps(make)
    def kept() -> T:
        with lock:
            return cached()

    return kept
