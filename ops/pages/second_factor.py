"""Pages for the second factor and for signing in with an account at an OpenID Connect provider."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import segno
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.crypto import constant_time_compare
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foundation.errors import ApplicationError, Conflict, ProviderError
from foundation.providers import openid
from ops import audit_log
from ops.access import as_system, as_user
from ops.accounts import sign_ins
from ops.models import Identity, SecondFactor, User
from ops.pages import sign_in
from ops.pages.base import form_data, own_transaction, person, personal_page
from ops.pages.forms import CodeForm, ProofForm, SecondFactorForm, SignInForm

logger = logging.getLogger(__name__)
_WAITING_SECONDS = 10 * 60
_CONNECTING_SECONDS = 10 * 60
# Session keys.
_NEW_SECRET = "new_second_factor"
_NEXT = "oidc_way"
_CONNECTING = "oidc_connecting"


@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code of the second factor, and sign the person in if it is right.

    After ten wrong codes, even from different addresses, this step is locked for a while.
    """
    user = _person_awaiting_code(request)
    if user is None:
        return redirect("sign_in")
    form, counter = CodeForm(form_data(request)), f"code:{user.pk}"
    if not form.is_valid():
        return _ask_code(request, form)
    if sign_ins.are_attempts_used_up(counter, address=""):
        return sign_in.show_too_many_attempts(request)
    with as_user(user):
        is_right = sign_ins.use_second_factor_code(user=user, code=form.cleaned_data["code"])
    if not is_right:
        sign_ins.note_failure(counter, address="")
        audit_log.record("signin.failed", subject=user.subject, details={"step": 2})
        form.add_error(
            "code", _("This code doesn’t work. Each code works once, and only for a short time.")
        )
        return _ask_code(request, form)
    sign_ins.forgive_failures(counter, address="")
    address = request.session.pop(sign_ins.WAITING)["way"]
    return sign_in.finish_sign_in(request, user, address=address)


def _person_awaiting_code(request: HttpRequest) -> User | None:
    waiting = request.session.get(sign_ins.WAITING)
    if not waiting or timezone.now().timestamp() - waiting["at"] > _WAITING_SECONDS:
        return None
    with as_system():
        user = User.objects.filter(pk=waiting["user"], is_active=True, hidden_at=None).first()
    if user is None or not constant_time_compare(waiting["account"], user.get_session_auth_hash()):
        return None
    return user


def _ask_code(request: HttpRequest, form: CodeForm) -> HttpResponse:
    response = render(request, "ops/sign_in_code.html", {"form": form}, status=form.status)
    patch_cache_control(response, private=True, no_store=True)
    return response


@require_safe
@personal_page
def signin_settings(request: HttpRequest) -> HttpResponse:
    return show_signin_settings(request)


@sensitive_post_parameters("password", "code")
@require_POST
@personal_page
def second_factor_on(request: HttpRequest) -> HttpResponse:
    """Turn the second factor on, and show the recovery codes once."""
    form = SecondFactorForm(request.POST, request=request)
    secret = str(request.session.get(_NEW_SECRET, ""))
    if not (secret and form.is_valid()):
        return show_signin_settings(request, on=form)
    with form.refusing(), own_transaction(request):
        codes = sign_ins.turn_on_second_factor(
            user=person(request), secret=secret, code=form.cleaned_data["code"]
        )
    if form.errors:
        return show_signin_settings(request, on=form)
    del request.session[_NEW_SECRET]
    return show_signin_settings(request, codes=codes)


@sensitive_post_parameters("password")
@require_POST
@personal_page
def second_factor_off(request: HttpRequest) -> HttpResponse:
    form = ProofForm(request.POST, request=request)
    if not form.is_valid():
        return show_signin_settings(request, off=form)
    with own_transaction(request):
        sign_ins.turn_off_second_factor(person(request))
    messages.success(
        request, _("Two-step verification is off. Your password alone is enough again.")
    )
    return redirect("signin_settings")


@sensitive_post_parameters("password")
@require_POST
@personal_page
def second_factor_renew(request: HttpRequest) -> HttpResponse:
    form = ProofForm(request.POST, request=request)
    if not form.is_valid():
        return show_signin_settings(request, off=form)
    with own_transaction(request):
        codes = sign_ins.renew_recovery_codes(person(request))
    return show_signin_settings(request, codes=codes)


