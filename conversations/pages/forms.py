from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from conversations.models import Conversation, Rating
from memcenter.lib.errors import ApplicationError

# Messages of services about a person's input, listed here for translation.
_SAID_BY_SERVICES = (
    gettext_noop("The text must not contain NUL characters."),
    gettext_noop("There is no such conversation."),
    gettext_noop("Everything of this user is being forgotten; try again when that is done."),
    gettext_noop("An answer in this conversation is already in progress."),
    gettext_noop("Something newer has been said since. Reload the page to see it."),
    gettext_noop("There is nothing to answer here."),
    gettext_noop("It has changed since then. Its history shows every version."),
    gettext_noop("The earlier text was forgotten, so it can’t be restored."),
)


class MessageForm(forms.Form):
    """A message of the person."""

    text = forms.CharField(
        strip=False, error_messages={"required": _("Write something first.")}, widget=forms.Textarea
    )

    def clean_text(self) -> str:
        # Browsers send CRLF for each line break of a text field.
        text: str = self.cleaned_data["text"].replace("\r\n", "\n").strip()
        if not text:
            raise forms.ValidationError(_("Write something first."))
        if len(text) > settings.MAX_MESSAGE_CHARS:
            words = _("A message has at most %(most)s characters; this one has %(long)s.")
            params = {"most": f"{settings.MAX_MESSAGE_CHARS:,}", "long": f"{len(text):,}"}
            raise forms.ValidationError(words, params=params)
        return text

    def refuse(self, error: ApplicationError) -> None:
        """Show a service's error on the form."""
        texts = [text for given in error.fields.values() for text in given] or [error.message]
        self.add_error("text", [gettext(text) for text in texts])


class TitleForm(forms.Form):
    """The title of a conversation."""

    title = forms.CharField(
        label=_("Name"),
        max_length=Conversation._meta.get_field("title").max_length,
        error_messages={"required": _("Give it a name.")},
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off", "dir": "auto"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)


class RatingForm(forms.Form):
    """Thumbs up, thumbs down or no rating, with an optional reason."""

    comment = forms.CharField(required=False, max_length=2_000)

    rating = forms.ChoiceField(
        required=False,
        choices=[("", ""), *((one, "") for one in Rating.values)],
    )
