"""Language, time zone, appearance, and the switches of what is remembered."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import Invalid
from ops.forms import PreferencesForm, add_problems
from ops.models import Theme
from ops.pages import (
    own_transaction,
    person,
    personal_page,
    remember_settings,
    target,
    way_back,
)
from ops.services import users
from ops.views import data, stored, switches

THEME_COOKIE = "theme"
_A_YEAR = 365 * 24 * 3600


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """As Django's, and kept with the person who is signed in."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        with own_transaction(request):
            users.change_settings(user=person(request), changes={"language": language})
    return i18n.set_language(request)


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Kept with the person, or in a cookie while nobody is signed in."""
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
    return redirect(reverse("data_management") + "#preferences")


@require_POST
@personal_page
def save_preferences(request: HttpRequest) -> HttpResponse:
    form = PreferencesForm(request.POST)
    if form.is_valid():
        try:
            with own_transaction(request):
                users.change_settings(user=person(request), changes=form.cleaned_data)
        except Invalid as error:
            add_problems(form, error)
        else:
            messages.success(request, _("Saved."))
            return redirect(reverse("data_management") + "#preferences")
    with own_transaction(request):
        context = data.page_context(request, preferences=form)
        return render(request, "ops/data_management.html", context, status=422)


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
        return redirect(reverse("data_management") + "#switches")
    with own_transaction(request):
        counts = stored.counts_of(person(request), only=switches.COUNTED)
        context = {"switches": switches.of(own, counts), "changed": True}
        return render(request, "ops/data_management.html#switches", context)
