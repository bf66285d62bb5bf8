"""Adding a memory and changing one; each is a page, and a dialog where htmx asks for it."""

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
from memories.forms import AddForm, MemoryForm
from memories.models import Memory, MemoryStatus, Origin
from memories.services import curating, indexing, remembering
from memories.services import writing as versions
from memories.services.kinds import kind_of
from memories.services.remembering import MemoryInput, Written
from memories.views.rows import is_row, row_again
from ops.pages import (
    leave,
    own_transaction,
    person,
    personal_page,
    render_page,
    way_back,
)


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
    _say_what_became(request, written)
    return leave(request, _after_adding(request, written))


def _add(request: HttpRequest, values: dict[str, Any]) -> Written:
    text = values["content"]
    given = MemoryInput(
        content=text,
        kind=values["kind"] or kind_of(text),
        tags=values["tags"],
        valid_until=values["valid_until"],
    )
    prepared = remembering.prepare(given, origin=Origin.USER)
    with own_transaction(request):
        return remembering.remember(prepared, user=person(request))


def _say_what_became(request: HttpRequest, written: Written) -> None:
    if written.memory.status == MemoryStatus.CANDIDATE:
        messages.warning(request, _("This contradicts something I knew. Please decide."))
    elif written.result == "skipped":
        messages.info(request, _("I knew this already; now I am surer of it."))
    elif written.result == "updated":
        messages.success(request, _("Remembered. It replaces what I knew before."))
    else:
        messages.success(request, _("Remembered."))
    if written.redacted:
        messages.warning(request, _("A secret in it was left out."))


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
        memory = selectors.memory_of(person(request), memory_id, with_bin=False)
    form = MemoryForm(request.POST) if request.method == "POST" else MemoryForm.of(memory)
    context = {"form": form, "memory": memory}
    if request.method != "POST" or not form.is_valid():
        return _show(request, "memories/memory_edit.html", context)
    try:
        _change(request, memory, form.changes(memory))
    except NotFound:
        raise
    except ApplicationError as error:
        form.refuse(error)
        return _show(request, "memories/memory_edit.html", context)
    messages.success(request, _("Saved. The old text is in its history."))
    return _after_editing(request, memory)


def _change(request: HttpRequest, memory: Memory, changes: dict[str, Any]) -> None:
    if not changes:
        return
    edit = curating.prepare_edit(changes, memory=memory, actor=Origin.USER)
    with own_transaction(request):
        curating.edit(edit, user=person(request), memory=memory)


def _after_editing(request: HttpRequest, memory: Memory) -> HttpResponse:
    """A row of the list changes in its place; from elsewhere the page follows."""
    page = reverse("memory_page", args=[memory.public_id])
    if not is_row(request):
        return leave(request, way_back(request, default=page))
    with own_transaction(request):
        return row_again(request, memory)


@require_POST
@personal_page
def memory_restore_version(request: HttpRequest, memory_id: str, number: int) -> HttpResponse:
    """Make an earlier text the present one again; it becomes a version of its own."""
    page = reverse("memory_page", args=[memory_id])
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id, with_bin=False)
        old = selectors.versions_of(memory).filter(number=number).first()
    if old is None:
        raise NotFound("There is no such version.")
    vectors, pieces = indexing.embed_memory(old.content or memory.content)
    try:
        with own_transaction(request):
            memory = selectors.memory_of(person(request), memory_id, with_bin=False)
            versions.restore_version(
                memory, number=number, text=old.content, vectors=vectors, pieces=pieces
            )
    except NotFound:
        raise
    except ApplicationError as error:
        messages.error(request, _(error.message))
        return redirect(page)
    messages.success(request, _("The earlier text is back. What it replaced is in the history."))
    return redirect(page)


def _show(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The page, or its dialog; 422 where the form was filled in wrongly."""
    shown = {"back": way_back(request, default=reverse("memory_list"))} | context
    status = 422 if context["form"].is_bound else 200
    with own_transaction(request):
        if is_row(request):
            context["form"].fields["content"].widget.attrs["autofocus"] = True
            return render(request, f"{template}#inline", shown, status=status)
        return render_page(request, template, shown, status=status)
