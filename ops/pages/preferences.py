"""The settings page: memory switches, language, time zone, theme and weekly email."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foundation.errors import NotFound
from ops import weekly_mail
from ops.access import as_system
from ops.accounts import sign_ins, users
from ops.models import ApiKey, Role, Theme
from ops.pages import stored_amounts
from ops.pages.base import (
    next_address,
    own_settings,
    own_transaction,
    person,
    personal_page,
    remember_settings,
    target,
)
from ops.pages.forms import PreferencesForm, WeeklyMailForm, WelcomeForm
from ops.queue import webhook_events
from ops.weekly_mail import Link

THEME_COOKIE = "theme"
TIME_ZONE_COOKIE = "time_zone_chosen"  # a person who chose UTC isn't asked again
WELCOME_COOKIE = "welcome_over"  # an owner who dismissed the first questions isn't asked again
_A_YEAR = 365 * 24 * 3600


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Set the language as Django's view does, and store it in the person's settings."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        with own_transaction(request):
            users.change_settings(user=person(request), changes={"language": language})
    return i18n.set_language(request)


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    response = redirect(next_address(request, default="/"))
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
    with own_transaction(request):
        return show_settings(request)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def welcome(request: HttpRequest) -> HttpResponse:
    """Ask an owner for language and time zone at the first sign-in.

    Other pages link to this page until the owner has answered; a POST removes that link.
    """
    if request.method == "POST":
        response = redirect(next_address(request, default=settings.LOGIN_REDIRECT_URL))
        response.set_cookie(WELCOME_COOKIE, "1", max_age=_A_YEAR, samesite="Lax", httponly=True)
        return response
    form = WelcomeForm(
        initial={"language": get_language(), "timezone": own_settings(request).timezone}
    )
    context = {"form": form, "next": next_address(request, default=settings.LOGIN_REDIRECT_URL)}
    with own_transaction(request):
        return render(request, "ops/welcome.html", context)


def show_settings(
    request: HttpRequest,
    *,
    preferences: PreferencesForm | None = None,
    mail: WeeklyMailForm | None = None,
) -> HttpResponse:
    """Show the settings page. Call it inside the person's transaction.

    `preferences` or `mail` is an invalid form that is shown with its errors.
    """
    user, own = person(request), own_settings(request)
    keys = ApiKey.objects.filter(user=user, revoked_at__isnull=True)
    row = weekly_mail.mail_of(user)
    initial = {
        "display_name": user.shown_name,
        "language": own.language,
        "timezone": own.timezone,
        "theme": own.theme,
    }
    context = {
        "section": "settings",
        "preferences": preferences or PreferencesForm(initial=initial),
        "has_password": user.has_usable_password(),
        "has_second_step": sign_ins.second_factor_of(user) is not None,
        "key_count": keys.count(),
        **_switches(request),
        "mail": row,
        "mail_form": mail or WeeklyMailForm(initial={"address": row.address if row else ""}),
        "mail_offered": weekly_mail.is_offered(),
        "mail_days": weekly_mail.CONFIRM_DAYS,
        "mail_held": row is not None and webhook_events.deliveries_held_since() is not None,
        "is_owner": users.role_of(user) is Role.OWNER,
    }
    status = 422 if preferences or mail else 200
    return render(request, "ops/settings_page.html", context, status=status)


@require_POST
@personal_page
def save_preferences(request: HttpRequest) -> HttpResponse:
    """Save the preferences that were submitted.

    Pages may offer the browser's time zone. Accepting that offer submits only the time zone.
    """
    form = PreferencesForm(request.POST)
    if form.is_valid():
        with form.refusing(), own_transaction(request):
            if form.new_name is not None:
                users.change_name(user=person(request), name=form.new_name)
            users.change_settings(user=person(request), changes=form.changes())
    if form.errors:
        with own_transaction(request):
            return show_settings(request, preferences=form)
    # The next page is shown in the language that was just chosen.
    with override(form.changes().get("language") or get_language()):
        messages.success(request, _("Saved."))
    response = redirect(next_address(request, default=f"{reverse('settings_page')}#preferences"))
    if "timezone" in request.POST:
        response.set_cookie(TIME_ZONE_COOKIE, "1", max_age=_A_YEAR, samesite="Lax", httponly=True)
    return response


@require_POST
@personal_page
def set_switch(request: HttpRequest, name: str) -> HttpResponse:
    if name not in users.SWITCHES:
        raise Http404
    is_on = request.POST.get(name) == "on"
    with own_transaction(request):
        own = users.change_settings(user=person(request), changes={name: is_on})
        remember_settings(request, own)
    words = _("Turned on: %(what)s.") if is_on else _("Turned off: %(what)s.")
    messages.success(request, words % {"what": _switch_texts()[name][0]})
    if target(request) != "switches":
        return redirect(reverse("settings_page") + "#switches")
    with own_transaction(request):
        context = {"changed": True, **_switches(request)}
        return render(request, "ops/settings_page.html#switches", context)


# For each switch with stored data: the kind of the data, and a sentence with the number of rows.
_LAYERS: dict[str, tuple[str, Callable[[int], str]]] = {
    "longterm_enabled": (
        "memory",
        lambda n: ngettext(
            "%(n)s memory is kept, including disabled, outdated and deleted ones.",
            "%(n)s memories are kept, including disabled, outdated and deleted ones.",
            n,
        ),
    ),
    "summary_enabled": (
        "summary",
        lambda n: ngettext("%(n)s summary is kept.", "%(n)s summaries are kept.", n),
    ),
    "episodic_enabled": (
        "episode",
        lambda n: ngettext("%(n)s earlier moment is kept.", "%(n)s earlier moments are kept.", n),
    ),
}


def _switches(request: HttpRequest) -> dict[str, Any]:
    kinds = {kind for kind, _words in _LAYERS.values()}
    counts = stored_amounts.counts_of(person(request), only=kinds)
    own = own_settings(request)
    switches = [_switch(name, counts, is_on=getattr(own, name)) for name in _switch_texts()]
    return {"switches": switches}


def _switch(name: str, counts: dict[str, int], *, is_on: bool) -> dict[str, Any]:
    """Return a memory switch for the page.

    `on` and `off` are sentences that describe the effect of each position. `offer` is the address
    of a page that deletes the stored rows; it is empty if the switch is on or no rows are stored.
    """
    title, on, off = _switch_texts()[name]
    kind, words = _LAYERS.get(name, ("", str))
    count = counts.get(kind, 0)
    return {
        "name": name,
        "title": title,
        "on": on,
        "off": off,
        "kept": words(count) % stored_amounts.formatted(count) if count else "",
        "is_on": is_on,
        "offer": reverse("data_layer_delete", args=[kind]) if count and not is_on else "",
        "action": reverse("set_switch", args=[name]),
    }


def _switch_texts() -> dict[str, tuple[str, str, str]]:
    """Return the texts of the memory switches by name, in the order of the page.

    The texts of a switch are its title and two sentences, which describe its effect when it is on
    and when it is off.
    """
    return {
        "longterm_enabled": (
            _("Long-term memory"),
            _("What will still matter later is remembered from what you say, and used in answers."),
            _(
                "Nothing new is learned from what you say, and nothing learned "
                "before is used in answers."
            ),
        ),
        "summary_enabled": (
            _("Summaries of conversations"),
            _(
                "The older part of a long conversation is summarized, so that "
                "answers still take it into account."
            ),
            _(
                "The older part of a long conversation is no longer "
                "summarized, and earlier summaries aren’t used."
            ),
        ),
        "episodic_enabled": (
            _("Earlier moments"),
            _("“As I said last time” finds what was said before."),
            _("“As I said last time” finds nothing, and nothing new is stored for it."),
        ),
        "confirm_before_remembering": (
            _("Ask before remembering"),
            _("What is learned waits in the review inbox until you approve it."),
            _(
                "What is learned is used at once. Only what I’m not sure of waits in "
                "the review inbox."
            ),
        ),
    }


@require_POST
@personal_page
def weekly_mail_on(request: HttpRequest) -> HttpResponse:
    """Turn on the weekly email. If the address isn't confirmed, an email asks to confirm it."""
    form = WeeklyMailForm(request.POST)
    if form.is_valid():
        with form.refusing(), own_transaction(request):
            weekly_mail.switch_on(
                user=person(request),
                address=form.cleaned_data["address"],
                language=get_language() or "",
            )
    if form.errors:
        with own_transaction(request):
            return show_settings(request, mail=form)
    return _back_to_mail(request, _("Please open the link that was sent to this address."))


