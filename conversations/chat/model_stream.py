"""Read a model's stream in a thread, so that a silent model does not block the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, Queue
from threading import Event, Thread

from memcenter.lib.errors import ProviderError

_PATIENCE = 0.2  # seconds between two looks at whether to go on


class PieceReader:
    """Reads pieces in a thread of its own, which calls `done` at the end."""

    def __init__(self, pieces: Iterator[str], *, done: Callable[[], object]) -> None:
        self._queue: Queue[str | ProviderError | None] = Queue()
        self._left = Event()
        self._end: ProviderError | None = None
        self._is_over = False
        Thread(target=self._listen, args=(pieces, done), name="hearing", daemon=True).start()

    def next(self) -> str | None:
        """Return all text since the last call; empty after a silence, None at the end.

        Raises `ProviderError` if the stream broke off.
        """
        said: list[str] = []
        try:
            while not self._is_over:
                said += self._taken(wait=not said)
        except Empty:
            return "".join(said)
        if said:
            return "".join(said)
        if self._end is not None:
            raise self._end
        return None

    def leave(self) -> None:
        """Stop reading. The thread ends with the next piece or the model's time-out."""
        self._left.set()

    def _taken(self, *, wait: bool) -> list[str]:
        one = self._queue.get(timeout=_PATIENCE) if wait else self._queue.get_nowait()
        if isinstance(one, str):
            return [one]
        self._end, self._is_over = one, True
        return []

    def _listen(self, pieces: Iterator[str], done: Callable[[], object]) -> None:
        # If this thread itself fails, the reader must not take that for the end of an answer.
        end: ProviderError | None = ProviderError("The answer broke off.", retryable=True)
        try:
            for piece in pieces:
                if self._left.is_set():
                    break
                self._queue.put(piece)
            end = None
        except ProviderError as error:
            end = error
        finally:
            self._queue.put(end)
            done()
