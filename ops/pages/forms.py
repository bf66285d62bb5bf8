"""Forms for signing in, registering, preferences, keys and deleting everything."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _

from memcenter.lib.errors import Invalid
from ops.accounts import registration
from ops.models import Role, Scope, Theme
from ops.pages import time_zones

PHRASES = ("delete everything", "删除全部")
_OWN_SCOPES = (Scope.READ, Scope.WRITE, Scope.FORGET, Scope.EXPORT)


def add_problems(form: forms.Form, error: Invalid) -> None:
    """Add a service's errors to the fields that they name."""
    named = {name: texts for name, texts in error.fields.items() if name in form.fields}
    for name, texts in named.items():
        form.add_error(name, [gettext(text) for text in texts])
    if not named:
        form.add_error(None, gettext(error.message))


class SignInForm(forms.Form):
    username = forms.CharField(
        label=_("Name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class RegisterForm(forms.Form):
    username = forms.CharField(
        label=_("Name"),
        max_length=150,
        help_text=_("For signing in. It doesn’t have to be your real name."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=_("At least 8 characters."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class PasswordForm(forms.Form):
    current = forms.CharField(
        label=_("Your current password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    password = forms.CharField(
        label=_("New password"),
        strip=False,
        help_text=_("At least 8 characters."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Six digits from the app on your device, or one of your recovery codes."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )


class ProofForm(forms.Form):
    """A form with the password, if the person has one; `proof.problem` checks it."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, has_password: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_password:
            del self.fields["password"]


class RoleForm(ProofForm):
    field_order = ("role", "password")
    role = forms.ChoiceField(label=_("Role"), choices=Role)


class InvitationForm(forms.Form):
    name = forms.CharField(
        label=_("Who is it for?"),
        max_length=100,
        required=False,
        help_text=_("Only you see this, to tell invitations apart."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.TypedChoiceField(
        label=_("Role"),
        coerce=Role,
        choices=[(one.value, one.label) for one in registration.INVITED_ROLES],
        initial=Role.MEMBER,
        help_text=_(
            "A member has their own memory. An auditor also sees the admin, without what people"
            " said. To make somebody an owner, invite them first and change their role then."
        ),
    )


class SecondFactorForm(ProofForm):
    field_order = ("code", "password")
    code = forms.CharField(
        label=_("The six digits that the app shows"),
        max_length=10,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


class PreferencesForm(forms.Form):
    """A form in which any of the three fields may be missing."""

    language = forms.ChoiceField(label=_("Language"), required=False)
    timezone = forms.ChoiceField(
        label=_("Time zone"),
        help_text=_("For times on these pages, and for what “today” means."),
        required=False,
    )
    theme = forms.ChoiceField(label=_("Appearance"), choices=Theme.choices, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        languages = [("", _("Same as the browser")), *settings.LANGUAGES]
        self._field("language").choices = languages
        zone = self.data.get("timezone") or self.initial.get("timezone", "UTC")
        self._field("timezone").choices = time_zones.choices(also=zone)

    def changes(self) -> dict[str, Any]:
        """Return the settings that were sent; the others stay as they are."""
        return {name: value for name, value in self.cleaned_data.items() if name in self.data}

    def keep_to(self, *names: str) -> None:
        """Ask for these alone, and for a language that is one."""
        for name in set(self.fields) - set(names):
            del self.fields[name]
        self._field("language").choices = settings.LANGUAGES
        self._field("timezone").widget.attrs["data-time-zone-field"] = ""

    def _field(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field


class KeyForm(forms.Form):
    name = forms.CharField(
        label=_("What is it for?"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": _("My notebook"), "autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Permissions"),
        initial=[Scope.READ, Scope.WRITE],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label=_("Expires"),
        coerce=int,
        initial=90,
        choices=[
            (30, _("for 30 days")),
            (90, _("for 90 days")),
            (365, _("for a year")),
            (0, _("until you revoke it")),
        ],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes = self.fields["scopes"]
        assert isinstance(scopes, forms.MultipleChoiceField)
        scopes.choices = [(scope.value, SCOPES[scope]) for scope in _OWN_SCOPES]

    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


SCOPES = {
    Scope.READ: gettext_lazy("read what is remembered"),
    Scope.WRITE: gettext_lazy("record messages and write memories"),
    Scope.FORGET: gettext_lazy("forget"),
    Scope.EXPORT: gettext_lazy("export"),
    Scope.SIGNIN: gettext_lazy("make sign-in links"),
    Scope.ADMIN: gettext_lazy("administer"),
}


def scope_words(scopes: Iterable[str]) -> list[Any]:
    return [SCOPES[scope] for scope in Scope if scope in scopes]


class ForgetEverythingForm(forms.Form):
    phrase = forms.CharField(required=False)
    password = forms.CharField(required=False, strip=False)

    def clean_phrase(self) -> str:
        phrase = str(self.cleaned_data["phrase"])
        if phrase.casefold() not in PHRASES:
            words = gettext("Type “%(phrase)s” exactly as shown. Nothing was deleted.")
            raise forms.ValidationError(words % {"phrase": gettext("delete everything")})
        return phrase
