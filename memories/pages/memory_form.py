"""Views that add a memory, edit it or restore an old version, and the forms of the memory pages."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator, format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from foundation.errors import ApplicationError, NotFound
from memories import review, selectors
from memories.extraction.masking import additions_in_words
from memories.extraction.wording.languages import without_twins
from memories.indexing import search_index
from memories.learning.change_previews import LONGEST
from memories.models import Kind, Memory, MemoryStatus, Origin
from memories.models.memory import OF_PROJECTS
from memories.pages.actions import offer_restore
from memories.pages.memory_rows import is_row, render_changed_rows, shown_tags
from memories.review import ReviewInput
from memories.selectors import ANY
from memories.writing import curation, direct_writes, memory_writes, relations
from memories.writing.direct_writes import MAX_TAG, MAX_TAGS, MemoryInput, WriteResult, kind_of
from ops.pages.base import (
    form_data,
    next_address,
    own_transaction,
    person,
    personal_page,
    redirect_after_form,
    render_page,
)
from ops.pages.forms import ServiceForm

_QUOTED = 80  # characters of a memory in a notice


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_add(request: HttpRequest) -> HttpResponse:
    form = AddForm(form_data(request))
    if form.is_valid():
        with form.refusing():
            written = _add(request, form.cleaned_data)
    if not form.is_valid():
        return _show(request, "memories/memory_add.html", {"form": form})
    report_write_result(request, written)
    page = reverse("memory_page", args=[written.memory.public_id])
    is_new = written.result == "created"
    return redirect_after_form(
        request, next_address(request, default=reverse("memory_list")) if is_new else page
    )


def _add(request: HttpRequest, values: dict[str, Any]) -> WriteResult:
    text = values["content"]
    memory_input = MemoryInput(
        content=text,
        kind=values["kind"] or kind_of(text),
        tags=values["tags"],
        valid_until=values["valid_until"],
    )
    prepared = direct_writes.prepare(memory_input, origin=Origin.USER)
    with own_transaction(request):
        return direct_writes.remember(prepared, user=person(request))


def report_write_result(request: HttpRequest, written: WriteResult) -> None:
    if written.result == "skipped":
        messages.info(request, _("I already knew this; now I’m surer of it."))
    elif written.result == "updated":
        messages.success(request, _("Remembered. It replaces what I knew before."))
    else:
        messages.success(request, _("Remembered."))
    if written.redacted:
        messages.warning(request, _("It contained a secret, which was left out."))
    mention_contradiction(request, written.memory)


def mention_contradiction(request: HttpRequest, memory: Memory) -> None:
    """Warn the user if another memory in use may contradict this one. Both memories stay in use."""
    with own_transaction(request):
        other = relations.unsettled_with(memory)
    if other is not None:
        text = Truncator(additions_in_words(other.content)).chars(_QUOTED)
        words = _("This may conflict with “%(text)s”. Both are used; disable the one that’s wrong.")
        messages.warning(request, words % {"text": text})


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def memory_edit(request: HttpRequest, memory_id: str) -> HttpResponse:
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
    if memory.deleted_at and request.method != "POST":
        return offer_restore(request, memory)
    form = EditForm(form_data(request), memory=memory)
    waits = memory.status == MemoryStatus.CANDIDATE and memory.conflicts_with is None
    in_bin = memory.deleted_at is not None
    context = {"form": form, "memory": memory, "in_bin": in_bin, "waits": waits}
    asks = in_bin and "put_back" not in request.POST
    if not form.is_valid() or form.refuse_if_outdated(memory) or asks:
        return _show(request, "memories/memory_edit.html", context)
    changes = form.changes(memory)
    accepts = waits and "accept" in request.POST
    with form.refusing():
        edited = _change(request, memory, changes)
        if accepts:
            with own_transaction(request):
                decision = ReviewInput(memory.public_id, "accept")
                review.confirm(user=person(request), decisions=[decision])
    if form.errors:
        return _show(request, "memories/memory_edit.html", context)
    if accepts:
        messages.success(request, _("Remembered."))
        return redirect("memory_review")
    if "content" in changes:
        messages.success(request, _("Saved. The old text is in the history."))
    elif changes or memory.deleted_at:
        messages.success(request, _("Saved."))
    else:
        messages.info(request, _("Nothing was changed."))
    if edited.current_version != memory.current_version:
        mention_contradiction(request, edited)
    if is_row(request):
        with own_transaction(request):
            return render_changed_rows(request, [memory.public_id], oob=False)
    page = reverse("memory_page", args=[memory.public_id])
    return redirect_after_form(request, next_address(request, default=page))


def _change(request: HttpRequest, memory: Memory, changes: dict[str, Any]) -> Memory:
    edit = curation.prepare_edit(changes, memory=memory, actor=Origin.USER) if changes else None
    with own_transaction(request):
        if memory.deleted_at:
            memory = curation.restore_from_bin(user=person(request), memory=memory)
        if edit is not None:
            memory = curation.edit(edit, user=person(request), memory=memory)
    return memory


@require_POST
@personal_page
def memory_restore_version(request: HttpRequest, memory_id: str, number: int) -> HttpResponse:
    """Restore the text of an earlier version as a new version."""
    page = reverse("memory_page", args=[memory_id])
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
        old = selectors.versions_of(memory).filter(number=number).first()
    if memory.deleted_at:
        return offer_restore(request, memory)
    if old is None:
        raise NotFound("This version doesn’t exist.")
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
    shown = {"back": next_address(request, default=reverse("memory_list"))} | context
    status = 422 if context["form"].is_bound else 200
    with own_transaction(request):
        if is_row(request):
            context["form"].fields["content"].widget.attrs["autofocus"] = True
            return render(request, f"{template}#inline", shown, status=status)
        return render_page(request, template, shown, status=status)


DAYS = (
    ("", gettext_lazy("any time")),
    ("7", gettext_lazy("last 7 days")),
    ("30", gettext_lazy("last 30 days")),
    ("90", gettext_lazy("last 90 days")),
    ("365", gettext_lazy("last year")),
)
SORT_WORDS = {
    "changed": gettext_lazy("recently changed"),
    "new": gettext_lazy("newest"),
    "old": gettext_lazy("oldest"),
    "used": gettext_lazy("used most"),
    "important": gettext_lazy("most important"),
}
STATUS_WORDS = (
    ("", gettext_lazy("in use or disabled")),
    (MemoryStatus.ACTIVE, gettext_lazy("in use")),
    (MemoryStatus.DISABLED, gettext_lazy("disabled")),
    (MemoryStatus.SUPERSEDED, gettext_lazy("outdated")),
    (MemoryStatus.ARCHIVED, gettext_lazy("archived")),
    (ANY, gettext_lazy("all, except the recycle bin")),
)


class TagsField(forms.CharField):
    """A field for tags that are separated by English or Chinese commas."""

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        text = super().to_python(value) or ""
        parts = text.replace("，", ",").replace("、", ",").split(",")
        return list(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list | tuple) else value

    def validate(self, value: Any) -> None:
        super().validate(value)
        if len(value) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in value):
            words = _("At most %(many)d tags, each of at most %(long)d characters.")
            raise forms.ValidationError(words, params={"many": MAX_TAGS, "long": MAX_TAG})

    def run_validators(self, value: Any) -> None:
        """Do nothing: CharField's validators expect a string."""


