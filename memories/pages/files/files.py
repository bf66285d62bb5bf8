"""Pages of memory files: list, view, edit, create."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memcenter.lib.errors import ApplicationError, NotFound, Stale
from memories.files import (
    daily_notes,
    file_contents,
    file_listing,
    file_sync,
    memory_files,
    user_notes,
)
from memories.files.file_edits import Done
from memories.files.memory_files import Applied, Shown
from memories.files.text import line_merge, note_lines
from memories.files.text.display_blocks import blocks_of
from memories.files.text.parse import parse
from memories.files.text.paths import CURATED, LAYERS
from memories.models import FileVersion, Kind
from memories.pages.files.forms import FileText, NewFile, NoteLine
from ops.models import User
from ops.pages.base import own_transaction, person, personal_page

_DAYS = 30  # on one page
_LINES = 200  # of a file, on one page
_SURFACE = "page"
_KINDS = {str(kind.value): kind.label for kind in Kind}


@require_safe
@personal_page
def memory_files_list(request: HttpRequest) -> HttpResponse:
    user = person(request)
    with own_transaction(request):
        days, more = file_listing.days_of(user, before=_before(request), limit=_DAYS)
        context = {
            "curated": file_listing.curated_of(user),
            "layers": file_listing.layers_of(user),
            "own": file_listing.own_of(user),
            "binned": file_listing.binned_of(user),
            "days": days,
            "older": f"?before={days[-1].day.isoformat()}" if more else "",
            "line": NoteLine(),
            "recycle_days": settings.RECYCLE_DAYS,
        }
        return render(request, "memories/file_list.html", context)


@require_safe
@personal_page
def memory_file(request: HttpRequest, path: str) -> HttpResponse:
    """Show the current file; memories in it link to their pages."""
    with own_transaction(request):
        file = _file(person(request), path)
        lines = parse(file.text).lines
        start = _number(request.GET.get("line")) or 0
        shown = lines[start : start + _LINES]
        text = "".join(line.raw for line in shown)
        context = _about(file) | {
            "noted": list(note_lines.read_all(text)) if file_contents.day_of(path) else [],
            "blocks": list(blocks_of(shown)) if path in CURATED else None,
            "text": text,
            "kinds": _KINDS,
            "next_line": start + _LINES if len(lines) > start + _LINES else 0,
            "earlier": start > 0,
        }
        return render(request, "memories/file_page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_file_edit(request: HttpRequest, path: str) -> HttpResponse:
    with own_transaction(request):
        file = _file(person(request), path)
    if file_contents.day_of(path):
        return redirect("memory_file", path)
    if request.method != "POST":
        return _editor(request, file, FileText(initial={"content": file.text, "tag": file.etag}))
    form = FileText(request.POST)
    if not form.is_valid():
        return _editor(request, file, form, status=422)
    try:
        applied = _saved(
            request, path, form.cleaned_data["content"], form.cleaned_data["tag"] or None
        )
    except Stale:
        return _conflict(request, path, form)
    except ApplicationError as error:
        form.refuse(error)
        return _editor(request, file, form, status=422)
    _say_what_became(request, applied.done)
    return redirect("memory_file", path)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_file_add(request: HttpRequest) -> HttpResponse:
    form = NewFile(request.POST or None)
    if request.method == "POST" and form.is_valid():
        path = form.cleaned_data["path"]
        try:
            with own_transaction(request):
                _check_free(request, path)
            _saved(request, path, form.cleaned_data["content"], None, new=True)
            return redirect("memory_file", path)
        except ApplicationError as error:
            form.refuse(error)
    status = 422 if form.is_bound else 200
    with own_transaction(request):
        return render(request, "memories/file_add.html", {"form": form}, status=status)


@require_POST
@personal_page
def memory_file_delete(request: HttpRequest, path: str) -> HttpResponse:
    with own_transaction(request):
        row = file_contents.row_of(person(request), path)
        if row is None or not user_notes.is_own(path):
            raise NotFound("There is no such file.")
        user_notes.recycle([row], user=person(request))
    messages.success(request, _("Moved to the recycle bin. You can restore it on this page."))
    return redirect("memory_files")


@require_POST
@personal_page
def memory_file_take_back(request: HttpRequest, file_id: int) -> HttpResponse:
    try:
        with own_transaction(request):
            file = user_notes.take_back(person(request), file_id=file_id)
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, error.message)
        return redirect("memory_files")
    messages.success(request, _("Restored."))
    return redirect("memory_file", file.path)


@require_POST
@personal_page
def memory_note_add(request: HttpRequest) -> HttpResponse:
    """Add one line to today's note."""
    try:
        with own_transaction(request):
            note = daily_notes.append(request.POST.get("text", ""), user=person(request)).note
    except ApplicationError as error:
        told = [text for texts in error.fields.values() for text in texts]
        messages.error(request, _((told or [error.message])[0]))
        return redirect("memory_files")
    messages.success(request, _("Added to today’s note."))
    return redirect("memory_file", daily_notes.path_of(note.on))


