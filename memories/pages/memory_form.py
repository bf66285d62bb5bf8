"""Add or edit a memory: each is a page, or a dialog if htmx requests it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from memcenter.lib.errors import ApplicationError, NotFound
from memories import selectors
from memories.indexing import search_index
from memories.models import Memory, MemoryStatus, Origin
from memories.pages.actions import ask_for_it_back
from memories.pages.forms import AddForm, MemoryForm
from memories.pages.lists.memory_rows import is_row, row_again
from memories.writing import curation, direct_writes, memory_writes
from memories.writing.direct_writes import MemoryInput, Written, kind_of
from ops.pages.base import leave, own_transaction, person, personal_page, render_page, way_back


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_add(request: HttpRequest) -> HttpResponse:
    form = AddForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _show(request, "memories/memory_add.html", {"form": form})
    try:
        written = _add(request, form.cleaned_data)
    except ApplicationError as error:
        form.refuse(error)
        return _show(request, "memories/memory_add.html", {"form": form})
    say_what_became(request, written)
    return leave(request, _after_adding(request, written))


def _add(request: HttpRequest, values: dict[str, Any]) -> Written:
    text = values["content"]
    given = MemoryInput(
        content=text,
        kind=values["kind"] or kind_of(text),
        tags=values["tags"],
        valid_until=values["valid_until"],
    )
    prepared = direct_writes.prepare(given, origin=Origin.USER)
    with own_transaction(request):
        return direct_writes.remember(prepared, user=person(request))


def say_what_became(request: HttpRequest, written: Written) -> None:
    if written.memory.status == MemoryStatus.CANDIDATE:
        messages.warning(request, _("This contradicts something I knew. Please decide."))
    elif written.result == "skipped":
        messages.info(request, _("I already knew this; now I’m surer of it."))
    elif written.result == "updated":
        messages.success(request, _("Remembered. It replaces what I knew before."))
    else:
        messages.success(request, _("Remembered."))
    if written.redacted:
        messages.warning(request, _("It contained a secret, which was left out."))


def _after_adding(request: HttpRequest, written: Written) -> str:
    if written.memory.status == MemoryStatus.CANDIDATE:
        return reverse("memory_review")
    if written.result == "created":
        return way_back(request, default=reverse("memory_list"))
    return reverse("memory_page", args=[written.memory.public_id])


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_edit(request: HttpRequest, memory_id: str) -> HttpResponse:
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
    if memory.deleted_at and request.method != "POST":
        return ask_for_it_back(request, memory)
    form = MemoryForm(request.POST) if request.method == "POST" else MemoryForm.of(memory)
    context = {"form": form, "memory": memory, "in_bin": memory.deleted_at is not None}
    asks = context["in_bin"] and "put_back" not in request.POST
    if request.method != "POST" or not form.is_valid() or asks:
        return _show(request, "memories/memory_edit.html", context)
    try:
        edited = _change(request, memory, form.changes(memory))
    except NotFound:
        raise
    except ApplicationError as error:
        form.refuse(error)
        return _show(request, "memories/memory_edit.html", context)
    if edited.conflicts_with_id and not memory.conflicts_with_id:
        messages.warning(request, _("This contradicts something I knew. Please decide."))
    else:
        messages.success(request, _("Saved. The old text is in the history."))
    return _after_editing(request, memory)


def _change(request: HttpRequest, memory: Memory, changes: dict[str, Any]) -> Memory:
    edit = curation.prepare_edit(changes, memory=memory, actor=Origin.USER) if changes else None
    with own_transaction(request):
        if memory.deleted_at:
            memory = curation.take_back(user=person(request), memory=memory)
        if edit is not None:
            memory = curation.edit(edit, user=person(request), memory=memory)
    return memory


def _after_editing(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Return the changed row to the list; redirect to the page from elsewhere."""
    page = reverse("memory_page", args=[memory.public_id])
    if not is_row(request):
        return leave(request, way_back(request, default=page))
    with own_transaction(request):
        return row_again(request, memory)


@require_POST
@personal_page
def memory_restore_version(request: HttpRequest, memory_id: str, number: int) -> HttpResponse:
    """Restore an earlier text as a new version."""
    page = reverse("memory_page", args=[memory_id])
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
        old = selectors.versions_of(memory).filter(number=number).first()
    if memory.deleted_at:
        return ask_for_it_back(request, memory)
    if old is None:
        raise NotFound("There is no such version.")
    vectors, pieces = search_index.embed_memory(old.content or memory.content)
    try:
        with own_transaction(request):
            memory = selectors.memory_of(person(request), memory_id, with_bin=False)
            memory_writes.restore_version(
                memory, number=number, text=old.content, vectors=vectors, pieces=pieces
            )
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect(page)
    messages.success(
        request, _("The earlier text is restored. What it replaced is in the history.")
    )
    return redirect(page)


def _show(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the page or its dialog, with status 422 if the form is invalid."""
    shown = {"back": way_back(request, default=reverse("memory_list"))} | context
    status = 422 if context["form"].is_bound else 200
    with own_transaction(request):
        if is_row(request):
            context["form"].fields["content"].widget.attrs["autofocus"] = True
            return render(request, f"{template}#inline", shown, status=status)
        return render_page(request, template, shown, status=status)
