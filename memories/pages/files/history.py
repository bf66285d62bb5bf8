"""The history of a memory file: its versions, their changes, and restoring one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import ApplicationError, NotFound
from memories.files import file_sync, memory_files
from memories.files.text import line_merge
from memories.models import FileVersion
from ops.pages.base import own_transaction, person, personal_page


@require_safe
@personal_page
def memory_file_history(request: HttpRequest, path: str) -> HttpResponse:
    """Show the versions, newest first, and the changes of the selected one."""
    with own_transaction(request):
        rows = memory_files.versions_of(person(request), path)
        versions = list(rows.defer("content"))
        if not versions:
            raise NotFound("There is no such file.")
        chosen = _chosen(versions, request.GET.get("version", ""))
        context = {
            "path": path,
            "page_url": reverse("memory_file", args=[path]),
            "versions": [_told(one) for one in versions],
            "newest": versions[0].number,
            "chosen": chosen.number,
            "lines": _changes(rows, chosen),
        }
        return render(request, "memories/file_history.html", context)


@require_POST
@personal_page
def memory_file_restore(request: HttpRequest, path: str) -> HttpResponse:
    """Restore an old version, as an ordinary edit."""
    user, number = person(request), request.POST.get("version", "")
    if not (number.isascii() and number.isdigit() and len(number) < 8):
        raise NotFound("There is no such version.")
    with own_transaction(request):
        old = memory_files.version_of(user, path, int(number))
    try:
        ready = memory_files.prepare(old.content, user=user, path=path, surface="page", match="*")
        with own_transaction(request):
            file_sync.edit(ready, user=user)
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect("memory_file_history", path)
    messages.success(
        request, _("The earlier text is restored. What it replaced is in the history.")
    )
    return redirect("memory_file", path)


def _chosen(versions: list[FileVersion], wanted: str) -> FileVersion:
    return next((one for one in versions if str(one.number) == wanted), versions[0])


def _changes(rows: Any, chosen: FileVersion) -> list[line_merge.DiffLine]:
    before = rows.filter(number__lt=chosen.number).first()
    return line_merge.compare(before.content if before else "", chosen.content)


def _told(version: FileVersion) -> dict[str, Any]:
    return {"number": version.number, "at": version.created_at, "who": _who(version.actor)}


def _who(actor: str) -> str:
    words = {
        "page": pgettext("who changed a file", "you, here"),
        "api": pgettext("who changed a file", "a program"),
        "mcp": pgettext("who changed a file", "an assistant"),
        "tool": pgettext("who changed a file", "an assistant"),
        "disk": pgettext("who changed a file", "in its copy"),
    }
    return words.get(actor, pgettext("who changed a file", "from your memories"))