def _saved(
    request: HttpRequest, path: str, text: str, tag: str | None, *, new: bool = False
) -> Applied:
    """Save the file. Raises as `memory_files.prepare` and `apply`."""
    user = person(request)
    ready = memory_files.prepare(text, user=user, path=path, surface=_SURFACE, match=tag, new=new)
    with own_transaction(request):
        return file_sync.edit(ready, user=user)


def _check_free(request: HttpRequest, path: str) -> None:
    if file_contents.row_of(person(request), path) is not None:
        raise ApplicationError(_("There is another file of this name."))
    user_notes.check_room(person(request), path)


def _file(user: User, path: str) -> Shown:
    """Return the file, an empty one for an unwritten persona layer. Raises `NotFound`."""
    if path in LAYERS and file_contents.row_of(user, path) is None:
        return Shown(path, "", 0, timezone.now())
    return memory_files.read(user, path)


def _editor(
    request: HttpRequest, file: Shown, form: FileText, *, status: int = 200, **more: Any
) -> HttpResponse:
    with own_transaction(request):
        context = _about(file) | {"form": form, **more}
        return render(request, "memories/file_edit.html", context, status=status)


def _conflict(request: HttpRequest, path: str, form: FileText) -> HttpResponse:
    """Show both texts and a merged one after a concurrent edit."""
    mine, tag = form.cleaned_data["content"], form.cleaned_data["tag"]
    with own_transaction(request):
        now = _file(person(request), path)
        base = _state(request, path, tag)
    merged = line_merge.merge(base, mine, now.text) if base is not None else None
    text = merged.text if merged else mine
    shown = FileText(initial={"content": text, "tag": now.etag})
    return _editor(
        request,
        now,
        shown,
        status=409,
        conflict=True,
        merged=bool(merged and merged.clean),
        meanwhile=line_merge.compare(base, now.text) if base is not None else None,
        theirs=now.text,
        mine=mine,
    )


def _state(request: HttpRequest, path: str, tag: str) -> str | None:
    """Return the version that the edit started from, or None if it is gone."""
    versions = FileVersion.objects.filter(user=person(request), file__path=path)
    contents = versions.order_by("-number").values_list("content", flat=True)
    return next((text for text in contents if file_contents.etag_of(text) == tag), None)


def _about(file: Shown) -> dict[str, Any]:
    day = file_contents.day_of(file.path)
    return {
        "file": file,
        "day": day,
        "is_curated": file.path in CURATED,
        "is_own": user_notes.is_own(file.path),
        "is_layer": file.path in LAYERS,
        "page_url": reverse("memory_file", args=[file.path]),
    }


def _say_what_became(request: HttpRequest, done: Done) -> None:
    new, changed = len(done.created), len(done.updated)
    binned, waiting = len(done.recycled), len(done.to_review)
    words = [
        (new, ngettext("%(n)d new", "%(n)d new", new)),
        (changed, ngettext("%(n)d changed", "%(n)d changed", changed)),
        (binned, ngettext("%(n)d in the recycle bin", "%(n)d in the recycle bin", binned)),
        (
            waiting,
            ngettext("%(n)d waiting for your review", "%(n)d waiting for your review", waiting),
        ),
    ]
    told = _(", ").join(text % {"n": count} for count, text in words if count)
    messages.success(request, _("Saved: %(what)s.") % {"what": told} if told else _("Saved."))


def _before(request: HttpRequest) -> date | None:
    try:
        return date.fromisoformat(request.GET.get("before", ""))
    except ValueError:
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 8 else None
