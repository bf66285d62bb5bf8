"""Pages to choose a conversation to delete, delete a whole layer of memory, export and import.

The layers are memories, summaries and episodes.
"""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import selectors
from conversations.forgetting import message_forgets
from conversations.importing import file_import
from conversations.pages import conversation_list
from conversations.recording import conversation_names
from foundation.errors import ApplicationError, Invalid
from memcenter.rest.parsers import is_too_large
from memories.forgetting import memory_forgets
from memories.models import Memory
from ops import audit_log
from ops.models import User
from ops.pages import stored_amounts
from ops.pages.base import (
    own_transaction,
    person,
    personal_page,
    proof_problem,
    redirect_after_form,
    render_page,
    target,
)
from ops.pages.operation_rows import error_words, forgotten_words
from ops.transfer import exports
from ops.transfer.exports import FORMATS
from ops.transfer.stored_files import as_attachment

_A_PAGE = 20
_EXPORT = "ops/export_ask.html"
_LONGEST = 200  # characters of a search


@require_safe
@personal_page
def data_conversations(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:_LONGEST]
    with own_transaction(request):
        rows = selectors.conversations_of(person(request), query=query)
        pages = Paginator(rows.order_by("-last_message_at", "-pk"), _A_PAGE)
        page = pages.get_page(request.GET.get("page", "1"))
        context = {"page": page, "query": query, "section": "memory"}
        part = "#list" if target(request) == "list" else ""
        return render(request, f"ops/conversation_choice.html{part}", context)


# For each layer that can be deleted as a whole: the title of its dialog, and what is kept.
_LAYERS = {
    "memory": (
        gettext_lazy("Forget all memories?"),
        (gettext_lazy("your conversations"), gettext_lazy("their summaries and earlier moments")),
    ),
    "summary": (
        gettext_lazy("Delete all summaries?"),
        (gettext_lazy("your conversations"), gettext_lazy("your memories")),
    ),
    "episode": (
        gettext_lazy("Delete all earlier moments?"),
        (gettext_lazy("your conversations"), gettext_lazy("your memories")),
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def data_layer_delete(request: HttpRequest, layer: str) -> HttpResponse:
    if layer not in _LAYERS:
        raise Http404
    with own_transaction(request):
        user = person(request)
        if request.method != "POST":
            part = "#dialog" if target(request) == "dialogs" else ""
            context = _deletion_context(user, layer)
            return render(request, f"ops/layer_delete.html{part}", context)
        if layer != "memory":
            message_forgets.delete_layer(user=user, layer=layer)
        # `visible` includes the memories in the recycle bin and the archive.
        elif memories := list(Memory.visible.filter(user=user).only("pk")):
            memory_forgets.forget_memories(user=user, memories=memories)
    messages.success(request, forgotten_words())
    return redirect_after_form(request, reverse("data_management"))


def _deletion_context(user: User, layer: str) -> dict[str, Any]:
    title, stays = _LAYERS[layer]
    count = stored_amounts.counts_of(user, only=[layer])[layer]
    words = stored_amounts.WORDS[layer](count)
    if layer == "memory":
        words = ngettext(
            "%(n)s memory, with its versions and everything derived from it",
            "%(n)s memories, with their versions and everything derived from them",
            count,
        )
    return {
        "action": reverse("data_layer_delete", args=[layer]),
        "title": title,
        "text": _("This can’t be undone. You will get a receipt."),
        "goes": [
            words % stored_amounts.formatted(count),
            _("finished exports, which may hold a copy"),
        ],
        "stays": stays,
        "confirm": _("Delete"),
        "cancel_href": reverse("data_management"),
    }


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def export_everything(request: HttpRequest) -> HttpResponse:
    """Export all data of the person. Requires the password or a recent sign-in."""
    format = _export_format(request)
    if request.method != "POST":
        return _ask_everything(request, format)
    password = request.POST.get("password", "")
    problem = proof_problem(request, password=password, purpose="export")
    if problem:
        return _ask_everything(request, format, problem)
    with own_transaction(request):
        exports.request_export(user=person(request), format=format, actor="user", surface="page")
    return _to_transfers(request)


def _ask_everything(request: HttpRequest, format: str, problem: str = "") -> HttpResponse:
    context = {
        "section": "memory",
        "title": _("Export everything?"),
        "text": _(
            "One file with all your conversations, memories and their history, files and "
            "settings. Only you can open the link, for one day."
        ),
        "action": reverse("export_everything"),
        "formats": _formats(format),
        "ask_password": person(request).has_usable_password(),
        "errors": [problem] if problem else [],
        "cancel_href": reverse("data_management"),
    }
    with own_transaction(request):
        return render_page(request, _EXPORT, context, status=422 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_export(request: HttpRequest, conversation_id: str) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        conversation = conversation_names.resolve(user=user, reference=conversation_id)
        if request.method == "POST":
            exports.request_export(
                user=user,
                format=_export_format(request),
                actor="user",
                surface="page",
                conversation=(conversation.pk, conversation.public_id),
            )
            return _to_transfers(request)
        row = conversation_list.row_of(conversation)
        context = {
            "section": "chat",
            "title": _("Export this conversation?"),
            "text": _(
                "“%(title)s”: its messages, summaries, earlier moments "
                "and your ratings, in one file."
            )
            % {"title": row.shown_title},
            "action": reverse("conversation_export", args=[conversation.public_id]),
            "formats": _formats(_export_format(request)),
            "cancel_href": row.url,
        }
        return render_page(request, _EXPORT, context)


@require_safe
@personal_page
def export_download(request: HttpRequest, op_id: str) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        export = exports.ready_export(user=user, op_id=op_id)
        audit_log.append(
            "export.downloaded",
            actor="user",
            surface="page",
            subject=user.subject,
            target=op_id,
        )
        return cast(HttpResponse, as_attachment(export))


@require_POST
@personal_page
def import_file(request: HttpRequest) -> HttpResponse:
    try:
        if is_too_large(request.META.get("CONTENT_LENGTH")):
            raise file_import.too_large()
        file: Any = request.FILES.get("file")
        if file is None:
            raise Invalid("Please choose a file first.")
        with own_transaction(request):
            file_import.request(
                user=person(request),
                file=file,
                size=file.size,
                file_name=file.name,
                actor="user",
                surface="page",
            )
    except ApplicationError as error:
        messages.error(request, error_words(error.message))
    else:
        messages.success(request, _("The file has arrived and is being read."))
    return _to_transfers(request)


def _export_format(request: HttpRequest) -> str:
    wanted = request.POST.get("format") or request.GET.get("format") or ""
    return wanted if wanted in FORMATS else FORMATS[0]


def _formats(chosen: str) -> list[dict[str, Any]]:
    return [
        {
            "name": "json",
            "label": _("For other programs"),
            "help": _("One JSON file that can be imported again without loss."),
            "checked": chosen == "json",
        },
        {
            "name": "zip",
            "label": _("To read and keep"),
            "help": _("A zip with pages to read, plus everything for other programs."),
            "checked": chosen == "zip",
        },
    ]


def _to_transfers(request: HttpRequest) -> HttpResponse:
    return redirect_after_form(request, reverse("data_management") + "#transfers")
