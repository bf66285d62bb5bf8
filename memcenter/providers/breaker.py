"""Leaves a failing server in peace for a while."""

import threading
import time
from collections.abc import Callable

from memcenter.providers.base import NotAsked


class CircuitBreaker:
    """After `failures` failures in a row nothing is asked for `rest` seconds.

    Then one question more is tried: it closes the circuit, or the rest begins again. It is kept
    in the process only; a new process finds out for itself.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        rest: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = failures
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._closed_again_at = 0.0

    def check(self) -> None:
        """Raises `NotAsked` while the server is left in peace."""
        with self._lock:
            if self._failed < self._most:
                return
            now = self._clock()
            if now < self._closed_again_at:
                raise NotAsked
            self._closed_again_at = now + self._rest  # the others wait for this one's outcome

    def note(self, *, failed: bool) -> None:
        with self._lock:
            self._failed = self._failed + 1 if failed else 0
            self._closed_again_at = self._clock() + self._rest
