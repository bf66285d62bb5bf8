"""Views of the chat: show, continue or rename a conversation, edit messages, request answers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.chat import answer_stream, chat_messages
from conversations.chat.chat_messages import EditedQuestion, UnconfirmedEdit
from conversations.pages import answers, chat_page, conversation_list, deletions
from conversations.pages.chat_page import MessageForm, OpenedConversation, TitleForm
from conversations.recording import conversation_names
from foundation.errors import ApplicationError, NotFound
from ops.pages.base import (
    field_of,
    form_data,
    is_htmx,
    is_streamed,
    own_transaction,
    person,
    personal_page,
    redirect_after_form,
    target,
)

EDIT = "conversations/message_edit.html"
RENAME = "conversations/conversation_rename.html"


@require_safe
@personal_page
def chat_home(request: HttpRequest) -> HttpResponse:
    """Show the newest conversation, or an empty chat if there is no conversation."""
    with own_transaction(request):
        return chat_page.show(
            request, OpenedConversation(conversation_list.newest(person(request)))
        )


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def conversation_new(request: HttpRequest) -> HttpResponseBase:
    return _show_or_send(request, OpenedConversation())


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def temporary_new(request: HttpRequest) -> HttpResponseBase:
    """Begin a temporary chat: it expires after a day, and nothing is learned from it."""
    return _show_or_send(request, OpenedConversation(is_temporary=True))


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def conversation_page(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    with own_transaction(request):
        found = chat_page.open_conversation(person(request), conversation_id)
        if request.method != "POST":
            return chat_page.show(request, found)
    return _send_message(request, found)


def _show_or_send(request: HttpRequest, found: OpenedConversation) -> HttpResponseBase:
    if request.method != "POST":
        return chat_page.show_in_transaction(request, found)
    return _send_message(request, found)


def _send_message(request: HttpRequest, found: OpenedConversation) -> HttpResponseBase:
    form = MessageForm(request.POST)
    was_untitled = found.row is None or not found.row.title
    if form.is_valid():
        with form.refusing(), answers.reserve_answer(found) as reservation:
            thread = chat_messages.ask(
                form.cleaned_data["text"],
                user=person(request),
                conversation=found.conversation,
                is_temporary=found.is_temporary,
            )
    if form.errors:
        if not is_htmx(request):
            return chat_page.show_in_transaction(request, found, form=form)
        # The page keeps the typed text: only the message form is replaced.
        response = chat_page.show_in_transaction(request, found, form=form, part="#composer")
        response["HX-Retarget"], response["HX-Reswap"] = "#composer", "outerHTML"
        return response
    page = reverse("conversation", args=[thread.public_id])
    if found.row is None and is_streamed(request):  # the new page requests the answer
        reservation.close()
        return redirect_after_form(request, page)
    answer = answers.respond_with_answer(request, thread, reservation, was_untitled=was_untitled)
    is_new = found.row is None and is_htmx(request)
    return redirect_after_form(request, page) if is_new else answer


@require_POST
@personal_page
def conversation_answer(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    """Answer the last question, or answer it again. A complete new answer replaces the old one."""
    found = _opened(request, conversation_id)
    try:
        with answers.reserve_answer(found) as reservation, own_transaction(request):
            assert found.conversation is not None
            thread = chat_messages.last_question(
                user=person(request), conversation=found.conversation
            )
    except NotFound:
        raise
    except ApplicationError as error:
        return _show_as_it_is(request, found, error, status=409)
    return answers.respond_with_answer(request, thread, reservation)


@require_POST
@personal_page
def conversation_stop(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Stop the answer in progress. The part received so far is recorded."""
    found = _opened(request, conversation_id)
    answer_stream.stop_answer(conversation_id)
    return HttpResponse(status=204) if is_htmx(request) else redirect(found.url)


