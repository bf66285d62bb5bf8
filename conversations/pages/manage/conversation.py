"""Rename, clear or delete a conversation."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conversations.forgetting import forget_preview, message_forgets
from conversations.models import Conversation
from conversations.pages import chat_page
from conversations.pages.chat_page import Opened
from conversations.pages.forms import TitleForm
from conversations.pages.manage import delete_texts
from conversations.recording import conversation_names, temporary
from ops.models import User
from ops.pages.base import is_htmx, leave, own_transaction, person, personal_page, target
from ops.pages.error_texts import forgotten

RENAME = "conversations/conversation_rename.html"


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_rename(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Edit the title in place, or on a page of its own without JavaScript."""
    with own_transaction(request):
        kept = conversation_names.resolve(user=person(request), reference=conversation_id)
        row, part = Opened(kept=kept).row, "#field" if is_htmx(request) else ""
        form = TitleForm(request.POST if request.method == "POST" else None)
        if request.method != "POST":
            form.initial = {"title": kept.title}
            return render(request, f"{RENAME}{part}", _field(request, form, row))
        if not form.is_valid():
            return render(request, f"{RENAME}{part}", _field(request, form, row), status=422)
        conversation_names.rename(
            user=person(request), conversation=kept, title=form.cleaned_data["title"]
        )
        if not is_htmx(request):
            return redirect("conversation", kept.public_id)
        return HttpResponse(status=204, headers={"HX-Trigger": _RENAMED})


_RENAMED = "conversation-changed, title-changed"


def _field(request: HttpRequest, form: TitleForm, row: Any) -> dict[str, Any]:
    in_bar = target(request) == "chat-title"
    return {"form": form, "row": row, "in_bar": in_bar, "section": "chat"}


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_clear(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """Forget everything said in it and keep the empty conversation."""
    with own_transaction(request):
        user = person(request)
        kept = conversation_names.resolve(user=user, reference=conversation_id)
        if request.method != "POST":
            return delete_texts.ask(
                request, delete_texts.of_clearing(kept, _consequences(kept, user))
            )
        operation = message_forgets.clear_conversation(
            user=user, conversation=kept, forget_memories=bool(request.POST.get("memories"))
        )
    messages.success(request, delete_texts.cleared())
    return leave(request, delete_texts.page_after(conversation_id, forget=operation.public_id))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_delete(request: HttpRequest, conversation_id: str) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        found = chat_page.opened(user, conversation_id)
        if request.method != "POST":
            return delete_texts.ask(request, _what_goes(found, user))
        if found.passing is not None:
            temporary.erase(found.passing)
        elif found.kept is not None:
            message_forgets.forget_conversation(
                user=user,
                conversation=found.kept,
                forget_memories=bool(request.POST.get("memories")),
            )
    words = _("This temporary chat no longer exists.") if found.is_temporary else forgotten()
    messages.success(request, words)
    return leave(request, reverse("chat_home"))


def _what_goes(found: Opened, user: User) -> dict[str, Any]:
    if found.kept is None:
        assert found.passing is not None
        return delete_texts.of_temporary(found.passing)
    return delete_texts.of_deleting(found.kept, _consequences(found.kept, user))


def _consequences(kept: Conversation, user: User) -> forget_preview.Consequences:
    return forget_preview.of_conversation(kept, user=user)
