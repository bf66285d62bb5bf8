"""The pages that list, show, edit and create memory files, and show their history."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext, pgettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foundation.errors import ApplicationError, Conflict, NotFound, Stale
from memories.files import changes, daily_notes, file_contents, file_sync, grammar, memory_files
from memories.files.file_edits import EditEffect
from memories.files.grammar import CURATED, LAYERS, BadPath, blocks_of, parse
from memories.files.memory_files import AppliedEdit, FileState
from memories.models import FileVersion, Kind
from ops.models import User
from ops.pages.base import day_of, form_data, number_of, own_transaction, person, personal_page
from ops.pages.forms import ServiceForm

_DAYS = 30  # daily notes on one page
_LINES = 200  # lines of a file on one page
_SURFACE = "page"
_KINDS = {str(kind.value): kind.label for kind in Kind}


@require_safe
@personal_page
def memory_files_list(request: HttpRequest) -> HttpResponse:
    user = person(request)
    with own_transaction(request):
        days, more = memory_files.days_of(
            user, before=day_of(request.GET.get("before", "")), limit=_DAYS
        )
        context = {
            "curated": memory_files.curated_of(user),
            "layers": memory_files.layers_of(user),
            "own": memory_files.own_of(user),
            "binned": memory_files.binned_of(user),
            "days": days,
            "older": f"?before={days[-1].day.isoformat()}" if more else "",
            "line": NoteLine(),
            "recycle_days": settings.RECYCLE_DAYS,
        }
        return render(request, "memories/file_list.html", context)


@require_safe
@personal_page
def memory_file(request: HttpRequest, path: str) -> HttpResponse:
    """Show a file in its current state. Memories in it link to their pages."""
    with own_transaction(request):
        file = _file(person(request), path)
        lines = parse(file.text).lines
        start = number_of(request.GET.get("line")) or 0
        shown = lines[start : start + _LINES]
        text = "".join(line.raw for line in shown)
        context = _about(file) | {
            "noted": list(grammar.read_note_lines(text)) if file_contents.day_of(path) else [],
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
    initial = {"content": file.text, "tag": file.etag}
    form = FileText(form_data(request), initial=initial)
    if form.is_valid():
        text, tag = form.cleaned_data["content"], form.cleaned_data["tag"]
        try:
            with form.refusing(Stale):
                applied = _save(request, path, text, tag or None)
        except Stale:
            return _conflict(request, path, text, tag)
    if not form.is_valid():
        return _editor(request, file, form, status=form.status)
    _say_what_became(request, applied.done)
    return redirect("memory_file", path)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_file_add(request: HttpRequest) -> HttpResponse:
    form = NewFile(form_data(request))
    if form.is_valid():
        path = form.cleaned_data["path"]
        with form.refusing():
            with own_transaction(request):
                if file_contents.row_of(person(request), path) is not None:
                    raise Conflict("A file with this name already exists.")
                memory_files.check_room_for_note(person(request), path)
            _save(request, path, form.cleaned_data["content"], None, new=True)
    if form.is_valid():
        return redirect("memory_file", path)
    with own_transaction(request):
        return render(request, "memories/file_add.html", {"form": form}, status=form.status)


@require_POST
@personal_page
def memory_file_delete(request: HttpRequest, path: str) -> HttpResponse:
    with own_transaction(request):
        row = file_contents.row_of(person(request), path)
        if row is None or not memory_files.is_own_note(path):
            raise NotFound("This file doesn’t exist.")
        memory_files.recycle_notes([row], user=person(request))
    undo = reverse("memory_file_take_back", args=[row.pk])
    words = _("Moved to the recycle bin. You can restore it on this page.")
    messages.success(request, words, extra_tags=undo)
    return redirect("memory_files")


@require_POST
@personal_page
def memory_file_take_back(request: HttpRequest, file_id: int) -> HttpResponse:
    try:
        with own_transaction(request):
            file = memory_files.restore_note_from_bin(person(request), file_id=file_id)
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect("memory_files")
    messages.success(request, _("Restored."))
    return redirect("memory_file", file.path)


@require_POST
@personal_page
def memory_note_add(request: HttpRequest) -> HttpResponse:
    try:
        with own_transaction(request):
            note = daily_notes.append(request.POST.get("text", ""), user=person(request)).note
    except ApplicationError as error:
        told = [text for texts in error.fields.values() for text in texts]
        messages.error(request, _((told or [error.message])[0]))
        return redirect("memory_files")
    messages.success(request, _("Added to today’s note."))
    return redirect("memory_file", daily_notes.path_of(note.on))


def _save(
    request: HttpRequest, path: str, text: str, tag: str | None, *, new: bool = False
) -> AppliedEdit:
    user = person(request)
    ready = memory_files.prepare(text, user=user, path=path, surface=_SURFACE, match=tag, new=new)
    with own_transaction(request):
        return file_sync.edit(ready, user=user)


def _file(user: User, path: str) -> FileState:
    if path in LAYERS and file_contents.row_of(user, path) is None:
        return FileState(path, "", 0, timezone.now())
    return memory_files.read(user, path)


def _editor(
    request: HttpRequest, file: FileState, form: FileText, *, status: int = 200, **more: Any
) -> HttpResponse:
    with own_transaction(request):
        context = _about(file) | {"form": form, **more}
        return render(request, "memories/file_edit.html", context, status=status)


def _conflict(request: HttpRequest, path: str, mine: str, tag: str) -> HttpResponse:
    with own_transaction(request):
        now = _file(person(request), path)
        versions = FileVersion.objects.filter(user=person(request), file__path=path)
        texts = versions.order_by("-number").values_list("content", flat=True)
        base = next((text for text in texts if file_contents.etag_of(text) == tag), None)
    merged = changes.merge_lines(base, mine, now.text) if base is not None else None
    text = merged.text if merged else mine
    return _editor(
        request,
        now,
        FileText(initial={"content": text, "tag": now.etag}),
        status=409,
        conflict=True,
        merged=bool(merged and merged.clean),
        meanwhile=changes.compare_lines(base, now.text) if base is not None else None,
        theirs=now.text,
        mine=mine,
    )


def _about(file: FileState) -> dict[str, Any]:
    day = file_contents.day_of(file.path)
    return {
        "file": file,
        "day": day,
        "is_curated": file.path in CURATED,
        "is_own": memory_files.is_own_note(file.path),
        "is_layer": file.path in LAYERS,
        "page_url": reverse("memory_file", args=[file.path]),
    }


def _say_what_became(request: HttpRequest, done: EditEffect) -> None:
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


@require_safe
@personal_page
def memory_file_history(request: HttpRequest, path: str) -> HttpResponse:
    """Show the versions of a file, newest first, and the changes of the selected version."""
    with own_transaction(request):
        rows = memory_files.versions_of(person(request), path)
        versions = list(rows.defer("content"))
        if not versions:
            raise NotFound("This file doesn’t exist.")
        wanted = request.GET.get("version", "")
        chosen = next((one for one in versions if str(one.number) == wanted), versions[0])
        before = rows.filter(number__lt=chosen.number).first()
        context = {
            "path": path,
            "page_url": reverse("memory_file", args=[path]),
            "versions": [
                {"number": one.number, "at": one.created_at, "who": _who(one.actor)}
                for one in versions
            ],
            "newest": versions[0].number,
            "chosen": chosen.number,
            "lines": changes.compare_lines(before.content if before else "", chosen.content),
        }
        return render(request, "memories/file_history.html", context)


@require_POST
@personal_page
def memory_file_restore(request: HttpRequest, path: str) -> HttpResponse:
    """Restore an old version of a file by saving its text as an ordinary edit."""
    user, number = person(request), number_of(request.POST.get("version"))
    if number is None:
        raise NotFound("This version doesn’t exist.")
    with own_transaction(request):
        old = memory_files.version_of(user, path, number)
    try:
        _save(request, path, old.content, "*")
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect("memory_file_history", path)
    messages.success(
        request, _("The earlier text is restored. What it replaced is in the history.")
    )
    return redirect("memory_file", path)


def _who(actor: str) -> str:
    words = {
        "page": pgettext("who changed a file", "you, here"),
        "api": pgettext("who changed a file", "a program"),
        "mcp": pgettext("who changed a file", "an assistant"),
        "tool": pgettext("who changed a file", "an assistant"),
        "disk": pgettext("who changed a file", "in its copy"),
    }
    return words.get(actor, pgettext("who changed a file", "from your memories"))


class FileText(ServiceForm):
    """The form for editing a whole file. `tag` is the ETag of the version that is edited."""

    tag = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)
    content = forms.CharField(
        label=gettext_lazy("The file"),
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 24, "dir": "auto", "spellcheck": "true", "class": "file-text"}
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["content"].widget.attrs["maxlength"] = settings.MAX_FILE_BYTES

    def clean_content(self) -> str:
        """Return the text with LF line endings, since browsers submit CRLF."""
        return str(self.cleaned_data["content"]).replace("\r\n", "\n")


class NewFile(FileText):
    path = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=grammar.LONGEST,
        help_text=gettext_lazy("For example “recipes/bread.md”. A slash makes a folder."),
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Give it a name.")},
    )
    field_order = ("path", "content")

    def clean_path(self) -> str:
        try:
            path = grammar.below_root(f"{grammar.ROOT}/{self.cleaned_data['path'].strip()}")
        except BadPath as problem:
            raise forms.ValidationError(gettext(str(problem))) from problem
        if not path or not memory_files.is_own_note(path):
            raise forms.ValidationError(_("This name belongs to another kind of file."))
        return path


class NoteLine(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("A line for today’s note"),
        max_length=settings.MAX_MEMORY_CHARS,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
