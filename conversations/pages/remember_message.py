"""Remember a message of the person, or the part of it that is selected."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from conversations import selectors
from conversations.models import Message, Role
from conversations.pages import chat_page, learned
from conversations.pages.chat_page import Opened
from memcenter.lib.errors import ApplicationError, NotFound
from memories.learning import told_messages
from memories.learning.told_messages import Proposal, Span
from memories.pages.forms import MemoryForm
from memories.pages.memory_form import say_what_became
from memories.writing.direct_writes import MemoryInput
from ops.pages.base import (
    is_htmx,
    own_settings,
    own_transaction,
    person,
    personal_page,
    render_page,
)

_TEMPLATE = "conversations/message_remember.html"
_DONE = "dialog-done, memories-learned"


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def message_remember(request: HttpRequest, message_id: str) -> HttpResponse:
    """Ask how to remember it, with a proposal, then remember it."""
    with own_transaction(request):
        message = selectors.message_of(person(request), message_id)
    if message.role != Role.USER:
        raise NotFound("There is no such message.")
    given = request.POST if request.method == "POST" else request.GET
    span = told_messages.span_of(
        message,
        start=chat_page.number_of(given.get("start")),
        end=chat_page.number_of(given.get("end")),
    )
    if request.method != "POST":
        found = told_messages.propose(message, span)
        initial = {"content": found.text, "kind": found.kind, "tags": found.tags}
        return _ask(request, message, span, MemoryForm(initial=initial), found=found)
    form = MemoryForm(request.POST)
    if not form.is_valid():
        return _ask(request, message, span, form)
    try:
        written = told_messages.remember(
            MemoryInput(**form.cleaned_data), user=person(request), message=message, span=span
        )
    except NotFound:
        raise
    except ApplicationError as error:
        form.refuse(error)
        return _ask(request, message, span, form)
    say_what_became(request, written)
    return _show_what_was_learned(request, message)


def _ask(
    request: HttpRequest,
    message: Message,
    span: Span,
    form: MemoryForm,
    *,
    found: Proposal | None = None,
) -> HttpResponse:
    is_part = len(span.text) < len(message.content.strip())
    context: dict[str, Any] = {
        "form": form,
        "message": message,
        "back": _place_of(message),
        "is_off": not own_settings(request).longterm_enabled,
        "is_part": is_part,
        "found": found,
    }
    if is_part:
        end = span.start + len(span.text)
        context["hidden"] = [{"name": "start", "value": span.start}, {"name": "end", "value": end}]
    status = 422 if form.is_bound else 200
    with own_transaction(request):
        return render_page(request, _TEMPLATE, context | {"section": "chat"}, status=status)


def _place_of(message: Message) -> str:
    page = Opened(kept=message.conversation).url
    return f"{page}?{urlencode({'at': message.public_id})}#{message.public_id}"


def _show_what_was_learned(request: HttpRequest, message: Message) -> HttpResponse:
    """Return the updated chips under the answer."""
    if not is_htmx(request):
        return redirect(_place_of(message))
    with own_transaction(request):
        user = person(request)
        turn = selectors.turn_of(user, message)
        lessons = learned.lessons_of(user, [turn])[turn.pk] if turn is not None else None
        context = {"lessons": lessons, "page": Opened(kept=message.conversation).url}
        response = render(request, f"{chat_page.TEMPLATE}#remembered", context)
    response["HX-Reswap"], response["HX-Trigger"] = "none", _DONE
    return response
