"""The second factor: the code at sign-in and the page to switch it on and off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import segno
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memcenter.lib.errors import Invalid
from memcenter.providers import openid
from ops.access import as_system, as_user
from ops.accounts import failed_sign_ins, second_factors
from ops.audit import audit_log
from ops.models import Identity, SecondFactor, User
from ops.pages.account import proof, sign_in
from ops.pages.base import own_transaction, person, personal_page
from ops.pages.forms import CodeForm, ProofForm, SecondFactorForm, add_problems

_WAITING_SECONDS = 10 * 60
_NEW_SECRET = "new_second_factor"


@dataclass(frozen=True)
class SetUp:
    """The secret for an app, as a QR code and as text."""

    picture: str
    key: str


@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code; ten wrong codes from any address lock the second step for a while."""
    user = _who_waits(request)
    if user is None:
        return redirect("sign_in")
    if request.method != "POST":
        return _ask(request, CodeForm())
    form, counted = CodeForm(request.POST), f"code:{user.pk}"
    if not form.is_valid():
        return _ask(request, form, status=422)
    if failed_sign_ins.are_used_up(counted, address=""):
        return sign_in.tried_too_often(request)
    with as_user(user):
        opens = second_factors.opens(user=user, code=form.cleaned_data["code"])
    if not opens:
        failed_sign_ins.note_failure(counted, address="")
        audit_log.record("signin.failed", subject=user.subject, details={"step": 2})
        form.add_error(
            "code", _("This code doesn’t work. Each code works once, and only for a short time.")
        )
        return _ask(request, form, status=422)
    failed_sign_ins.forgive(counted, address="")
    way = request.session.pop(second_factors.WAITING)["way"]
    return sign_in.lead_in(request, user, way=way)


def _who_waits(request: HttpRequest) -> User | None:
    """Return the person who recently gave the password in this browser, unless it changed since."""
    waiting = request.session.get(second_factors.WAITING)
    if not waiting or timezone.now().timestamp() - waiting["at"] > _WAITING_SECONDS:
        return None
    with as_system():
        user = User.objects.filter(pk=waiting["user"], is_active=True, hidden_at=None).first()
    if user is None or not constant_time_compare(waiting["account"], user.get_session_auth_hash()):
        return None
    return user


def _ask(request: HttpRequest, form: CodeForm, *, status: int = 200) -> HttpResponse:
    response = render(request, "ops/sign_in_code.html", {"form": form}, status=status)
    patch_cache_control(response, private=True, no_store=True)
    return response


@require_safe
@personal_page
def signin_settings(request: HttpRequest) -> HttpResponse:
    return show(request)


@sensitive_post_parameters("password", "code")
@require_POST
@personal_page
def second_factor_on(request: HttpRequest) -> HttpResponse:
    """Turn it on and show the recovery codes once."""
    form = SecondFactorForm(request.POST, has_password=person(request).has_usable_password())
    secret = str(request.session.get(_NEW_SECRET, ""))
    if not (form.is_valid() and secret and proves(request, form)):
        return show(request, on=form, status=422)
    try:
        with own_transaction(request):
            codes = second_factors.turn_on(
                user=person(request), secret=secret, code=form.cleaned_data["code"]
            )
    except Invalid as error:
        add_problems(form, error)
        return show(request, on=form, status=422)
    del request.session[_NEW_SECRET]
    return show(request, codes=codes)


@sensitive_post_parameters("password")
@require_POST
@personal_page
def second_factor_off(request: HttpRequest) -> HttpResponse:
    form = ProofForm(request.POST, has_password=person(request).has_usable_password())
    if not (form.is_valid() and proves(request, form)):
        return show(request, off=form, status=422)
    with own_transaction(request):
        second_factors.turn_off(person(request))
    messages.success(
        request, _("Two-step verification is off. Your password alone is enough again.")
    )
    return redirect("signin_settings")


@sensitive_post_parameters("password")
@require_POST
@personal_page
def second_factor_renew(request: HttpRequest) -> HttpResponse:
    form = ProofForm(request.POST, has_password=person(request).has_usable_password())
    if not (form.is_valid() and proves(request, form)):
        return show(request, off=form, status=422)
    with own_transaction(request):
        codes = second_factors.renew(person(request))
    return show(request, codes=codes)


def proves(request: HttpRequest, form: ProofForm) -> bool:
    """Check the person's identity; the form gets the reason of a failure."""
    given = form.cleaned_data.get("password", "")
    problem = proof.problem(request, password=given, purpose="signin-settings")
    if problem:
        form.add_error("password" if "password" in form.fields else None, problem)
    return not problem


def show(
    request: HttpRequest,
    *,
    on: SecondFactorForm | None = None,
    off: ProofForm | None = None,
    connecting: ProofForm | None = None,
    codes: Sequence[str] = (),
    lead_on: bool = False,
    status: int = 200,
) -> HttpResponse:
    user = person(request)
    has_password = user.has_usable_password()

    def own(make: Callable[..., ProofForm], form: ProofForm | None, prefix: str) -> ProofForm:
        return form or make(has_password=has_password, auto_id=f"{prefix}_%s")

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
            "has_password": has_password,
            "section": "settings",
        }
        return render(request, "ops/signin_settings.html", context, status=status)


def _set_up(request: HttpRequest, user: User) -> SetUp:
    """Return the pending secret, which stays the same until used, if the page is opened twice."""
    secret = request.session.setdefault(_NEW_SECRET, second_factors.new_secret())
    picture = segno.make(second_factors.address_of(secret, user=user), micro=False)
    key = " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))
    return SetUp(picture.svg_data_uri(scale=4, border=3, dark="#000", light="#fff"), key)
