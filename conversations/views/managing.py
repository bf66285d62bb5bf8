"""What can be done to a conversation as a whole: rename, clear, delete."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conversations.forms import TitleForm
from conversations.models import Conversation
from conversations.services import consequences, forgetting, temporary, threads
from conversations.views import going, showing
from conversations.views.showing import Opened
from ops.models import User
from ops.pages import is_htmx, leave, own_transaction, person, personal_page, target
from ops.views.saying import forgotten

RENAME = "conversations/conversation_rename.html"


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_rename(request: HttpRequest, conversation_id: str) -> HttpResponse:
    """A field in the place of the name; a page of its own without JavaScript."""
    with own_transaction(request):
        kept = threads.resolve(user=person(request), reference=conversation_id)
        row, part = Opened(kept=kept).row, "#field" if is_htmx(request) else ""
        form = TitleForm(request.POST if request.method == "POST" else None)
        if request.method != "POST":
            form.initial = {"title": kept.title}
            return render(request, f"{RENAME}{part}", _field(request, form, row))
        if not form.is_valid():
            return render(request, f"{RENAME}{part}", _field(request, form, row), status=422)
        threads.rename(user=person(request), conversation=kept, title=form.cleaned_data["title"])
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
    """Forget all that was said in it; the conversation itself stays."""
    with own_transaction(request):
        user = person(request)
        kept = threads.resolve(user=user, reference=conversation_id)
        if request.method != "POST":
            return going.ask(request, going.of_clearing(kept, _consequences(kept, user)))
        forgetting.clear_conversation(
            user=user, conversation=kept, forget_memories=bool(request.POST.get("memories"))
        )
    messages.success(request, going.cleared())
    return leave(request, reverse("conversation", args=[conversation_id]))


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_delete(request: HttpRequest, conversation_id: str) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        found = showing.opened(user, conversation_id)
        if request.method != "POST":
            return going.ask(request, _what_goes(found, user))
        if found.passing is not None:
            temporary.erase(found.passing)
        elif found.kept is not None:
            forgetting.forget_conversation(
                user=user,
                conversation=found.kept,
                forget_memories=bool(request.POST.get("memories")),
            )
    words = _("The temporary chat is gone.") if found.is_temporary else forgotten()
    messages.success(request, words)
    return leave(request, reverse("chat_home"))


def _what_goes(found: Opened, user: User) -> dict[str, Any]:
    if found.kept is None:
        assert found.passing is not None
        return going.of_temporary(found.passing)
    return going.of_deleting(found.kept, _consequences(found.kept, user))


def _consequences(kept: Conversation, user: User) -> consequences.Consequences:
    return consequences.of_conversation(kept, user=user)
