"""A bounded share of the web process's threads for what takes long: streams and models."""

from __future__ import annotations

import threading
from functools import cache

from django.conf import settings
from rest_framework.exceptions import Throttled

_RETRY_SECONDS = 2


class Share:
    """At most `places` at a time; more are told to come back, so that short calls never wait."""

    def __init__(self, places: int) -> None:
        self._places = threading.BoundedSemaphore(places)

    def take(self) -> Place:
        """Raises `Throttled` when all places are taken."""
        if not self._places.acquire(blocking=False):
            raise Throttled(wait=_RETRY_SECONDS, detail="Too many long answers are under way.")
        return Place(self._places)


@cache
def long_answers() -> Share:
    """The one share of this process for answers that people and clients wait for."""
    return Share(settings.LONG_ANSWERS)


class Place:
    """Given back once, however often it is closed."""

    def __init__(self, places: threading.Semaphore) -> None:
        self._places: threading.Semaphore | None = places

    def close(self) -> None:
        places, self._places = self._places, None
        if places is not None:
            places.release()