@require_POST
@personal_page
def weekly_mail_off(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        weekly_mail.switch_off(person(request))
    return _back_to_mail(request, _("The weekly email is off, and the address is erased."))


def _back_to_mail(request: HttpRequest, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect(f"{reverse('settings_page')}#weekly-mail")


@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
def weekly_mail_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm the address to which this link was sent.

    Opening the link only shows a form, since email programs open links too.
    """
    try:
        with as_system():
            if request.method == "POST":
                weekly_mail.confirm(token)
            elif weekly_mail.find(Link.CONFIRM, token) is None:
                raise NotFound("This link no longer works.")
    except NotFound:
        return _show_mail_link(request, "over", status=410)
    return _show_mail_link(request, "confirmed" if request.method == "POST" else "confirm")


@csrf_exempt  # mail programs send a POST (RFC 8058); the token proves the right
@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
def weekly_mail_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe from the weekly email, without signing in.

    Opening the link only shows a form, since email programs open links too.
    """
    try:
        with as_system():
            if request.method == "POST":
                weekly_mail.stop(token)
            is_on = weekly_mail.find(Link.STOP, token) is not None
    except NotFound:
        return _show_mail_link(request, "over", status=410)
    return _show_mail_link(request, "stop" if is_on else "stopped")


def _show_mail_link(request: HttpRequest, state: str, *, status: int = 200) -> HttpResponse:
    context = {"state": state, "days": weekly_mail.CONFIRM_DAYS}
    response = render(request, "ops/weekly_mail_link.html", context, status=status)
    patch_cache_control(response, private=True, no_store=True)
    return response
