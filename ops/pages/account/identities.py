"""Sign in by an OpenID Connect provider, and connect an account with it."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import ApplicationError, Conflict, ProviderError
from memcenter.providers import openid
from memcenter.providers.openid import Claims
from ops.access import as_system
from ops.accounts import identities
from ops.audit import audit_log
from ops.models import User
from ops.pages.account import second_factor, sign_in
from ops.pages.base import own_transaction, person, personal_page
from ops.pages.forms import ProofForm, SignInForm

logger = logging.getLogger(__name__)
_WAY = "oidc_way"
_CONNECTING = "oidc_connecting"
_SECONDS = 10 * 60


@require_safe
def oidc_begin(request: HttpRequest) -> HttpResponse:
    _must_be_on()
    request.session[_WAY] = sign_in.way_in(request)
    try:
        return openid.lead_there(request)
    except ProviderError as error:
        return _failed(request, str(error))


@require_safe
def oidc_return(request: HttpRequest) -> HttpResponse:
    """Sign in, or connect the account of a person who has just requested that."""
    _must_be_on()
    try:
        told = openid.read_claims(request)
    except ProviderError as error:
        return _failed(request, str(error))
    connecting = request.session.pop(_CONNECTING, None)
    if request.user.is_authenticated and _is_of(request, connecting):
        return _connect(request, told)
    try:
        with as_system():
            user = identities.arrive(told, language=get_language() or "")
    except ApplicationError as error:
        return _refused(request, _(error.message))
    if not user.is_active or user.hidden_at is not None:
        return _refused(request, _("This account is closed."), user)
    way = request.session.pop(_WAY, sign_in.way_in(request))
    return sign_in.enter(request, user, way=way)


@sensitive_post_parameters("password")
@require_POST
@personal_page
def identity_connect(request: HttpRequest) -> HttpResponse:
    """Check the person's identity, then show a link, since forms may only lead to our own pages."""
    _must_be_on()
    form = ProofForm(request.POST, has_password=person(request).has_usable_password())
    if not (form.is_valid() and second_factor.proves(request, form)):
        return second_factor.show(request, connecting=form, status=422)
    now = timezone.now().timestamp()
    request.session[_CONNECTING] = {"user": person(request).pk, "at": now}
    return second_factor.show(request, lead_on=True)


@sensitive_post_parameters("password")
@require_POST
@personal_page
def identity_disconnect(request: HttpRequest) -> HttpResponse:
    form = ProofForm(request.POST, has_password=person(request).has_usable_password())
    if not (form.is_valid() and second_factor.proves(request, form)):
        return second_factor.show(request, connecting=form, status=422)
    try:
        with own_transaction(request):
            identities.disconnect(person(request))
    except Conflict as error:
        form.add_error(None, _(error.message))
        return second_factor.show(request, connecting=form, status=422)
    messages.success(request, _("Disconnected."))
    return redirect("signin_settings")


def _connect(request: HttpRequest, told: Claims) -> HttpResponse:
    try:
        with own_transaction(request):
            identities.connect(user=person(request), told=told)
    except Conflict as error:
        messages.error(request, _(error.message))
    else:
        messages.success(request, _("Connected. You can sign in that way from now on."))
    return redirect("signin_settings")


def _is_of(request: HttpRequest, connecting: Any) -> bool:
    if not connecting or connecting["user"] != request.user.pk:
        return False
    return bool(timezone.now().timestamp() - connecting["at"] < _SECONDS)


def _must_be_on() -> None:
    if not openid.is_on():
        raise Http404("No provider signs in here.")


def _failed(request: HttpRequest, reason: str) -> HttpResponse:
    audit_log.record("signin.failed", subject=None, details={"through": "oidc"})
    logger.warning("%s", reason)
    provider = openid.shown_name()
    words = _("Signing in with %(provider)s didn’t work. Please try again.") % {
        "provider": provider
    }
    return _told_at_the_door(request, words, status=502)


def _refused(request: HttpRequest, words: str, user: User | None = None) -> HttpResponse:
    subject = user.subject if user else None
    audit_log.record("signin.failed", subject=subject, details={"through": "oidc"})
    return _told_at_the_door(request, words, status=403)


def _told_at_the_door(request: HttpRequest, words: str, *, status: int) -> HttpResponse:
    if request.user.is_authenticated:
        messages.error(request, words)
        return redirect("signin_settings")
    form = SignInForm({"username": "", "password": ""})
    form.full_clean()
    form.errors.clear()
    form.add_error(None, words)
    return sign_in.show_sign_in(request, form, status=status)
