"""Forms of the memory files' pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from memcenter.lib.errors import ApplicationError
from memories.files import user_notes
from memories.files.text import paths
from memories.files.text.paths import BadPath

_SAID_BY_SERVICES = (
    gettext_noop("A path must not contain control characters or invisible ones."),
    gettext_noop("A name in a path must not begin with a dot."),
    gettext_noop("A name in a path must not begin or end with a space."),
    gettext_noop("The text must not contain NUL characters."),
)


class FileText(forms.Form):
    """A whole file as its owner edits it; `tag` names the version that was edited."""

    tag = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)
    content = forms.CharField(
        label=_("The file"),
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 24, "dir": "auto", "spellcheck": "true", "class": "file-text"}
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.fields["content"].widget.attrs["maxlength"] = settings.MAX_FILE_BYTES

    def clean_content(self) -> str:
        """Normalise line endings: browsers submit CRLF, files here have LF."""
        return str(self.cleaned_data["content"]).replace("\r\n", "\n")

    def refuse(self, error: ApplicationError) -> None:
        """Show a service's errors at the fields that they name."""
        for name, texts in error.fields.items():
            field = name if name in self.fields else "content"
            self.add_error(field, [gettext(text) for text in texts])
        if not error.fields:
            self.add_error(None, gettext(error.message))


class NewFile(FileText):
    """A new note of the user's own, with its path."""

    path = forms.CharField(
        label=_("Name"),
        max_length=paths.LONGEST,
        help_text=_("For example “recipes/bread.md”. A slash makes a folder."),
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
        error_messages={"required": _("Give it a name.")},
    )
    field_order = ("path", "content")

    def clean_path(self) -> str:
        try:
            path = paths.below_root(f"{paths.ROOT}/{self.cleaned_data['path'].strip()}")
        except BadPath as problem:
            raise forms.ValidationError(gettext(str(problem))) from problem
        if not path or not user_notes.is_own(path):
            raise forms.ValidationError(_("This name belongs to another kind of file."))
        return path


class NoteLine(forms.Form):
    """A line for today's note."""

    text = forms.CharField(
        label=_("A line for today's note"),
        max_length=settings.MAX_MEMORY_CHARS,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
