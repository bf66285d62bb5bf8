"""Forms on the pages of the account, and the time zones to choose from."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from memcenter.lib.errors import Invalid
from ops.accounts import registration
from ops.models import Role, Scope, Theme

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
Choice = tuple[str, str]
# A phone must not capitalise or correct a login name.
_LOGIN_NAME = {
    "autocomplete": "username",
    "autocapitalize": "none",
    "autocorrect": "off",
    "spellcheck": "false",
    "autofocus": True,
}
_OTHER_NAMES = ("Brazil/", "Canada/", "Chile/", "Mexico/", "US/")
_NEVER_CHOSEN = ("Etc/", "SystemV/", "posix/", "right/", *_OTHER_NAMES)
_CITIES: dict[str, Promise] = {
    "Pacific/Honolulu": _("Honolulu"),
    "America/Anchorage": _("Anchorage"),
    "America/Los_Angeles": _("Los Angeles"),
    "America/Vancouver": _("Vancouver"),
    "America/Denver": _("Denver"),
    "America/Chicago": _("Chicago"),
    "America/Mexico_City": _("Mexico City"),
    "America/New_York": _("New York"),
    "America/Toronto": _("Toronto"),
    "America/Bogota": _("Bogotá"),
    "America/Lima": _("Lima"),
    "America/Halifax": _("Halifax"),
    "America/Santiago": _("Santiago"),
    "America/Sao_Paulo": _("São Paulo"),
    "America/Argentina/Buenos_Aires": _("Buenos Aires"),
    "Atlantic/Reykjavik": _("Reykjavík"),
    "Europe/London": _("London"),
    "Europe/Dublin": _("Dublin"),
    "Europe/Lisbon": _("Lisbon"),
    "Africa/Lagos": _("Lagos"),
    "Europe/Amsterdam": _("Amsterdam"),
    "Europe/Berlin": _("Berlin"),
    "Europe/Madrid": _("Madrid"),
    "Europe/Paris": _("Paris"),
    "Europe/Rome": _("Rome"),
    "Europe/Stockholm": _("Stockholm"),
    "Europe/Vienna": _("Vienna"),
    "Europe/Warsaw": _("Warsaw"),
    "Europe/Zurich": _("Zurich"),
    "Africa/Cairo": _("Cairo"),
    "Africa/Johannesburg": _("Johannesburg"),
    "Europe/Athens": _("Athens"),
    "Europe/Helsinki": _("Helsinki"),
    "Europe/Kyiv": _("Kyiv"),
    "Asia/Jerusalem": _("Jerusalem"),
    "Europe/Istanbul": _("Istanbul"),
    "Europe/Moscow": _("Moscow"),
    "Africa/Nairobi": _("Nairobi"),
    "Asia/Riyadh": _("Riyadh"),
    "Asia/Tehran": _("Tehran"),
    "Asia/Dubai": _("Dubai"),
    "Asia/Karachi": _("Karachi"),
    "Asia/Tashkent": _("Tashkent"),
    "Asia/Kolkata": _("Kolkata"),
    "Asia/Kathmandu": _("Kathmandu"),
    "Asia/Dhaka": _("Dhaka"),
    "Asia/Yangon": _("Yangon"),
    "Asia/Bangkok": _("Bangkok"),
    "Asia/Ho_Chi_Minh": _("Ho Chi Minh City"),
    "Asia/Jakarta": _("Jakarta"),
    "Asia/Shanghai": _("Beijing, Shanghai"),
    "Asia/Urumqi": _("Ürümqi"),
    "Asia/Hong_Kong": _("Hong Kong"),
    "Asia/Macau": _("Macau"),
    "Asia/Taipei": _("Taipei"),
    "Asia/Singapore": _("Singapore"),
    "Asia/Kuala_Lumpur": _("Kuala Lumpur"),
    "Asia/Manila": _("Manila"),
    "Australia/Perth": _("Perth"),
    "Asia/Seoul": _("Seoul"),
    "Asia/Tokyo": _("Tokyo"),
    "Australia/Adelaide": _("Adelaide"),
    "Australia/Brisbane": _("Brisbane"),
    "Australia/Sydney": _("Sydney"),
    "Australia/Melbourne": _("Melbourne"),
    "Pacific/Auckland": _("Auckland"),
}
_REGIONS: dict[str, Promise] = {
    "Africa": pgettext_lazy("part of the world", "Africa"),
    "America": pgettext_lazy("part of the world", "America"),
    "Antarctica": pgettext_lazy("part of the world", "Antarctica"),
    "Arctic": pgettext_lazy("part of the world", "Arctic"),
    "Asia": pgettext_lazy("part of the world", "Asia"),
    "Atlantic": pgettext_lazy("part of the world", "Atlantic"),
    "Australia": pgettext_lazy("part of the world", "Australia"),
    "Europe": pgettext_lazy("part of the world", "Europe"),
    "Indian": pgettext_lazy("part of the world", "Indian"),
    "Pacific": pgettext_lazy("part of the world", "Pacific"),
}


def add_problems(form: forms.Form, error: Invalid) -> None:
    """Add the problems in a service's error to the form fields that the error names."""
    named = {name: texts for name, texts in error.fields.items() if name in form.fields}
    for name, texts in named.items():
        form.add_error(name, [gettext(text) for text in texts])
    if not named:
        form.add_error(None, gettext(error.message))


