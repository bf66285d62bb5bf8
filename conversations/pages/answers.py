"""Send an answer to the browser: as an event stream if the page's script asks, else as HTML."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from rest_framework.exceptions import Throttled

from conversations import selectors
from conversations.chat import answer_stream, answer_text
from conversations.chat.answer_stream import Answering, End
from conversations.chat.chat_messages import TemporaryThread, Thread
from conversations.pages import bubbles, chat_page
from conversations.pages.chat_page import OpenedConversation
from foundation.errors import Conflict, NotFound
from foundation.text.richtext import as_html
from memcenter.rest.throttling import long_answers
from ops.pages.base import RequestLocale, is_htmx, is_streamed, own_transaction, person

_QUIET_SECONDS = 2.0  # silence after which a keep-alive comment is sent to detect a lost connection
_MIN_INTERVAL = 0.08  # seconds between two updates
_INTERVAL_FACTOR = 12  # minimum time between two updates, as a multiple of the rendering time


@dataclass(frozen=True)
class AnswerReservation:
    """A reservation for one answer: a model slot, and the mark on the conversation.

    `conversation` is the id of the conversation that is marked as being answered, or "" for a new
    conversation. `slot` is an empty stack if no model is configured, since the demo assistant needs
    no slot.
    """

    conversation: str
    slot: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        self.slot.close()
        if self.conversation:
            answer_stream.end_answer(self.conversation)


@contextmanager
def reserve_answer(found: OpenedConversation) -> Iterator[AnswerReservation]:
    """Mark the conversation as being answered, and reserve a model slot if a model is configured.

    The mark is set before anything is recorded, so that a second request at the same time records
    nothing. An exception in the `with` block closes the reservation; otherwise the caller must
    close it or pass it to `respond_with_answer`. Raise `Conflict` if no slot is free, or if this
    conversation is already being answered.
    """
    conversation = found.row.public_id if found.row is not None else ""
    if conversation and not answer_stream.begin_answer(conversation):
        raise Conflict(
            _(
                "An answer is still being written, perhaps in another "
                "window. Your text is still here."
            )
        )
    reservation = AnswerReservation(conversation)
    try:
        if answer_text.model_name():
            reservation = replace(reservation, slot=_acquire_model_slot())
        yield reservation
    except BaseException:
        reservation.close()
        raise


def _acquire_model_slot() -> ExitStack:
    try:
        return long_answers().acquire()
    except Throttled:
        words = _(
            "Many answers are being written right now. Your text is "
            "still here: try again in a moment."
        )
        raise Conflict(words) from None


def respond_with_answer(
    request: HttpRequest,
    thread: Thread,
    reservation: AnswerReservation,
    *,
    gone: Sequence[str] = (),
    was_untitled: bool = False,
) -> HttpResponseBase:
    """Answer the thread's question, and return the response that sends the answer to the browser.

    `reservation` comes from `reserve_answer`; its slot is freed when the model is no longer in
    use. A new conversation is marked as being answered only here, because it had no id before.
    `gone` holds the ids of messages that the page must remove at once. With `was_untitled`, the
    page also updates the title.
    """
    try:
        if not reservation.conversation:
            answer_stream.begin_answer(thread.public_id)
    except BaseException:
        reservation.close()
        raise
    answering = Answering(thread, release=reservation.slot.close)
    events = AnswerEvents(request, answering, gone=gone, was_untitled=was_untitled)
    if is_streamed(request):
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(events, content_type="text/event-stream", headers=headers)
    answering.finish()
    if not is_htmx(request):
        return redirect(f"{events.opened().url}#end")
    response = HttpResponse(events.fragment())
    response["HX-Trigger"] = events.changed
    return response


class AnswerEvents:
    """The server-sent events of one answer.

    The first event is `begun`. Then each `shown` event contains the whole answer so far as HTML,
    and `ended` is the last event. If the browser disconnects, the answer is still read to its end
    and recorded. `changed` holds the names of the htmx events that update other parts of the page.
    """

    def __init__(
        self,
        request: HttpRequest,
        answering: Answering,
        *,
        gone: Sequence[str],
        was_untitled: bool,
    ) -> None:
        self._request, self._answering = request, answering
        self._gone = list(gone)
        self._had_answer = answering.thread.answer is not None
        self._locale = RequestLocale()
        self.changed = "conversation-changed" + (", title-changed" if was_untitled else "")

    def __iter__(self) -> Iterator[bytes]:
        yield _event("begun", {"gone": self._gone})
        yield from self._shown()
        yield _event("ended", self._ended())

    def close(self) -> None:
        self._answering.finish()

    def opened(self) -> OpenedConversation:
        """Load the conversation again, in its current state."""
        thread = self._answering.thread
        with own_transaction(self._request):
            return chat_page.open_conversation(person(self._request), thread.public_id)

    def fragment(self) -> str:
        """Return the HTML of the question, the answer, the note below them and the side panel."""
        found = self.opened()
        with own_transaction(self._request):
            context = self._context(found)
            response = render(self._request, f"{chat_page.TEMPLATE}#sent", context)
        return response.content.decode()

    def _shown(self) -> Iterator[bytes]:
        due = quiet = 0.0
        sent = 0  # characters
        for piece in self._answering:
            now = time.monotonic()
            if piece and now >= due:
                sent = len(self._answering.text)
                yield self._state()
                took = time.monotonic() - now
                due = quiet = now + max(_MIN_INTERVAL, _INTERVAL_FACTOR * took)
            elif not piece and len(self._answering.text) > sent:
                sent = len(self._answering.text)
                yield self._state()
            elif now >= quiet + _QUIET_SECONDS:
                quiet = now
                yield b": still waiting\n\n"

    def _ended(self) -> dict[str, Any]:
        try:
            with self._locale.activate():
                html = self.fragment()
        except NotFound:  # the conversation was forgotten in the meantime
            return {"how": End.GONE.value, "html": "", "gone": [], "changed": self.changed}
        gone = self._answering.thread.shown
        return {"how": self._end().value, "html": html, "gone": gone, "changed": self.changed}

    def _state(self) -> bytes:
        with self._locale.activate():
            return _event("shown", {"html": as_html(self._answering.text)})

    def _end(self) -> End:
        end = self._answering.end
        assert end is not None
        return end

    def _context(self, found: OpenedConversation) -> dict[str, Any]:
        user = person(self._request)
        context: dict[str, Any] = {"row": found.row, "opened": found}
        thread = self._answering.thread
        if isinstance(thread, TemporaryThread):
            context["said"] = bubbles.build_temporary_bubbles(thread.said)
        else:
            said, kept = thread.said, thread.conversation
            before = selectors.messages_of(user, kept).filter(number__lt=said[0].number)
            context["said"] = bubbles.build_bubbles(
                user, said, after=before.order_by("-number").first(), is_last=True
            )
            context |= chat_page.side_panel_context(user, said[-1])
            context["edge"] = chat_page.first_unsummarized_id(user, kept)
        context["ending"] = bubbles.end_note_after(
            self._end(), thread.public_id, had_answer=self._had_answer
        )
        return context


def _event(name: str, value: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(value))
