"""Limit the threads of a web process that streams and model calls may occupy."""

from __future__ import annotations

import threading
from functools import cache

from django.conf import settings
from rest_framework.exceptions import Throttled

_RETRY_SECONDS = 2


class Share:
    """At most `places` at a time; further calls are refused, so that short calls never wait."""

    def __init__(self, places: int) -> None:
        self._places = threading.BoundedSemaphore(places)

    def take(self) -> Place:
        """Take a place. Raises `Throttled` if all are taken."""
        if not self._places.acquire(blocking=False):
            raise Throttled(wait=_RETRY_SECONDS, detail="Too many long answers are under way.")
        return Place(self._places)


@cache
def long_answers() -> Share:
    """Return this process's share for streamed answers."""
    return Share(settings.LONG_ANSWERS)


class Place:
    """A taken place, released once however often it is closed."""

    def __init__(self, places: threading.Semaphore) -> None:
        self._places: threading.Semaphore | None = places

    def close(self) -> None:
        places, self._places = self._places, None
        if places is not None:
            places.release()
