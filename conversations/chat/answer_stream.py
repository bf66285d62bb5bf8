"""Stream one answer until it ends or is stopped, and record it either way."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from enum import Enum
from typing import Literal

from django.conf import settings

from conversations.chat import answer_text, running_answers
from conversations.chat.chat_messages import KeptThread
from conversations.chat.model_stream import PieceReader
from conversations.chat.preparation import Prepared
from conversations.chat.temporary_messages import TemporaryThread
from conversations.models import Role
from conversations.recording.turns import MessageInput
from memcenter.lib.errors import Conflict, NotFound, ProviderError

_LOOK_EVERY = 0.1  # seconds


class End(Enum):
    """The reason why an answer ended."""

    WHOLE = "whole"
    STOPPED = "stopped"  # as was asked; what was shown is kept, and the turn is learned from
    BROKEN = "broken"  # the model failed in the middle; what came is kept as unfinished
    SILENT = "silent"  # the model failed before the first word
    UNSAID = "unsaid"  # stopped before the first word
    GONE = "gone"  # what it answers was forgotten meanwhile, or answered elsewhere


class Answering:
    """An iterator over the pieces of an answer. An empty piece means that the model is silent.

    After the iteration `end` holds the reason. The question must be in `thread` beforehand. A
    consumer that goes away calls `finish`, which reads the answer to its end and records it.
    `release` is called as soon as no model is in use any more.
    """

    def __init__(
        self, thread: KeptThread | TemporaryThread, *, release: Callable[[], object] = lambda: None
    ) -> None:
        """Raise `Conflict` if another answer is being given in this conversation."""
        if not running_answers.begin(thread.public_id):
            raise Conflict("An answer in this conversation is already in progress.")
        self.thread = thread
        self.text = ""
        self.end: End | None = None
        self._release = release
        self._began = time.monotonic()
        self._looked = self._began
        self._pieces = self._run()

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    def finish(self) -> End:
        """Read the rest of the answer and record it."""
        for _ in self._pieces:
            pass
        assert self.end is not None
        return self.end

    def _run(self) -> Iterator[str]:
        hearing: PieceReader | None = None
        try:
            prepared = self._prepared()
            if prepared is None:
                return
            hearing = PieceReader(answer_text.pieces_of(prepared), done=self._release)
            end = yield from self._heard(hearing)
            hearing.leave()
            self._account(prepared, end)
            self.end = self._keep(prepared, end)
        finally:
            if hearing is None:
                self._release()
            running_answers.end(self.thread.public_id)

    def _prepared(self) -> Prepared | None:
        try:
            return self.thread.prepare()
        except ProviderError:
            self.end = End.SILENT
        except NotFound:
            self.end = End.GONE
        return None

    def _heard(self, hearing: PieceReader) -> Generator[str, None, End]:
        """Yield the pieces and return the reason why they ended."""
        while not self._is_to_stop():
            try:
                piece = hearing.next()
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
        if now - self._looked < _LOOK_EVERY:
            return False
        self._looked = now
        return not running_answers.goes_on(self.thread.public_id)

    def _keep(self, prepared: Prepared, end: End) -> End:
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

    def _account(self, prepared: Prepared, end: End) -> None:
        if self.thread.is_accounted:
            answer_text.account(
                prepared,
                self.text,
                user=self.thread.user,
                took_ms=round((time.monotonic() - self._began) * 1000),
                outcome=_OUTCOMES.get(end, "ok"),
            )


_OUTCOMES: dict[End, Literal["truncated", "failed"]] = {
    End.STOPPED: "truncated",
    End.BROKEN: "failed",
}
