"""A circuit breaker for failing servers."""

import threading
import time
from collections.abc import Callable

from memcenter.providers.base import NotAsked


class CircuitBreaker:
    """Opens for `rest` seconds after `failures` failures in a row.

    Then one call is tried: it closes the circuit or opens it again. The state is kept in the
    process only.
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
        """Raise `NotAsked` while the circuit is open."""
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