def show_signin_settings(
    request: HttpRequest,
    *,
    on: SecondFactorForm | None = None,
    off: ProofForm | None = None,
    connecting: ProofForm | None = None,
    codes: Sequence[str] = (),
    lead_on: bool = False,
) -> HttpResponse:
    user = person(request)

    def own(make: Callable[..., ProofForm], form: ProofForm | None, prefix: str) -> ProofForm:
        return form or make(request=request, auto_id=f"{prefix}_%s")

    with own_transaction(request):
        factor = SecondFactor.objects.filter(user=user).first()
        identity = Identity.objects.filter(user=user).first()
        context = {
            "factor": factor,
            "set_up": None if factor else _set_up(request, user),
            "on": own(SecondFactorForm, on, "on"),
            "off": own(ProofForm, off, "off"),
            "codes": codes,
            "left": len(factor.recovery) if factor else 0,
            "provider": openid.shown_name() if openid.is_on() else "",
            "identity": identity,
            "connecting": own(ProofForm, connecting, "connect"),
            "lead_on": lead_on,
            "has_password": user.has_usable_password(),
            "section": "settings",
        }
        status = 422 if on or off or connecting else 200
        return render(request, "ops/signin_settings.html", context, status=status)


def _set_up(request: HttpRequest, user: User) -> dict[str, str]:
    """Return the secret that an authenticator app needs, as a QR code, a link and text.

    The session keeps the secret until it is used, so that reloading the page doesn't invalidate a
    QR code that was already scanned.
    """
    secret = request.session.setdefault(_NEW_SECRET, sign_ins.new_secret())
    address = sign_ins.app_address(secret, user=user)
    code = segno.make(address, micro=False)
    return {
        "picture": code.svg_data_uri(scale=4, border=3, dark="#000", light="#fff"),
        "address": address,
        "key": " ".join(secret[n : n + 4] for n in range(0, len(secret), 4)),
    }


@require_safe
def oidc_begin(request: HttpRequest) -> HttpResponse:
    _must_be_on()
    request.session[_NEXT] = sign_in.address_after_sign_in(request)
    try:
        return openid.redirect_to_provider(request)
    except ProviderError as error:
        return _failed(request, str(error))


@require_safe
def oidc_return(request: HttpRequest) -> HttpResponse:
    """Sign in the person who comes back from the provider.

    If a signed-in person has just asked to connect an account at the provider, connect it instead.
    """
    _must_be_on()
    try:
        claims = openid.read_claims(request)
    except ProviderError as error:
        return _failed(request, str(error))
    connecting = request.session.pop(_CONNECTING, None)
    is_connecting = (
        connecting
        and connecting["user"] == request.user.pk
        and timezone.now().timestamp() - connecting["at"] < _CONNECTING_SECONDS
    )
    if request.user.is_authenticated and is_connecting:
        try:
            with own_transaction(request):
                sign_ins.connect_identity(user=person(request), claims=claims)
        except Conflict as error:
            messages.error(request, _(error.message))
        else:
            messages.success(request, _("Connected. You can sign in that way from now on."))
        return redirect("signin_settings")
    try:
        with as_system():
            user = sign_ins.find_or_create_by_claims(claims, language=get_language() or "")
    except ApplicationError as error:
        return _refused(request, _(error.message))
    if not user.is_active or user.hidden_at is not None:
        return _refused(request, _("This account is closed."), user)
    address = request.session.pop(_NEXT, sign_in.address_after_sign_in(request))
    return sign_in.sign_in_or_ask_code(request, user, address=address)


@sensitive_post_parameters("password")
@require_POST
@personal_page
def identity_connect(request: HttpRequest) -> HttpResponse:
    """Check the person's identity, then show a link that leads to the provider.

    A redirect wouldn't work, since our content security policy blocks form submissions that are
    redirected to another site.
    """
    _must_be_on()
    form = ProofForm(request.POST, request=request)
    if not form.is_valid():
        return show_signin_settings(request, connecting=form)
    now = timezone.now().timestamp()
    request.session[_CONNECTING] = {"user": person(request).pk, "at": now}
    return show_signin_settings(request, lead_on=True)


@sensitive_post_parameters("password")
@require_POST
@personal_page
def identity_disconnect(request: HttpRequest) -> HttpResponse:
    form = ProofForm(request.POST, request=request)
    if form.is_valid():
        with form.refusing(), own_transaction(request):
            sign_ins.disconnect_identity(person(request))
    if form.errors:
        return show_signin_settings(request, connecting=form)
    messages.success(request, _("Disconnected."))
    return redirect("signin_settings")


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
    return _show_sign_in_error(request, words, status=502)


def _refused(request: HttpRequest, words: str, user: User | None = None) -> HttpResponse:
    subject = user.subject if user else None
    audit_log.record("signin.failed", subject=subject, details={"through": "oidc"})
    return _show_sign_in_error(request, words, status=403)


def _show_sign_in_error(request: HttpRequest, words: str, *, status: int) -> HttpResponse:
    if request.user.is_authenticated:
        messages.error(request, words)
        return redirect("signin_settings")
    form = SignInForm({"username": "", "password": ""})
    form.full_clean()
    form.errors.clear()
    form.add_error(None, words)
    return sign_in.show_sign_in(request, form, status=status)
