"""Sign in, register and sign out."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memcenter.lib.errors import Invalid
from memcenter.providers import openid
from ops.access import as_system, as_user
from ops.accounts import (
    failed_sign_ins,
    registration,
    roles,
    second_factors,
    users,
    web_sessions,
)
from ops.audit import audit_log
from ops.models import Role, User
from ops.pages.account import sessions
from ops.pages.base import way_back
from ops.pages.forms import RegisterForm, SignInForm, add_problems

FRESH_SECONDS = 10 * 60
_SIGNED_IN_AT = "signed_in_at"


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return show_sign_in(request, SignInForm())
    form = SignInForm(request.POST)
    if not form.is_valid():
        return show_sign_in(request, form, status=422)
    name, address = form.cleaned_data["username"], request.META.get("REMOTE_ADDR", "")
    if failed_sign_ins.are_used_up(name, address=address):
        return tried_too_often(request)
    user = auth.authenticate(request, username=name, password=form.cleaned_data["password"])
    if not isinstance(user, User):
        failed_sign_ins.note_failure(name, address=address)
        _note_wrong_password(name)
        form.add_error(None, _("The name and password don’t match. Please try again."))
        return show_sign_in(request, form, status=422)
    failed_sign_ins.forgive(name, address=address)
    return enter(request, user, way=way_in(request))


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def register(request: HttpRequest) -> HttpResponse:
    if not registration.is_open():
        raise Http404("Registration is closed.")
    return make_account(request, users.register)


def make_account(
    request: HttpRequest, make: Callable[..., User], *, invited: str = ""
) -> HttpResponse:
    """Show and take the form of an account; `make` creates it. `invited` is the invited role."""
    if request.method != "POST":
        return _for_visitors(request, "ops/register.html", RegisterForm(), invited=invited)
    form = RegisterForm(request.POST)
    if form.is_valid():
        language, zone = get_language() or "", request.POST.get("timezone", "")
        try:
            with as_system():
                user = make(**form.cleaned_data, language=language, zone=zone)
        except Invalid as error:
            add_problems(form, error)
        else:
            begin(request, user)
            return redirect(way_in(request))
    return _for_visitors(request, "ops/register.html", form, invited=invited, status=422)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    if isinstance(request.user, User):
        audit_log.record("signin.ended", subject=request.user.subject)
        web_sessions.forget(request.session.session_key)
    auth.logout(request)
    messages.success(request, _("You are signed out."))
    return redirect("sign_in")


def enter(request: HttpRequest, user: User, *, way: str) -> HttpResponse:
    """Sign in an authenticated person, or ask for the code of the second factor first."""
    with as_user(user):
        wants_code = second_factors.of(user) is not None
    if not wants_code:
        return lead_in(request, user, way=way)
    request.session.cycle_key()
    request.session[second_factors.WAITING] = {
        "user": user.pk,
        "at": timezone.now().timestamp(),
        "account": user.get_session_auth_hash(),
        "way": way,
    }
    return redirect("sign_in_code")


def lead_in(request: HttpRequest, user: User, *, way: str) -> HttpResponse:
    """Sign in; the first time an owner is asked for language and time zone on the way."""
    is_first = user.last_login is None and roles.role_of(user) is Role.OWNER
    begin(request, user)
    return redirect(f"{reverse('welcome')}?{urlencode({'next': way})}" if is_first else way)


def begin(request: HttpRequest, user: User) -> None:
    """Sign in under a new session key and store the time of the sign-in."""
    auth.login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session[_SIGNED_IN_AT] = timezone.now().timestamp()
    sessions.note(request)
    audit_log.record("signin.succeeded", subject=user.subject)


def _note_wrong_password(name: str) -> None:
    """Audit the account that was tried, never the typed name, which may be a password."""
    with as_system():
        tried = User.objects.filter(username=name).first()
    audit_log.record("signin.failed", subject=tried.subject if tried else None)


def is_fresh(request: HttpRequest) -> bool:
    """Tell whether this session began recently, which replaces a missing password."""
    begun = request.session.get(_SIGNED_IN_AT, 0)
    return timezone.now().timestamp() - float(begun) < FRESH_SECONDS


def show_sign_in(request: HttpRequest, form: SignInForm, *, status: int = 200) -> HttpResponse:
    return _for_visitors(request, "ops/sign_in.html", form, status=status)


def _for_visitors(
    request: HttpRequest,
    template: str,
    form: SignInForm | RegisterForm,
    *,
    invited: str = "",
    status: int = 200,
) -> HttpResponse:
    if request.user.is_authenticated and request.method != "POST":
        return redirect(way_in(request))
    context = {
        "form": form,
        "next": way_back(request, default=""),
        "registration_open": registration.is_open(),
        "invited": invited,
        "provider": openid.shown_name() if openid.is_on() else "",
    }
    response = render(request, template, context, status=status)
    patch_cache_control(response, private=True, no_store=True)
    return response


def way_in(request: HttpRequest) -> str:
    """Return the next page, which is never a page for visitors."""
    wanted = way_back(request, default=settings.LOGIN_REDIRECT_URL)
    own = (reverse("sign_in"), reverse("register"), reverse("sign_in_code"))
    return settings.LOGIN_REDIRECT_URL if wanted.split("?")[0] in own else wanted


def tried_too_often(request: HttpRequest) -> HttpResponse:
    context = {"minutes": failed_sign_ins.SECONDS // 60}
    response = render(request, "ops/sign_in_later.html", context, status=429)
    response["Retry-After"] = str(failed_sign_ins.SECONDS)
    return response


@require_safe
def staff_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect the admin's sign-in to ours, so that every step of it applies."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect(f"{reverse('sign_in')}?{urlencode({'next': way_in(request)})}")
