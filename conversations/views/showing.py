"""The chat's page: the list of conversations, one of them, and what its answers used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from conversations import selectors
from conversations.forms import MessageForm
from conversations.models import Conversation, Message, Role
from conversations.services import speaking, temporary, threads
from conversations.services.temporary import TemporaryConversation
from conversations.views import bubbles, endings, learning, listing, using
from conversations.views.bubbles import Bubbles
from conversations.views.endings import Ending
from conversations.views.learning import Lessons
from conversations.views.listing import Row
from memcenter.lib.errors import NotFound
from ops.models import User
from ops.pages import is_htmx, own_transaction, person, target
from ops.services import users

Given = ParamSpec("Given")
TEMPLATE = "conversations/conversation_detail.html"
# What htmx asks for by the element that it will replace; the rest of the page isn't read then.
_PARTS = {
    "conversation-list": "#list",
    "used-here": "#used",
    "chat-title": "#title",
    "bubbles": "#bubbles",
}


def keeps_text(
    view: Callable[Concatenate[HttpRequest, Given], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, Given], HttpResponseBase]:
    """Whoever was signed out while typing is given the text back. Stands above `personal_page`."""

    @wraps(view)
    def keeping(
        request: HttpRequest, *args: Given.args, **kwargs: Given.kwargs
    ) -> HttpResponseBase:
        text = request.POST.get("text", "")
        if request.user.is_authenticated or not text or is_htmx(request):
            return view(request, *args, **kwargs)
        context = {"text": text, "next": request.path}
        response = render(request, "conversations/signed_out.html", context, status=401)
        response["Cache-Control"] = "private, no-store"
        return response

    return cast("Callable[Concatenate[HttpRequest, Given], HttpResponseBase]", keeping)


@dataclass(frozen=True)
class Opened:
    """What the page is about; `kept` and `passing` are both None for a chat not begun yet."""

    kept: Conversation | None = None
    passing: TemporaryConversation | None = None
    is_temporary: bool = False

    @property
    def row(self) -> Row | None:
        if self.passing is not None:
            return listing.temporary_row_of(self.passing)
        return listing.row_of(self.kept) if self.kept is not None else None

    @property
    def url(self) -> str:
        """Where the page is and its form is sent."""
        if self.row is not None:
            return self.row.url
        return reverse("temporary_new" if self.is_temporary else "conversation_new")


def opened(user: User, public_id: str) -> Opened:
    """The person's conversation, kept or temporary. Raises `NotFound`."""
    try:
        return Opened(kept=threads.resolve(user=user, reference=public_id))
    except NotFound:
        passing = temporary.find(user=user, reference=public_id)
        if passing is None:
            raise
        return Opened(passing=passing, is_temporary=True)


def show(
    request: HttpRequest, found: Opened, *, form: MessageForm | None = None, part: str = ""
) -> HttpResponse:
    """The page, or the part of it that htmx replaces; inside the person's transaction."""
    part = part or _part(request)
    context = _around(request, found, part) | _said(request, found, part)
    context["form"] = form or MessageForm(initial={"text": request.GET.get("text", "")})
    status = 422 if form is not None and form.is_bound else 200
    return render(request, f"{TEMPLATE}{part}", context, status=status)


def _part(request: HttpRequest) -> str:
    if not is_htmx(request):
        return ""
    if "before" in request.GET:
        return "#earlier"
    return "#list" if "after" in request.GET else _PARTS.get(target(request), "")


def _around(request: HttpRequest, found: Opened, part: str) -> dict[str, Any]:
    user = person(request)
    context: dict[str, Any] = {"opened": found, "row": found.row, "section": "chat"}
    context["chat_model"] = speaking.model_name()
    context["is_off"] = not users.settings_of(user).longterm_enabled
    if part in ("", "#list"):
        query = request.GET.get("q", "").strip()[:200]
        after = request.GET.get("after", "")
        context["listing"] = listing.listing(user, query=query, after=after)
        context["is_more"] = bool(after) and is_htmx(request)
    return context


def _said(request: HttpRequest, found: Opened, part: str) -> dict[str, Any]:
    """The messages, and the panel about the answer that is asked for or the last one."""
    user = person(request)
    if found.passing is not None:
        said = Bubbles(bubbles.temporary_ones(temporary.read(found.passing)), ())
        return {"bubbles": said, "ending": _ending(found.passing.public_id, said)}
    if found.kept is None or part in ("#list", "#title"):
        return {"bubbles": Bubbles((), ())}
    before, at = _number(request.GET.get("before")), request.GET.get("at", "")
    said = bubbles.bubbles_of(user, found.kept, before=before, at=at)
    context: dict[str, Any] = {"bubbles": said, "ending": _ending(found.kept.public_id, said)}
    context["edge"] = edge_of(user, found.kept)
    answer = _answer(request, user, said)
    return context | beside(user, answer, lessons=_known(said, answer))


def edge_of(user: User, conversation: Conversation) -> str:
    """Before which message the page says that what came earlier was summarized; empty: nowhere."""
    if not users.settings_of(user).summary_enabled:
        return ""
    return selectors.compacted_before(user, conversation)


def _ending(name: str, said: Bubbles) -> Ending | None:
    return endings.of_page(name, said.shown[-1]) if said.shown and said.is_latest else None


def beside(user: User, answer: Message | None, *, lessons: Lessons | None = None) -> dict[str, Any]:
    """What the panel says of an answer: what it used, and what its turn taught."""
    if lessons is None and answer is not None:
        turn = selectors.turn_of(user, answer)
        lessons = learning.lessons_of(user, [turn])[turn.pk] if turn is not None else None
    return {"panel": using.panel_of(user, answer), "lessons": lessons}


def _known(said: Bubbles, answer: Message | None) -> Lessons | None:
    """What its bubble says already."""
    shown = {one.public_id: one.lessons for one in said.shown}
    return shown.get(answer.public_id) if answer is not None else None


def _answer(request: HttpRequest, user: User, said: Bubbles) -> Message | None:
    wanted = request.GET.get("answer", "")
    if wanted:
        return selectors.message_of(user, wanted)
    return next((one for one in reversed(said.messages) if one.role == Role.ASSISTANT), None)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def show_own(request: HttpRequest, found: Opened, **rest: Any) -> HttpResponse:
    with own_transaction(request):
        return show(request, found, **rest)
