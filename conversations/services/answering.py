"""An answer being given: as it comes, until it ends or is stopped, and kept however it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from enum import Enum
from typing import Literal

from django.conf import settings

from conversations.models import Role
from conversations.services import speaking, under_way
from conversations.services.asking import Kept
from conversations.services.asking_in_passing import Passing
from conversations.services.hearing import Hearing
from conversations.services.preparing import Prepared
from conversations.services.turns import MessageInput
from memcenter.lib.errors import Conflict, NotFound, ProviderError

_LOOK_EVERY = 0.1  # seconds


class End(Enum):
    """How an answer ended."""

    WHOLE = "whole"
    STOPPED = "stopped"  # as was asked; what was shown is kept, and the turn is learned from
    BROKEN = "broken"  # the model failed in the middle; what came is kept as unfinished
    SILENT = "silent"  # the model failed before the first word
    UNSAID = "unsaid"  # stopped before the first word
    GONE = "gone"  # what it answers was forgotten meanwhile, or answered elsewhere


class Answering:
    """Iterate over the pieces; then `end` tells how it ended. An empty piece: still waiting.

    What was said stands in `thread` before this begins. Whoever goes away calls `finish`: the
    answer is heard to its end and kept. `release` is called when no model is held any more.
    """

    def __init__(
        self, thread: Kept | Passing, *, release: Callable[[], object] = lambda: None
    ) -> None:
        """Raises `Conflict` where an answer in this conversation is under way already."""
        if not under_way.begin(thread.public_id):
            raise Conflict("An answer in this conversation is under way already.")
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
        """Hear the rest, however far it has come."""
        for _ in self._pieces:
            pass
        assert self.end is not None
        return self.end

    def _run(self) -> Iterator[str]:
        hearing: Hearing | None = None
        try:
            prepared = self._prepared()
            if prepared is None:
                return
            hearing = Hearing(speaking.pieces_of(prepared), done=self._release)
            end = yield from self._heard(hearing)
            hearing.leave()
            self._account(prepared, end)
            self.end = self._keep(prepared, end)
        finally:
            if hearing is None:
                self._release()
            under_way.end(self.thread.public_id)

    def _prepared(self) -> Prepared | None:
        try:
            return self.thread.prepare()
        except ProviderError:
            self.end = End.SILENT
        except NotFound:
            self.end = End.GONE
        return None

    def _heard(self, hearing: Hearing) -> Generator[str, None, End]:
        """The pieces; gives how they ended."""
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
        return not under_way.goes_on(self.thread.public_id)

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
            speaking.account(
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