class TellForm(ServiceForm):
    """The form for a sentence that corrects or completes the portrait."""

    said = forms.CharField(
        label=gettext_lazy("Something wrong or missing?"),
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Write your correction.")},
    )


_KIND_HINTS = {
    Kind.PREFERENCE: gettext_lazy("what you like or dislike"),
    Kind.FACT: gettext_lazy("something that is true"),
    Kind.CONSTRAINT: gettext_lazy("always kept in mind, such as an allergy"),
    Kind.TASK: gettext_lazy("what you want or have to do"),
    Kind.PATTERN: gettext_lazy("what you do again and again"),
    Kind.SKILL: gettext_lazy("what you can do"),
    Kind.EVENT: gettext_lazy("what happened"),
    Kind.REQUIREMENT: gettext_lazy("what the project must do"),
    Kind.PLAN: gettext_lazy("the steps of a project"),
    Kind.DEVELOPMENT: gettext_lazy("how the project is built"),
    Kind.TESTING: gettext_lazy("how the project is tested"),
    Kind.INSIGHT: gettext_lazy("what was learned from the project"),
}
KIND_CHOICES = [(one.value, format_lazy("{} – {}", one.label, _KIND_HINTS[one])) for one in Kind]
OWN_KINDS = [(value, words) for value, words in KIND_CHOICES if value not in OF_PROJECTS]


