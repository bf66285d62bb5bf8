"""Export and import pages: confirmation and download."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations.importing import file_import
from conversations.pages import conversation_list
from conversations.recording import conversation_names
from memcenter.lib.errors import ApplicationError
from memcenter.uploads import is_too_large
from ops.audit import audit_log
from ops.pages.account import proof
from ops.pages.base import leave, own_transaction, person, personal_page, render_page
from ops.pages.error_texts import said
from ops.transfer import export_requests
from ops.transfer.downloads import as_attachment
from ops.transfer.export_requests import FORMATS

# Messages of readers and services, listed here for translation.
SAID = (
    gettext_noop("not valid JSON in UTF-8"),
    gettext_noop("not a JSON object"),
    gettext_noop("not a JSON list"),
    gettext_noop("the message has no text"),
    gettext_noop("the text holds characters that can't be stored"),
    gettext_noop("an id is empty, too long or holds control characters"),
    gettext_noop("the id of the message is used twice in its conversation"),
    gettext_noop("the time can't be read"),
    gettext_noop("the time zone is unknown"),
    gettext_noop("the day isn't a date"),
    gettext_noop("the role is neither user nor assistant"),
    gettext_noop("the kind of conversation is neither main nor group"),
    gettext_noop("the speaker is none of the two of this dialogue"),
    gettext_noop("the person has no name"),
    gettext_noop("nothing in it can be imported"),
    gettext_noop("the line is no memory"),
    gettext_noop("it is damaged"),
    gettext_noop("it holds too many files"),
    gettext_noop("it is locked with a password"),
    gettext_noop("it holds links or names that lead out of it"),
    gettext_noop("it is packed in a way that isn't supported"),
    gettext_noop("it holds the file to import more than once"),
    gettext_noop("it holds another zip; unpack that first"),
    gettext_noop("it holds neither memory-center.json nor conversations.json"),
    gettext_noop("it unpacks to far more than it should"),
    gettext_noop("The file is nested too deep to be read."),
    gettext_noop("The file is empty."),
    gettext_noop("The file was erased; please choose it again."),
    gettext_noop("The file is not in UTF-8; save it in UTF-8 first."),
    gettext_noop("The file is in none of the formats that can be imported."),
    gettext_noop("The export was made by another version and can't be read."),
    gettext_noop("The export is cut off: its end is missing."),
)
_TEMPLATE = "ops/export_ask.html"


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def export_everything(request: HttpRequest) -> HttpResponse:
    """Export everything, after the password or a recent sign-in."""
    format = _format(request)
    if request.method != "POST":
        return _ask_everything(request, format)
    password = request.POST.get("password", "")
    problem = proof.problem(request, password=password, purpose="export")
    if problem:
        return _ask_everything(request, format, problem)
    with own_transaction(request):
        export_requests.request(user=person(request), format=format, actor="user", surface="page")
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
        return render_page(request, _TEMPLATE, context, status=422 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def conversation_export(request: HttpRequest, conversation_id: str) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        conversation = conversation_names.resolve(user=user, reference=conversation_id)
        if request.method == "POST":
            export_requests.request(
                user=user,
                format=_format(request),
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
            "formats": _formats(_format(request)),
            "cancel_href": row.url,
        }
        return render_page(request, _TEMPLATE, context)


@require_safe
@personal_page
def export_download(request: HttpRequest, op_id: str) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        export = export_requests.ready(user=user, op_id=op_id)
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
        _import(request)
    except ApplicationError as error:
        messages.error(request, said(error.message))
    else:
        messages.success(
            request,
            _("The file has arrived and is being read. Either all of it is imported or nothing."),
        )
    return _to_transfers(request)


def _import(request: HttpRequest) -> None:
    if is_too_large(request.META.get("CONTENT_LENGTH")):
        raise file_import.too_large()
    file: Any = request.FILES.get("file")
    if file is None:
        raise ApplicationError(_("Please choose a file first."))
    with own_transaction(request):
        file_import.request(
            user=person(request), file=file, size=file.size, actor="user", surface="page"
        )


def _format(request: HttpRequest) -> str:
    wanted = request.POST.get("format") or request.GET.get("format") or ""
    return wanted if wanted in FORMATS else "zip"


def _formats(chosen: str) -> list[dict[str, Any]]:
    return [
        {
            "name": "zip",
            "label": _("To read and keep"),
            "help": _("A zip with pages to read, plus everything for other programs."),
            "checked": chosen == "zip",
        },
        {
            "name": "json",
            "label": _("For other programs"),
            "help": _("One JSON file that can be imported again without loss."),
            "checked": chosen == "json",
        },
    ]


def _to_transfers(request: HttpRequest) -> HttpResponse:
    return leave(request, reverse("data_management") + "#transfers")
