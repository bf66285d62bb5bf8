"""The last message once more: answered again, said otherwise; and an answer stopped."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from conversations.forms import MessageForm
from conversations.services import asking, asking_in_passing, consequences, under_way
from conversations.services.asking import Kept
from conversations.services.asking_in_passing import Passing
from conversations.views import answers, going, showing
from conversations.views.showing import Opened
from memcenter.lib.errors import ApplicationError, NotFound
from ops.models import User
from ops.pages import is_htmx, own_transaction, person, personal_page

EDIT = "conversations/message_edit.html"


@require_POST
@personal_page
def conversation_answer(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    """Answer the last message, or answer it again; a new whole answer takes the old one's place."""
    found = _opened(request, conversation_id)
    with ExitStack() as held:
        try:
            place = answers.take_place(found)
            if place is not None:
                held.callback(place.close)
            thread = _last(request, found)
        except NotFound:
            raise
        except ApplicationError as error:
            return _refused(request, found, error)
        held.pop_all()
    return answers.give(request, thread, place)


@require_POST
@personal_page
def conversation_stop(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Stop the answer that is under way; what was shown of it is kept."""
    found = _opened(request, conversation_id)
    under_way.stop(conversation_id)
    return HttpResponse(status=204) if is_htmx(request) else redirect(found.url)


@require_http_methods(["GET", "HEAD", "POST"])
@showing.keeps_text
@personal_page
def conversation_edit(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    """Say the last message otherwise; the earlier wording is forgotten with what it taught."""
    found = _opened(request, conversation_id)
    if request.method != "POST":
        return _asked(request, found, MessageForm())
    form = MessageForm(request.POST)
    if not form.is_valid():
        return _asked(request, found, form)
    with ExitStack() as held:
        try:
            place = answers.take_place(found)
            if place is not None:
                held.callback(place.close)
            thread, gone = _edited(request, found, form.cleaned_data["text"])
        except NotFound:
            raise
        except ApplicationError as error:
            form.refuse(error)
            return _asked(request, found, form)
        held.pop_all()
    return answers.give(request, thread, place, gone=gone, was_untitled=True)


def _opened(request: HttpRequest, conversation_id: str) -> Opened:
    with own_transaction(request):
        return showing.opened(person(request), conversation_id)


def _last(request: HttpRequest, found: Opened) -> Kept | Passing:
    with own_transaction(request):
        return _last_of(person(request), found)


def _last_of(user: User, found: Opened) -> Kept | Passing:
    if found.passing is not None:
        return asking_in_passing.last(user=user, conversation=found.passing)
    assert found.kept is not None
    return asking.last(user=user, conversation=found.kept)


def _edited(request: HttpRequest, found: Opened, text: str) -> tuple[Kept | Passing, list[str]]:
    user, message = person(request), request.POST.get("message", "")
    if found.passing is not None:
        return asking_in_passing.edit(text, user=user, conversation=found.passing, message=message)
    assert found.kept is not None
    edited = asking.edit(text, user=user, conversation=found.kept, message=message)
    messages.success(request, _said(len(edited.memories)))
    return edited.thread, list(edited.gone)


def _said(memories: int) -> str:
    if not memories:
        return _("Edited. The earlier wording and its answer are forgotten.")
    words = ngettext(
        "Edited. The earlier wording, its answer and %(n)d memory that rested only on them are"
        " forgotten.",
        "Edited. The earlier wording, its answer and %(n)d memories that rested only on them are"
        " forgotten.",
        memories,
    )
    return words % {"n": memories}


def _asked(request: HttpRequest, found: Opened, form: MessageForm) -> HttpResponse:
    """The message in a field, with what goes when it is said otherwise."""
    goes = ""
    try:
        with own_transaction(request):
            thread = _last_of(person(request), found)
            if isinstance(thread, Kept):
                lost = consequences.of_message(thread.question, user=person(request))
                goes = going.memories_only_here(lost.memories) if lost.memories else ""
    except NotFound:
        raise
    except ApplicationError as error:
        return _refused(request, found, error)
    context: dict[str, Any] = {"row": found.row, "section": "chat", "thread": thread}
    if not form.is_bound:
        form.initial = {"text": thread.question.content}
    context |= {"form": form, "goes": goes, "message": request.POST.get("message")}
    context["message"] = context["message"] or thread.question.public_id
    part = "#field" if is_htmx(request) else ""
    status = 422 if form.is_bound else 200
    return render(request, f"{EDIT}{part}", context, status=status)


def _refused(request: HttpRequest, found: Opened, error: ApplicationError) -> HttpResponse:
    """Nothing was done; says why."""
    messages.warning(request, _(error.message))
    if not is_htmx(request):
        return redirect(found.url)
    response = showing.show_own(request, found, part="#without")
    response.status_code = 409
    return response
