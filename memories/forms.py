from __future__ import annotations

from datetime import datetime, time
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from memcenter.lib.errors import ApplicationError
from memories.models import Kind, Memory, MemoryStatus, Origin
from memories.services.remembering import MAX_TAG, MAX_TAGS

# What services say of a person's own input; here so that it is translated.
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
    "changed": _("changed last"),
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
    """Tags, divided by commas of either language."""

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
        """CharField's are for one text."""


class MemoryForm(forms.Form):
    """A memory as its owner writes it."""

    content = forms.CharField(
        label=_("What should be remembered?"),
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        error_messages={"required": _("Write what should be remembered.")},
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=Kind.choices)
    tags = TagsField(
        label=_("Tags"), required=False, help_text=_("Divided by commas."), max_length=1_000
    )
    valid_until = forms.DateField(
        label=_("Holds until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("After this day it is kept but not used."),
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
        """The whole day still counts, in the person's time zone."""
        day = self.cleaned_data["valid_until"]
        return timezone.make_aware(datetime.combine(day, time.max)) if day else None

    def changes(self, memory: Memory) -> dict[str, Any]:
        """What differs from the memory as it stands."""
        before = {
            "content": memory.content,
            "kind": memory.kind,
            "tags": memory.tags,
            "valid_until": memory.valid_until,
        }
        return {name: value for name, value in self.cleaned_data.items() if value != before[name]}

    def refuse(self, error: ApplicationError) -> None:
        """Show what a service found wrong beside the field that it names."""
        named = {name: texts for name, texts in error.fields.items() if name in self.fields}
        for name, texts in named.items():
            self.add_error(name, [gettext(text) for text in texts])
        if not named:
            self.add_error(None, gettext(error.message))


class AddForm(MemoryForm):
    """Writing a new one: the kind may be left to us."""

    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("decide for me")), *Kind.choices]
    )


class FilterForm(forms.Form):
    """The search box and the choices beside it; what makes no sense is left out."""

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