@require_http_methods(["GET", "HEAD", "POST"])
@chat_page.keeps_text
@personal_page
def conversation_edit(request: HttpRequest, conversation_id: str) -> HttpResponseBase:
    """Edit one of the person's messages, and forget its old text and all later messages.

    If later turns would be deleted, show the form again with the list of deletions, and ask the
    person to confirm them.
    """
    found = _opened(request, conversation_id)
    form = MessageForm(form_data(request))
    if not form.is_valid():
        return _ask_to_edit(request, found, form)
    if "asks" in request.POST:
        return _ask_to_edit(request, found, form, confirms=True)
    assert found.conversation is not None
    try:
        with form.refusing(UnconfirmedEdit), answers.reserve_answer(found) as reservation:
            edited = chat_messages.edit(
                form.cleaned_data["text"],
                user=person(request),
                conversation=found.conversation,
                message=field_of(request.POST, "message"),
                newest=request.POST.get("newest", ""),
            )
    except UnconfirmedEdit:
        form.add_error("text", _("Something newer has been said since. Look again at what goes."))
        return _ask_to_edit(request, found, form, confirms=True)
    if form.errors:
        return _ask_to_edit(request, found, form)
    if not found.is_temporary:
        messages.success(request, _edit_message(edited))
    return answers.respond_with_answer(
        request, edited.thread, reservation, gone=edited.gone, was_untitled=True
    )


def _opened(request: HttpRequest, conversation_id: str) -> OpenedConversation:
    with own_transaction(request):
        return chat_page.open_conversation(person(request), conversation_id)


def _edit_message(edited: EditedQuestion) -> str:
    later, memories = len(edited.gone) - 1, len(edited.memories)
    if later <= 1 and not memories:
        return _("Edited. The earlier wording and its answer were forgotten.")
    if not memories:
        words = _("Edited. The earlier wording and the %(later)d messages after it were forgotten.")
    elif later <= 1:
        words = ngettext(
            "Edited. The earlier wording, its answer and %(n)d memory based only on them were"
            " forgotten.",
            "Edited. The earlier wording, its answer and %(n)d memories based only on them were"
            " forgotten.",
            memories,
        )
    else:
        words = ngettext(
            "Edited. The earlier wording, the %(later)d messages after it and %(n)d memory based"
            " only on them were forgotten.",
            "Edited. The earlier wording, the %(later)d messages after it and %(n)d memories based"
            " only on them were forgotten.",
            memories,
        )
    return words % {"later": later, "n": memories}


def _ask_to_edit(
    request: HttpRequest, found: OpenedConversation, form: MessageForm, *, confirms: bool = False
) -> HttpResponse:
    """Show the message in a text field; with `confirms`, also ask to confirm the deletions."""
    message = field_of(request.POST if form.is_bound else request.GET, "message")
    context: dict[str, Any] = {"row": found.row, "section": "chat", "form": form}
    context |= {"message": message, "confirms": confirms}
    assert found.conversation is not None
    try:
        with own_transaction(request):
            user = person(request)
            edits = chat_messages.editable(
                user=user, conversation=found.conversation, message=message
            )
            context |= deletions.edit_dialog(edits, user=user)
    except NotFound:
        raise
    except ApplicationError as error:
        if not form.is_bound:
            return _show_as_it_is(request, found, error)
        if not form.errors:
            form.refuse(error)
    else:
        form.initial = {"text": edits.question.content}
        context |= {"edits": edits, "message": edits.question.public_id}
    part = "#field" if is_htmx(request) else ""
    return render(request, f"{EDIT}{part}", context, status=form.status)


def _show_as_it_is(
    request: HttpRequest, found: OpenedConversation, error: ApplicationError, *, status: int = 200
) -> HttpResponse:
    messages.warning(request, _(error.message))
    if not is_htmx(request):
        return redirect(found.url)
    response = chat_page.show_in_transaction(request, found, part="#without")
    response["HX-Retarget"], response["HX-Reswap"] = "#bubbles", "outerHTML"
    response.status_code = status
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_rename(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Edit the title in place; without JavaScript, on a separate page."""
    with own_transaction(request):
        kept = conversation_names.resolve(user=person(request), reference=conversation_id)
        form = TitleForm(form_data(request), initial={"title": kept.title})
        if not form.is_valid():
            part, in_bar = "#field" if is_htmx(request) else "", target(request) == "chat-title"
            context = {"form": form, "row": conversation_list.row_of(kept), "in_bar": in_bar}
            context["section"] = "chat"
            return render(request, f"{RENAME}{part}", context, status=form.status)
        conversation_names.rename(
            user=person(request), conversation=kept, title=form.cleaned_data["title"]
        )
        if not is_htmx(request):
            return redirect("conversation", kept.public_id)
        return HttpResponse(
            status=204, headers={"HX-Trigger": "conversation-changed, title-changed"}
        )