class SignInForm(forms.Form):
    username = forms.CharField(
        label=pgettext_lazy("sign in", "Name"),
        max_length=150,
        widget=forms.TextInput(attrs=_LOGIN_NAME),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class RegisterForm(forms.Form):
    username = forms.CharField(
        label=pgettext_lazy("sign in", "Name"),
        max_length=150,
        help_text=_("For signing in. It doesn’t have to be your real name."),
        widget=forms.TextInput(attrs=_LOGIN_NAME),
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
    """A form that asks for the password, if the person has one.

    `sign_in.proof_problem` checks the password.
    """

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
    """A form with three fields, each of which may be missing in a request."""

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
        """Return the settings that were submitted; all others must stay unchanged."""
        return {name: value for name, value in self.cleaned_data.items() if name in self.data}

    def keep_to(self, *names: str) -> None:
        """Remove all fields but these, and require that a language is chosen."""
        for name in set(self.fields) - set(names):
            del self.fields[name]
        self._field("language").choices = settings.LANGUAGES
        self._field("timezone").widget.attrs["data-time-zone-field"] = ""

    def _field(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        return field


class WeeklyMailForm(forms.Form):
    address = forms.EmailField(
        label=_("Mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


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


class ForgetEverythingForm(forms.Form):
    phrase = forms.CharField(required=False)
    password = forms.CharField(required=False, strip=False)

    def clean_phrase(self) -> str:
        phrase = str(self.cleaned_data["phrase"])
        if phrase.casefold() not in PHRASES:
            words = gettext("Type “%(phrase)s” exactly as shown. Nothing was deleted.")
            raise forms.ValidationError(words % {"phrase": gettext("delete everything")})
        return phrase


def time_zone_choices(*, also: str = "UTC") -> list[tuple[str, list[Choice]]]:
    """Return the time zones in groups; for cities, with their current UTC offset.

    The zone `also` is always among them.
    """
    now = datetime.now(UTC)
    cities = sorted(_CITIES, key=lambda name: (_offset(name, now), str(_CITIES[name])))
    known = [("UTC", "UTC"), *((name, f"{_CITIES[name]} ({_clock(name, now)})") for name in cities)]
    groups = [(str(_("Cities")), known)]
    for region, members in groupby(_others(), key=lambda name: name.split("/")[0]):
        shown = [(name, name.split("/", 1)[1].replace("_", " ")) for name in members]
        groups.append((str(_REGIONS.get(region, region)), shown))
    if also == "UTC" or _is_usual(also):
        return groups
    return [("", [(also, also)]), *groups]


def time_zone_name(name: str) -> str:
    """Return the name of a zone's city, such as "London" for Europe/London."""
    return str(_CITIES.get(name, name.rpartition("/")[2].replace("_", " ")))


def _offset(name: str, now: datetime) -> timedelta:
    return now.astimezone(zoneinfo.ZoneInfo(name)).utcoffset() or timedelta()


def _clock(name: str, now: datetime) -> str:
    minutes = int(_offset(name, now).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "+" if minutes >= 0 else "−"
    return f"UTC{sign}{hours}" + (f":{rest:02}" if rest else "")


@cache
def _others() -> list[str]:
    names = sorted(zoneinfo.available_timezones())
    return [name for name in names if _is_usual(name) and name not in _CITIES]


def _is_usual(name: str) -> bool:
    return "/" in name and not name.startswith(_NEVER_CHOSEN)
