"""The settings page: the memory switches, language, time zone and theme."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import Invalid
from ops.accounts import second_factors, users
from ops.models import ApiKey, Theme
from ops.pages import stored_amounts, switches
from ops.pages.base import (
    own_settings,
    own_transaction,
    person,
    personal_page,
    remember_settings,
    target,
    way_back,
)
from ops.pages.forms import PreferencesForm, add_problems

THEME_COOKIE = "theme"
TIME_ZONE_COOKIE = "time_zone_chosen"  # a person who chose UTC isn't asked again
_A_YEAR = 365 * 24 * 3600


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Set the language like Django's view and store it with the signed-in person."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        with own_transaction(request):
            users.change_settings(user=person(request), changes={"language": language})
    return i18n.set_language(request)


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Store the theme with the person, or in a cookie for visitors."""
    theme = request.POST.get("theme", "")
    response = redirect(way_back(request, default="/"))
    if theme not in Theme.values:
        return response
    if request.user.is_authenticated:
        with own_transaction(request):
            users.change_settings(user=person(request), changes={"theme": theme})
    response.set_cookie(THEME_COOKIE, theme, max_age=_A_YEAR, samesite="Lax", httponly=True)
    return response


@require_safe
@personal_page
def settings_page(request: HttpRequest) -> HttpResponse:
    own = own_settings(request)
    initial = {"language": own.language, "timezone": own.timezone, "theme": own.theme}
    with own_transaction(request):
        return _show(request, PreferencesForm(initial=initial))


@require_safe
@personal_page
def welcome(request: HttpRequest) -> HttpResponse:
    """Ask an owner who is here for the first time for language and time zone."""
    form = PreferencesForm(
        initial={"language": get_language(), "timezone": own_settings(request).timezone}
    )
    form.keep_to("language", "timezone")
    context = {"form": form, "next": way_back(request, default=settings.LOGIN_REDIRECT_URL)}
    with own_transaction(request):
        return render(request, "ops/welcome.html", context)


def _show(request: HttpRequest, preferences: PreferencesForm, *, status: int = 200) -> HttpResponse:
    user = person(request)
    keys = ApiKey.objects.filter(user=user, revoked_at__isnull=True)
    context = {
        "section": "settings",
        "preferences": preferences,
        "has_password": user.has_usable_password(),
        "has_second_step": second_factors.of(user) is not None,
        "key_count": keys.count(),
        **_switches(request),
    }
    return render(request, "ops/settings_page.html", context, status=status)


@require_POST
@personal_page
def save_preferences(request: HttpRequest) -> HttpResponse:
    """Save what was sent. The offer of the browser's time zone sends that alone."""
    form = PreferencesForm(request.POST)
    if form.is_valid():
        try:
            with own_transaction(request):
                users.change_settings(user=person(request), changes=form.changes())
        except Invalid as error:
            add_problems(form, error)
        else:
            messages.success(request, _("Saved."))
            response = redirect(
                way_back(request, default=f"{reverse('settings_page')}#preferences")
            )
            if "timezone" in request.POST:
                response.set_cookie(
                    TIME_ZONE_COOKIE, "1", max_age=_A_YEAR, samesite="Lax", httponly=True
                )
            return response
    with own_transaction(request):
        return _show(request, form, status=422)


@require_POST
@personal_page
def set_switch(request: HttpRequest, name: str) -> HttpResponse:
    if name not in users.SWITCHES:
        raise Http404
    is_on = request.POST.get(name) == "on"
    with own_transaction(request):
        own = users.change_settings(user=person(request), changes={name: is_on})
        remember_settings(request, own)
    messages.success(request, switches.said(name, is_on=is_on))
    if target(request) != "switches":
        return redirect(reverse("settings_page") + "#switches")
    with own_transaction(request):
        context = {"changed": True, **_switches(request)}
        return render(request, "ops/settings_page.html#switches", context)


def _switches(request: HttpRequest) -> dict[str, Any]:
    counts = stored_amounts.counts_of(person(request), only=switches.COUNTED)
    return {"switches": switches.of(own_settings(request), counts)}
