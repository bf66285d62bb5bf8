"""Pages for the weekly email: switching it on and off, confirming the address, unsubscribing."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from memcenter.lib.errors import ApplicationError, Invalid, NotFound
from ops import weekly_mail
from ops.access import as_system
from ops.pages import preferences
from ops.pages.base import own_transaction, person, personal_page
from ops.pages.forms import WeeklyMailForm, add_problems
from ops.weekly_mail import Link


@require_POST
@personal_page
def weekly_mail_on(request: HttpRequest) -> HttpResponse:
    """Send an email that asks the person to confirm their address for the weekly email."""
    form = WeeklyMailForm(request.POST)
    if form.is_valid():
        try:
            with own_transaction(request):
                weekly_mail.switch_on(
                    user=person(request),
                    address=form.cleaned_data["address"],
                    language=get_language() or "",
                )
        except Invalid as error:
            add_problems(form, error)
        except ApplicationError as error:
            form.add_error(None, _(error.message))
        else:
            return _back(request, _("Please open the link that was sent to this address."))
    with own_transaction(request):
        return preferences.show_settings(request, mail=form, status=422)


@require_POST
@personal_page
def weekly_mail_off(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        weekly_mail.switch_off(person(request))
    return _back(request, _("The weekly mail is off, and the address is erased."))


def _back(request: HttpRequest, text: str) -> HttpResponse:
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
                raise NotFound("There is no such link any more.")
    except NotFound:
        return _show_link(request, "over", status=410)
    return _show_link(request, "confirmed" if request.method == "POST" else "confirm")


@csrf_exempt  # mail programs post here themselves (RFC 8058); the token is the proof
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
        return _show_link(request, "over", status=410)
    return _show_link(request, "stop" if is_on else "stopped")


def _show_link(request: HttpRequest, state: str, *, status: int = 200) -> HttpResponse:
    context = {"state": state, "days": weekly_mail.CONFIRM_DAYS}
    response = render(request, "ops/weekly_mail_link.html", context, status=status)
    patch_cache_control(response, private=True, no_store=True)
    return response
