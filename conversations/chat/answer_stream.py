"""Stream one answer until it ends or is stopped, and record it in both cases.

Each answer in progress has a key in Redis, visible to every process; a request to stop the answer
changes the key's value. The key contains only a hash of the conversation's id. If the process that
writes the answer dies, the key soon expires. While Redis is down, answers can't be stopped, and one
conversation may get two answers at the same time; otherwise, stored conversations work as usual.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from enum import Enum
from queue import Empty, Queue
from threading import Event

from django.conf import settings
from redis.exceptions import RedisError

from conversations.chat import answer_text
from conversations.chat.answer_text import Prepared
from conversations.chat.chat_messages import Thread
from conversations.models import Role
from conversations.recording.temporary import client
from conversations.recording.turns import MessageInput
from foundation.errors import Conflict, NotFound, ProviderError

logger = logging.getLogger(__name__)
_KEY_PREFIX = "mc:answering:"
_KEY_SECONDS = 30
_STOP = b"stop"
_GO_ON = b"go on"
_CHECK_EVERY = 0.1  # seconds
_PATIENCE = 0.2  # seconds without a piece before the loop checks for a stop request


class End(Enum):
    WHOLE = "whole"
    # Stopped on request, or cut at the maximum length. The shown part is kept as complete.
    STOPPED = "stopped"
    BROKEN = "broken"  # the model failed in the middle; the received part is kept as unfinished
    SILENT = "silent"  # the model failed before the first word, or sent no words
    UNSAID = "unsaid"  # stopped before the first word
    GONE = "gone"  # the question was forgotten meanwhile, or the conversation went on


class Answering:
    """An iterator over the pieces of an answer.

    An empty piece means that the model has sent nothing new. After the iteration `end` holds the
    reason why the answer ended. The question must already be recorded in `thread`, and the caller
    must have marked the conversation with `begin_answer`; the mark is removed when the answer ends.
    If the client disconnects, call `finish`, which reads the answer to its end and records it.
    `release` is called as soon as the model is no longer in use.
    """

    def __init__(self, thread: Thread, *, release: Callable[[], object] = lambda: None) -> None:
        self.thread = thread
        self.text = ""
        self.end: End | None = None
        self._release = release
        self._began = time.monotonic()
        self._last_check = self._began
        self._pieces = self._run()

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    def finish(self) -> End:
        """Read the rest of the answer, record it, and return the reason why it ended."""
        for _ in self._pieces:
            pass
        assert self.end is not None
        return self.end

    def _run(self) -> Iterator[str]:
        reader: PieceReader | None = None
        try:
            prepared = self._prepared()
            if prepared is None:
                return
            reader = PieceReader(answer_text.pieces_of(prepared), done=self._release)
            end = yield from self._read_answer(reader)
            reader.leave()
            self._record_use(prepared, end)
            self.end = self._record(prepared, end)
        finally:
            if reader is None:
                self._release()
            end_answer(self.thread.public_id)

    def _prepared(self) -> Prepared | None:
        try:
            return self.thread.prepare()
        except ProviderError:
            self.end = End.SILENT
        except NotFound:
            self.end = End.GONE
        return None

    def _read_answer(self, reader: PieceReader) -> Generator[str, None, End]:
        """Yield the pieces of the answer, and return the reason why it ended."""
        while not self._is_to_stop():
            try:
                piece = reader.next()
            except ProviderError:
                return End.BROKEN
            if piece is None:
                return End.WHOLE
            piece = piece[: settings.MAX_MESSAGE_CHARS - len(self.text)]
            self.text += piece
            yield piece
            if len(self.text) >= settings.MAX_MESSAGE_CHARS:
                break
        return End.STOPPED

    def _is_to_stop(self) -> bool:
        now = time.monotonic()
        if now - self._last_check < _CHECK_EVERY:
            return False
        self._last_check = now
        return not renew_answer(self.thread.public_id)

    def _record(self, prepared: Prepared, end: End) -> End:
        if not self.text.strip():
            return End.UNSAID if end is End.STOPPED else End.SILENT
        try:
            reply = MessageInput(
                self.text,
                role=Role.ASSISTANT,
                completed=end is not End.BROKEN,
                stopped=end is End.STOPPED,
            )
            self.thread.keep(prepared, reply)
        except (NotFound, Conflict):
            return End.GONE
        return end

    def _record_use(self, prepared: Prepared, end: End) -> None:
        stopped = end is End.STOPPED
        if self.thread.is_accounted:
            answer_text.record_answer_use(
                prepared,
                self.text,
                user=self.thread.user,
                took_ms=round((time.monotonic() - self._began) * 1000),
                outcome="truncated" if stopped else "failed" if end is End.BROKEN else "ok",
            )


class PieceReader:
    """Reads the pieces of an answer in a separate thread, which calls `done` at the end."""

    def __init__(self, pieces: Iterator[str], *, done: Callable[[], object]) -> None:
        self._queue: Queue[str | ProviderError | None] = Queue()
        self._left = Event()
        self._end: ProviderError | None = None
        self._is_over = False
        threading.Thread(
            target=self._listen, args=(pieces, done), name="reader", daemon=True
        ).start()

    def next(self) -> str | None:
        """Return all text received since the last call.

        The text is empty if the model has sent nothing for `_PATIENCE` seconds. Return None at the
        end of the answer. Raise `ProviderError` if the stream broke off.
        """
        pieces: list[str] = []
        try:
            while not self._is_over:
                pieces += self._take(wait=not pieces)
        except Empty:
            return "".join(pieces)
        if pieces:
            return "".join(pieces)
        if self._end is not None:
            raise self._end
        return None

    def leave(self) -> None:
        """Stop reading.

        The reader's thread ends when the next piece arrives or the model call times out.
        """
        self._left.set()

    def _take(self, *, wait: bool) -> list[str]:
        one = self._queue.get(timeout=_PATIENCE) if wait else self._queue.get_nowait()
        if isinstance(one, str):
            return [one]
        self._end, self._is_over = one, True
        return []

    def _listen(self, pieces: Iterator[str], done: Callable[[], object]) -> None:
        # If this thread fails, the consumer must not mistake the failure for the end of the answer.
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


def begin_answer(conversation: str) -> bool:
    """Mark the conversation as being answered.

    Return False if another answer is already in progress.
    """
    with _suppress_redis_errors():
        return bool(client().set(_answer_key(conversation), _GO_ON, nx=True, ex=_KEY_SECONDS))
    return True


def renew_answer(conversation: str) -> bool:
    """Keep the conversation marked as being answered. Return False if the answer must stop."""
    with _suppress_redis_errors():
        mark = client().getex(_answer_key(conversation), ex=_KEY_SECONDS)
        return bool(mark != _STOP)
    return True


def end_answer(conversation: str) -> None:
    with _suppress_redis_errors():
        client().delete(_answer_key(conversation))


def stop_answer(conversation: str) -> bool:
    """Ask the answer in progress to stop. Return False if no answer is in progress."""
    with _suppress_redis_errors():
        return bool(client().set(_answer_key(conversation), _STOP, xx=True, ex=_KEY_SECONDS))
    return False


def is_answering(conversation: str) -> bool:
    """Return whether an answer is in progress.

    A stopped answer counts as in progress until it is recorded.
    """
    with _suppress_redis_errors():
        return bool(client().exists(_answer_key(conversation)))
    return False


@contextmanager
def _suppress_redis_errors() -> Iterator[None]:
    try:
        yield
    except RedisError:
        logger.warning("Redis can't be reached; answers under way are not marked.")


def _answer_key(conversation: str) -> str:
    return _KEY_PREFIX + hashlib.sha256(conversation.encode()).hexdigest()[:32]
