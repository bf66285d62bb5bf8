"""Renew the leases of all operations that this process runs, in one thread.

Starting a thread for each operation would cost as much as a statement, and few operations run
long enough to need a renewal.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from redis.exceptions import RedisError

from ops.access import as_system
from ops.models import Operation
from ops.queue import outbox

logger = logging.getLogger(__name__)
RENEWED_KEY = "operations-renewed"
RENEWED_SECONDS = 20
"""For so long after a renewal operations are known to be in hand."""
_LONGEST_PAUSE = 5


class Leases:
    """Renews each held lease every few seconds; the thread ends when idle."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Drop all leases; a forked process must call this, since it has no renewal thread."""
        self._held: dict[int, Operation] = {}
        self._used = False
        self._guard = threading.Lock()
        self._never = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def holding(self, operation: Operation) -> Iterator[None]:
        """Keep the lease renewed inside the block, unless it is taken away."""
        with self._guard:
            self._held[id(operation)] = operation
            self._used = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._guard:
                self._held.pop(id(operation), None)

    def renew(self) -> None:
        """Renew the held leases; a lost lease is not tried again."""
        with self._guard:
            held = list(self._held.items())
        for key, operation in held:
            if not self._renewed(operation):
                with self._guard:
                    self._held.pop(key, None)
        if held:
            _say_so()
            connection.close()

    def _keep(self) -> None:
        while True:
            self._never.wait(min(settings.LEASE_SECONDS / 3, _LONGEST_PAUSE))
            with self._guard:
                if not self._used:
                    self._thread = None
                    return
                self._used = bool(self._held)
            self.renew()

    def _renewed(self, operation: Operation) -> bool:
        try:
            with as_system():
                return outbox.renew(operation)
        except Exception as error:
            # The database may be restarting; then no other worker can take the lease either. And
            # no other failure may end the thread that renews all leases.
            kind = type(error).__name__
            logger.warning("operation %s: its lease was not renewed: %s", operation.public_id, kind)
            return True


def _say_so() -> None:
    """Record the renewal for `/readyz`, which can't read the locked rows."""
    try:
        cache.set(RENEWED_KEY, 1, timeout=RENEWED_SECONDS)
    except (RedisError, OSError):
        logger.warning("Redis can't be reached.")


held = Leases()
os.register_at_fork(after_in_child=held.begin_anew)
