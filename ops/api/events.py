"""The progress of an operation as server-sent events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from memcenter.rest.renderers import as_json
from memcenter.rest.thread_limits import Place
from ops import selectors
from ops.access import as_system
from ops.api import rendering
from ops.models import Operation, Status

SECONDS = 15.0  # a connection; the browser asks again by itself, saying what it saw last
_LOOK_EVERY = 0.5
_ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


def is_over(operation: Operation) -> bool:
    return operation.status in _ENDED


def id_of(operation: Operation) -> str:
    """Return an event id that differs after each change."""
    return f"{operation.updated_at.timestamp():.6f}"


class Events:
    """Yield one event for each change until the operation has ended or 15 s are over.

    It holds no transaction while it waits, and releases its slot when it is closed.
    """

    def __init__(
        self,
        op_id: str,
        *,
        seen: str,
        place: Place,
        wait: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._op_id = op_id
        self._seen = seen
        self._place = place
        self._wait = wait
        self._clock = clock

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._events()
        finally:
            self.close()

    def close(self) -> None:
        self._place.close()

    def _events(self) -> Iterator[bytes]:
        until = self._clock() + SECONDS
        yield b"retry: 1000\n\n"
        while True:
            with as_system():
                operation = selectors.operation_by(self._op_id)
                text = as_json(rendering.operation(operation))
            if id_of(operation) != self._seen:
                self._seen = id_of(operation)
                yield b"id: %s\nevent: operation\ndata: %s\n\n" % (self._seen.encode(), text)
            if is_over(operation) or self._clock() >= until:
                return
            self._wait(_LOOK_EVERY)
