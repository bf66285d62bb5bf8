"""The chat: show a conversation and send a message."""

from __future__ import annotations

from contextlib import ExitStack

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from conversations.chat import chat_messages, temporary_messages
from conversations.chat.chat_messages import KeptThread
from conversations.chat.temporary_messages import TemporaryThread
from conversations.pages import answers, chat_page, conversation_list
from conversations.pages.chat_page import Opened
from conversations.pages.forms import MessageForm
from memcenter.lib.errors import ApplicationError, NotFound
from ops.models import User
from ops.pages.base import is_htmx, is_streamed, leave, own_transaction, person, personal_page


@require_safe
@personal_page
def chat_home(request: HttpRequest) -> HttpResponse:
    """The newest conversation, or an invitation to begin one."""
    with own_transaction(request):
        return chat_page.show(request, Opened(kept=conversation_list.newest(person(request))))


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def conversation_new(request: HttpRequest) -> HttpResponseBase:
    if request.method == "POST":
        return _say(request, Opened())
    return chat_page.show_own(request, Opened())


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def temporary_new(request: HttpRequest) -> HttpResponseBase:
    """Begin a chat that expires after a day and is never learned from."""
    if request.method == "POST":
        return _say(request, Opened(is_temporary=True))
    return chat_page.show_own(request, Opened(is_temporary=True))


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def conversation_page(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    with own_transaction(request):
        found = chat_page.opened(person(request), conversation_id)
        if request.method != "POST":
            return chat_page.show(request, found)
    return _say(request, found)


def _say(request: HttpRequest, found: Opened) -> HttpResponseBase:
    form = MessageForm(request.POST)
    if not form.is_valid():
        return _refused(request, found, form)
    was_untitled = found.row is None or not found.row.title
    with ExitStack() as held:
        try:
            place = answers.take_place(found)
            if place is not None:
                held.callback(place.close)
            thread = _asked(form.cleaned_data["text"], user=person(request), found=found)
        except NotFound:
            raise
        except ApplicationError as error:
            form.refuse(error)
            return _refused(request, found, form)
        if found.row is None and is_streamed(request):  # its page asks for the answer
            return leave(request, _page_of(thread))
        held.pop_all()
    response = answers.give(request, thread, place, was_untitled=was_untitled)
    if found.row is None and is_htmx(request):
        return leave(request, _page_of(thread))
    return response


def _page_of(thread: KeptThread | TemporaryThread) -> str:
    return reverse("conversation", args=[thread.public_id])


def _asked(text: str, *, user: User, found: Opened) -> KeptThread | TemporaryThread:
    """Record the message in its conversation."""
    if found.is_temporary:
        return temporary_messages.ask(text, user=user, conversation=found.passing)
    return chat_messages.ask(text, user=user, conversation=found.kept)


def _refused(request: HttpRequest, found: Opened, form: MessageForm) -> HttpResponse:
    """Keep the typed text: in the composer for htmx, else in the page."""
    if not is_htmx(request):
        return chat_page.show_own(request, found, form=form)
    response = chat_page.show_own(request, found, form=form, part="#composer")
    response["HX-Retarget"], response["HX-Reswap"] = "#composer", "outerHTML"
    return response
