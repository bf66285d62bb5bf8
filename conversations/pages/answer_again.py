"""Answer the last message again, edit it, or stop an answer."""

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

from conversations.chat import chat_messages, running_answers, temporary_messages
from conversations.chat.chat_messages import KeptThread
from conversations.chat.temporary_messages import TemporaryThread
from conversations.forgetting import forget_preview
from conversations.pages import answers, chat_page
from conversations.pages.chat_page import Opened
from conversations.pages.forms import MessageForm
from conversations.pages.manage import delete_texts
from memcenter.lib.errors import ApplicationError, NotFound
from ops.models import User
from ops.pages.base import is_htmx, own_transaction, person, personal_page

EDIT = "conversations/message_edit.html"


@require_POST
@personal_page
def conversation_answer(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    """Answer the last message (again); a complete new answer replaces the old one."""
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
    """Stop the answer in progress; the part shown so far is recorded."""
    found = _opened(request, conversation_id)
    running_answers.stop(conversation_id)
    return HttpResponse(status=204) if is_htmx(request) else redirect(found.url)


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def conversation_edit(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    """Edit the last message; its old text is forgotten with everything learned from it."""
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
        return chat_page.opened(person(request), conversation_id)


def _last(request: HttpRequest, found: Opened) -> KeptThread | TemporaryThread:
    with own_transaction(request):
        return _last_of(person(request), found)


def _last_of(user: User, found: Opened) -> KeptThread | TemporaryThread:
    if found.passing is not None:
        return temporary_messages.last(user=user, conversation=found.passing)
    assert found.kept is not None
    return chat_messages.last(user=user, conversation=found.kept)


def _edited(
    request: HttpRequest, found: Opened, text: str
) -> tuple[KeptThread | TemporaryThread, list[str]]:
    user, message = person(request), request.POST.get("message", "")
    if found.passing is not None:
        return temporary_messages.edit(text, user=user, conversation=found.passing, message=message)
    assert found.kept is not None
    edited = chat_messages.edit(text, user=user, conversation=found.kept, message=message)
    messages.success(request, _said(len(edited.memories)))
    return edited.thread, list(edited.gone)


def _said(memories: int) -> str:
    if not memories:
        return _("Edited. The earlier wording and its answer were forgotten.")
    words = ngettext(
        "Edited. The earlier wording, its answer and %(n)d memory based only on them were"
        " forgotten.",
        "Edited. The earlier wording, its answer and %(n)d memories based only on them were"
        " forgotten.",
        memories,
    )
    return words % {"n": memories}


def _asked(request: HttpRequest, found: Opened, form: MessageForm) -> HttpResponse:
    """Show the message in a field, with a list of what an edit deletes."""
    goes = ""
    try:
        with own_transaction(request):
            thread = _last_of(person(request), found)
            if isinstance(thread, KeptThread):
                lost = forget_preview.of_message(thread.question, user=person(request))
                goes = delete_texts.memories_only_here(lost.memories) if lost.memories else ""
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
    """Show why nothing was done."""
    messages.warning(request, _(error.message))
    if not is_htmx(request):
        return redirect(found.url)
    response = chat_page.show_own(request, found, part="#without")
    response.status_code = 409
    return response
