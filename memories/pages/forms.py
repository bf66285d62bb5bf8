from __future__ import annotations

from datetime import datetime, time
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from memcenter.lib.errors import ApplicationError
from memories.learning.told_changes import LONGEST
from memories.models import Kind, Memory, MemoryStatus, Origin
from memories.writing.direct_writes import MAX_TAG, MAX_TAGS

# The services' messages about a user's own input, listed here for translation.
_SAID_BY_SERVICES = (
    gettext_noop("This looks like a secret, and secrets are not remembered."),
    gettext_noop("Long-term memory is switched off for this user."),
    gettext_noop("Everything of this user is being forgotten; try again when that is done."),
    gettext_noop("This memory waits for your review or was replaced; decide on it first."),
    gettext_noop("This version was forgotten and can't be restored."),
    gettext_noop("There is no such version."),
    gettext_noop("This is too large."),
)
DAYS = (
    ("", _("any time")),
    ("7", _("last 7 days")),
    ("30", _("last 30 days")),
    ("90", _("last 90 days")),
    ("365", _("last year")),
)
SORT_WORDS = {
    "changed": _("recently changed"),
    "new": _("newest"),
    "old": _("oldest"),
    "used": _("used most"),
    "important": _("most important"),
}
STATUS_WORDS = (
    ("", _("in use or disabled")),
    (MemoryStatus.ACTIVE, _("in use")),
    (MemoryStatus.DISABLED, _("disabled")),
    (MemoryStatus.SUPERSEDED, _("superseded")),
    (MemoryStatus.ARCHIVED, _("archived")),
)


class TagsField(forms.CharField):
    """Tags, separated by English or Chinese commas."""

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
        """Skip CharField's validators, which expect a single text."""


class RefusableForm(forms.Form):
    def refuse(self, error: ApplicationError) -> None:
        """Show a service's errors at the fields that they name."""
        named = {name: texts for name, texts in error.fields.items() if name in self.fields}
        for name, texts in named.items():
            self.add_error(name, [gettext(text) for text in texts])
        if not named:
            self.add_error(None, gettext(error.message))


class TellForm(RefusableForm):
    """A sentence under the portrait that corrects it or adds to it."""

    said = forms.CharField(
        label=_("Something wrong or missing?"),
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": _("Write your correction.")},
    )


class MemoryForm(RefusableForm):
    """A memory as its owner edits it."""

    content = forms.CharField(
        label=_("What should be remembered?"),
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        error_messages={"required": _("Write what should be remembered.")},
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=Kind.choices)
    tags = TagsField(
        label=_("Tags"), required=False, help_text=_("Separated by commas."), max_length=1_000
    )
    valid_until = forms.DateField(
        label=_("Valid until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("After this day it is kept but no longer used."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.fields["content"].widget.attrs["maxlength"] = settings.MAX_MEMORY_CHARS

    @classmethod
    def of(cls, memory: Memory) -> MemoryForm:
        until = memory.valid_until
        return cls(
            initial={
                "content": memory.content,
                "kind": memory.kind,
                "tags": memory.tags,
                "valid_until": timezone.localtime(until).date() if until else None,
            }
        )

    def clean_content(self) -> str:
        content: str = self.cleaned_data["content"].strip()
        if len(content) > settings.MAX_MEMORY_CHARS:
            words = _("A memory has at most %(most)d characters.")
            raise forms.ValidationError(words, params={"most": settings.MAX_MEMORY_CHARS})
        return content

    def clean_valid_until(self) -> datetime | None:
        """Return the end of the day in the user's time zone: the whole day still counts."""
        day = self.cleaned_data["valid_until"]
        return timezone.make_aware(datetime.combine(day, time.max)) if day else None

    def changes(self, memory: Memory) -> dict[str, Any]:
        """Return the fields that differ from the memory."""
        before = {
            "content": memory.content,
            "kind": memory.kind,
            "tags": memory.tags,
            "valid_until": memory.valid_until,
        }
        return {name: value for name, value in self.cleaned_data.items() if value != before[name]}


class AddForm(MemoryForm):
    """A new memory; the kind may be left empty, to be guessed."""

    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("Choose automatically")), *Kind.choices]
    )


class FilterForm(forms.Form):
    """The search box and the filters beside it; invalid values are ignored."""

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
