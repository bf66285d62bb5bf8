"""Forms on the account pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from foundation.errors import ApplicationError, NotFound
from ops.accounts import registration
from ops.models import Role, Scope, Theme
from ops.pages.base import person, proof_problem
from ops.pages.time_zones import time_zone_choices

PHRASES = ("delete everything", "删除全部")
_OWN_SCOPES = (Scope.READ, Scope.WRITE, Scope.FORGET, Scope.EXPORT)
SCOPES = {
    Scope.READ: gettext_lazy("read what is remembered"),
    Scope.WRITE: gettext_lazy("record messages and write memories"),
    Scope.FORGET: gettext_lazy("forget"),
    Scope.EXPORT: gettext_lazy("export"),
    Scope.SIGNIN: gettext_lazy("make sign-in links"),
    Scope.ADMIN: gettext_lazy("administer"),
}
# A phone must not capitalise or correct a login name.
_LOGIN_NAME = {
    "autocomplete": "username",
    "autocapitalize": "none",
    "autocorrect": "off",
    "spellcheck": "false",
    "autofocus": True,
}


class ServiceForm(forms.Form):
    """A form whose values are also validated by a service."""

    def refuse(self, error: ApplicationError) -> None:
        """Add the errors of a service to the form, next to the fields they refer to."""
        named = {name: texts for name, texts in error.fields.items() if name in self.fields}
        for name, texts in named.items():
            self.add_error(name, [gettext(text) for text in texts])
        if not named:
            self.add_error(None, gettext(error.message))

    @contextmanager
    def refusing(self, *unless: type[ApplicationError]) -> Iterator[None]:
        """Catch an error that a service raises in the `with` block, and add it to the form.

        `NotFound` and the errors in `unless` are not caught.
        """
        try:
            yield
        except ApplicationError as error:
            if isinstance(error, (NotFound, *unless)):
                raise
            self.refuse(error)

    @property
    def status(self) -> int:
        """Return the HTTP status of a page that shows this form."""
        return 422 if self.errors else 200


def _login_name(help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=pgettext_lazy("sign in", "Name"),
        max_length=150,
        help_text=help_text,
        widget=forms.TextInput(attrs=_LOGIN_NAME),
    )


def _password(label: Any, *, is_new: bool = False, required: bool = True) -> forms.CharField:
    autocomplete = "new-password" if is_new else "current-password"
    return forms.CharField(
        label=label,
        strip=False,
        required=required,
        help_text=_("At least 8 characters.") if is_new else "",
        widget=forms.PasswordInput(attrs={"autocomplete": autocomplete}),
    )


class SignInForm(ServiceForm):
    username = _login_name()
    password = _password(_("Password"))


class RegisterForm(ServiceForm):
    username = _login_name(_("For signing in. It doesn’t have to be your real name."))
    password = _password(_("Password"), is_new=True)


class PasswordForm(ServiceForm):
    current = _password(_("Your current password"))
    password = _password(_("New password"), is_new=True)


class CodeForm(ServiceForm):
    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("Six digits from the app on your device, or one of your recovery codes."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )


class ProofForm(ServiceForm):
    """A form that requires the password or, for a person without one, a recent sign-in.

    `refused` is the error text if this proof fails; `%(problem)s` is the reason.
    """

    purpose = "signin-settings"
    refused: Promise | str = "%(problem)s"
    password = _password(_("Your password"), required=False)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request
        if not person(request).has_usable_password():
            del self.fields["password"]

    def clean(self) -> None:
        """Check the proof of identity, unless another field is invalid."""
        if self.errors:
            return
        password = self.cleaned_data.get("password", "")
        problem = proof_problem(self._request, password=password, purpose=self.purpose)
        if problem:
            words = str(self.refused) % {"problem": problem}
            self.add_error("password" if "password" in self.fields else None, words)


class RoleForm(ProofForm):
    field_order = ("role", "password")
    role = forms.ChoiceField(label=_("Role"), choices=Role)


class InvitationForm(ServiceForm):
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
            "A member has their own memory. An auditor also sees the admin area, but not"
            " what people said. To make someone an owner, invite them first, then change their"
            " role."
        ),
    )


class SecondFactorForm(ProofForm):
    field_order = ("code", "password")
    code = forms.CharField(
        label=_("The six digits that the app shows"),
        max_length=10,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


class PreferencesForm(ServiceForm):
    """The form for name, language, time zone and theme. A request may contain only some of them."""

    display_name = forms.CharField(
        label=_("Your name"),
        max_length=150,
        required=False,
        help_text=_("Shown on these pages. You sign in with the same login name as before."),
        widget=forms.TextInput(attrs={"autocomplete": "nickname", "dir": "auto"}),
    )
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
        self._field("timezone").choices = time_zone_choices(also=zone)

    def changes(self) -> dict[str, Any]:
        """Return the submitted settings, without the name; other settings stay unchanged."""
        sent = {name: value for name, value in self.cleaned_data.items() if name in self.data}
        sent.pop("display_name", None)
        return sent

    @property
    def new_name(self) -> str | None:
        """Return the name that was submitted, or None if the request contains no name."""
        return self.cleaned_data.get("display_name") if "display_name" in self.data else None

    def _field(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field


class WelcomeForm(PreferencesForm):
    """The form at the first sign-in. A script preselects the browser's time zone."""

    # Setting inherited fields to None removes them.
    display_name = None  # type: ignore[assignment]
    theme = None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._field("language").choices = settings.LANGUAGES
        self._field("timezone").widget.attrs["data-time-zone-field"] = ""


class WeeklyMailForm(ServiceForm):
    address = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class KeyForm(ServiceForm):
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
            (30, _("in 30 days")),
            (90, _("in 90 days")),
            (365, _("in a year")),
            (0, _("never, until you revoke it")),
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


def scope_words(scopes: Iterable[str]) -> list[Any]:
    return [SCOPES[scope] for scope in Scope if scope in scopes]


class ForgetEverythingForm(ProofForm):
    field_order = ("phrase", "password")
    purpose = "forget"
    refused = _("%(problem)s Nothing was deleted.")
    phrase = forms.CharField(required=False)

    def clean_phrase(self) -> str:
        phrase = str(self.cleaned_data["phrase"])
        if phrase.casefold() not in PHRASES:
            words = gettext("Type “%(phrase)s” exactly as shown. Nothing was deleted.")
            raise forms.ValidationError(words % {"phrase": gettext("delete everything")})
        return phrase