class MemoryForm(ServiceForm):
    content = forms.CharField(
        label=gettext_lazy("What should be remembered?"),
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        error_messages={"required": gettext_lazy("Write what should be remembered.")},
    )
    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=OWN_KINDS)
    tags = TagsField(
        label=gettext_lazy("Tags"),
        required=False,
        help_text=gettext_lazy("Separated by commas."),
        max_length=1_000,
    )
    valid_until = forms.DateField(
        label=gettext_lazy("Valid until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=gettext_lazy("After this day it is kept but no longer used."),
    )

    def __init__(self, *args: Any, memory: Memory | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if memory is not None and (memory.project_id or memory.kind in OF_PROJECTS):
            self.fields["kind"].choices = KIND_CHOICES  # type: ignore[attr-defined]
        self.fields["content"].widget.attrs["maxlength"] = settings.MAX_MEMORY_CHARS

    def clean_content(self) -> str:
        content: str = self.cleaned_data["content"].strip()
        if len(content) > settings.MAX_MEMORY_CHARS:
            words = _("A memory has at most %(most)d characters.")
            raise forms.ValidationError(words, params={"most": settings.MAX_MEMORY_CHARS})
        return content

    def clean_valid_until(self) -> datetime | None:
        """Return the end of the chosen day in the user's time zone, so that the day is included."""
        day = self.cleaned_data["valid_until"]
        return timezone.make_aware(datetime.combine(day, time.max)) if day else None


class EditForm(MemoryForm):
    # The number of the version that was shown, used to detect a change made in another tab.
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, *, memory: Memory) -> None:
        until = memory.valid_until
        initial = {
            "content": additions_in_words(memory.content),
            "kind": memory.kind,
            "tags": shown_tags(memory.tags),
            "valid_until": timezone.localtime(until).date() if until else None,
            "seen": memory.current_version,
        }
        super().__init__(data, memory=memory, initial=initial)

    def refuse_if_outdated(self, memory: Memory) -> bool:
        """Return True if the text was changed after this form was shown; if so, add an error.

        The form then contains the number of the current version, so that saving again replaces it.
        """
        seen = self.cleaned_data.pop("seen")
        if seen is None or seen == memory.current_version:
            return False
        self.add_error(
            "content",
            _("This was changed meanwhile to: “%(text)s” Save again to replace it.")
            % {"text": additions_in_words(memory.content)},
        )
        typed = {name: self.data[name] for name in self.data}
        self.data = typed | {"seen": memory.current_version}
        return True

    def changes(self, memory: Memory) -> dict[str, Any]:
        """Return the values that differ from those of the memory.

        The form shows the text without the square brackets around additions. If the user changes
        the text, it is saved without these brackets. Tags of topics are shown in the language of
        the page, but stored unchanged.
        """
        tags = shown_tags(memory.tags)
        before = {
            "content": additions_in_words(memory.content),
            "kind": memory.kind,
            "tags": tags,
            "valid_until": memory.valid_until,
        }
        changes = {name: one for name, one in self.cleaned_data.items() if one != before[name]}
        if "tags" in changes:
            stored = dict(zip(tags, without_twins(memory.tags), strict=True))
            changes["tags"] = without_twins(stored.get(tag, tag) for tag in changes["tags"])
        return changes


class AddForm(MemoryForm):
    """The form for adding a memory; if no kind is chosen, the kind is derived from the text."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        required=False,
        choices=[("", gettext_lazy("Choose automatically")), *OWN_KINDS],
    )


class FilterForm(forms.Form):
    """The form with the search box and the filters; invalid values are ignored."""

    q = forms.CharField(required=False, max_length=400)
    kind = forms.ChoiceField(required=False, choices=[("", ""), *Kind.choices])
    project = forms.CharField(required=False, max_length=100)
    tag = forms.CharField(required=False, max_length=MAX_TAG)
    status = forms.ChoiceField(required=False, choices=STATUS_WORDS)
    origin = forms.ChoiceField(required=False, choices=[("", ""), *Origin.choices])
    days = forms.ChoiceField(required=False, choices=DAYS)
    pinned = forms.BooleanField(required=False)
    sort = forms.ChoiceField(required=False, choices=list(SORT_WORDS.items()))

    def values(self) -> dict[str, Any]:
        self.is_valid()
        return {name: self.cleaned_data.get(name) or "" for name in self.fields}
