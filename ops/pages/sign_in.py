"""Pages to sign in by password or link, register, sign out, and manage a person's sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
    require_safe,
)

from foundation.errors import NotFound
from foundation.providers import openid
from ops import audit_log
from ops.access import as_system, as_user
from ops.accounts import registration, sign_ins, users
from ops.models import Role, User
from ops.pages.base import (
    SEEN,
    SIGNED_IN_AT,
    form_data,
    is_fresh,
    next_address,
    own_transaction,
    password_problem,
    person,
    personal_page,
    redirect_after_form,
)
from ops.pages.forms import PasswordForm, RegisterForm, SignInForm

_LINK_COUNTER = "signin-link"


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    form = SignInForm(form_data(request))
    if not form.is_valid():
        return show_sign_in(request, form, status=form.status)
    name, address = form.cleaned_data["username"], request.META.get("REMOTE_ADDR", "")
    if sign_ins.are_attempts_used_up(name, address=address):
        return show_too_many_attempts(request)
    with as_system():
        name = users.spelled_name(name)
    user = auth.authenticate(request, username=name, password=form.cleaned_data["password"])
    if not isinstance(user, User):
        sign_ins.note_failure(name, address=address)
        with as_system():
            tried = User.objects.filter(username=name).first()
        # The typed name is never recorded, since it may be a password.
        audit_log.record("signin.failed", subject=tried.subject if tried else None)
        form.add_error(None, _("The name and password don’t match. Please try again."))
        return show_sign_in(request, form, status=422)
    sign_ins.forgive_failures(name, address=address)
    return sign_in_or_ask_code(request, user, address=address_after_sign_in(request))


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def register(request: HttpRequest) -> HttpResponse:
    if not registration.is_registration_open():
        return _for_visitors(request, "ops/registration_closed.html", RegisterForm(), status=404)
    return make_account(request, users.register)


def make_account(
    request: HttpRequest, make: Callable[..., User], *, invited: str = ""
) -> HttpResponse:
    """Show the form for a new account, or process it with `make`, which creates the account.

    `invited` is the role of the invitation, if there is one.
    """
    form = RegisterForm(form_data(request))
    if form.is_valid():
        language, zone = get_language() or "", request.POST.get("timezone", "")
        with form.refusing(), as_system():
            user = make(**form.cleaned_data, language=language, zone=zone)
    if not form.is_valid():
        return _for_visitors(
            request, "ops/register.html", form, invited=invited, status=form.status
        )
    begin_session(request, user)
    return redirect(address_after_sign_in(request))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    if isinstance(request.user, User):
        audit_log.record("signin.ended", subject=request.user.subject)
        sign_ins.forget_session(request.session.session_key)
    auth.logout(request)
    messages.success(request, _("You are signed out."))
    return redirect("sign_in")


def sign_in_or_ask_code(request: HttpRequest, user: User, *, address: str) -> HttpResponse:
    """Sign in a person and redirect to `address`, or first ask for their second factor."""
    with as_user(user):
        wants_code = sign_ins.second_factor_of(user) is not None
    if not wants_code:
        return finish_sign_in(request, user, address=address)
    request.session.cycle_key()
    request.session[sign_ins.WAITING] = {
        "user": user.pk,
        "at": timezone.now().timestamp(),
        "account": user.get_session_auth_hash(),
        "way": address,
    }
    return redirect("sign_in_code")


def finish_sign_in(request: HttpRequest, user: User, *, address: str) -> HttpResponse:
    """Sign in the person, and redirect to `address`.

    At the first sign-in, an owner is redirected to the questions about language and time zone.
    """
    is_first = user.last_login is None and users.role_of(user) is Role.OWNER
    begin_session(request, user)
    return redirect(f"{reverse('welcome')}?{urlencode({'next': address})}" if is_first else address)


def begin_session(request: HttpRequest, user: User) -> None:
    """Sign in the person under a new session key, and store the time in the session."""
    auth.login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session[SIGNED_IN_AT] = timezone.now().timestamp()
    note_session(request)
    audit_log.record("signin.succeeded", subject=user.subject)


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
        return redirect(address_after_sign_in(request))
    context = {
        "form": form,
        "next": next_address(request, default=""),
        "registration_open": registration.is_registration_open(),
        "invited": invited,
        "provider": openid.shown_name() if openid.is_on() else "",
    }
    response = render(request, template, context, status=status)
    patch_cache_control(response, private=True, no_store=True)
    return response


def address_after_sign_in(request: HttpRequest) -> str:
    """Return the address to open after sign-in, which is never a sign-in or registration page."""
    wanted = next_address(request, default=settings.LOGIN_REDIRECT_URL)
    own = (reverse("sign_in"), reverse("register"), reverse("sign_in_code"))
    return settings.LOGIN_REDIRECT_URL if wanted.split("?")[0] in own else wanted


def show_too_many_attempts(request: HttpRequest) -> HttpResponse:
    context = {"minutes": sign_ins.LOCKED_SECONDS // 60}
    response = render(request, "ops/sign_in_later.html", context, status=429)
    response["Retry-After"] = str(sign_ins.LOCKED_SECONDS)
    return response


@require_safe
def staff_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect from the admin's sign-in page to ours, so that the second factor applies.

    A person who is signed in, but may not use the admin, gets a 403.
    """
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect(f"{reverse('sign_in')}?{urlencode({'next': address_after_sign_in(request)})}")


def note_session(request: HttpRequest) -> None:
    """Record the current session, so that the list of sessions shows it."""
    user = cast(User, request.user)
    if request.session.session_key is None:
        request.session.save()
    device = sign_ins.device_of(request.headers.get("User-Agent", ""))
    with as_user(user):
        key = str(request.session.session_key)
        sign_ins.note_session(user=user, session_key=key, device=device)
    request.session[SEEN] = timezone.now().timestamp()


@require_safe
@personal_page
def session_list(request: HttpRequest) -> HttpResponse:
    note_session(request)
    return _show_sessions(request, PasswordForm())


@sensitive_post_parameters("current", "password")
@require_POST
@personal_page
def password_change(request: HttpRequest) -> HttpResponse:
    """Change the password, and end every other session."""
    form = PasswordForm(request.POST)
    if form.is_valid():
        current = form.cleaned_data["current"]
        wrong = _("That isn’t your password. It wasn’t changed.")
        problem = password_problem(request, password=current, purpose="password", wrong=wrong)
        if problem:
            form.add_error("current", problem)
    if form.is_valid():
        with form.refusing(), own_transaction(request):
            users.change_password(user=person(request), password=form.cleaned_data["password"])
            sign_ins.end_all_sessions(person(request))
            auth.update_session_auth_hash(request, person(request))
    if form.errors:
        return _show_sessions(request, form)
    note_session(request)
    messages.success(
        request, _("Your new password works from now on. You were signed out everywhere else.")
    )
    return redirect("session_list")


def _show_sessions(request: HttpRequest, form: PasswordForm) -> HttpResponse:
    with own_transaction(request):
        here = request.session.session_key
        rows = sign_ins.sessions_of(person(request))
        shown = [{"sign_in": one, "is_here": one.session_key == here} for one in rows]
        shown.sort(key=lambda one: not one["is_here"])
        form_here = form if person(request).has_usable_password() else None
        context = {"sessions": shown, "form": form_here, "section": "settings"}
        return render(request, "ops/session_list.html", context, status=form.status)


@require_POST
@personal_page
def session_end(request: HttpRequest, pk: int) -> HttpResponse:
    with own_transaction(request):
        sign_ins.end_session(user=person(request), sign_in=pk)
    messages.success(request, _("Signed out there."))
    return redirect("session_list")


@require_POST
@personal_page
def session_end_others(request: HttpRequest) -> HttpResponse:
    """End every other session, and give the current session a new key."""
    with own_transaction(request):
        sign_ins.end_all_sessions(person(request))
        auth.update_session_auth_hash(request, person(request))
    note_session(request)
    messages.success(request, _("Signed out everywhere else."))
    return redirect("session_list")


@sensitive_variables("token")
@require_GET
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in the person for whom the link was made, and use up the link.

    A browser that only prefetches the page doesn't use up the link.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", "")):
        return HttpResponse(status=503, headers={"Cache-Control": "no-store"})
    if sign_ins.are_attempts_used_up(_LINK_COUNTER, address=address):
        return show_too_many_attempts(request)
    try:
        with as_system():
            link = registration.take_link(token)
    except NotFound:
        sign_ins.note_failure(_LINK_COUNTER, address=address)
        return _show_link_over(request)
    next_page = link.next or settings.LOGIN_REDIRECT_URL
    response = sign_in_or_ask_code(request, link.user, address=next_page)
    if link.language:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, link.language, samesite="Lax")
    response["Referrer-Policy"] = "no-referrer"
    patch_cache_control(response, private=True, no_store=True)
    return response


@sensitive_post_parameters("password")
@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Let an invited person create an account.

    The link works until an account is created with it or the invitation expires.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if request.user.is_authenticated:
        messages.info(request, _("You’re already signed in, so you don’t need an invitation."))
        return redirect(settings.LOGIN_REDIRECT_URL)
    if sign_ins.are_attempts_used_up(_LINK_COUNTER, address=address):
        return show_too_many_attempts(request)
    try:
        with as_system():
            role = registration.find_invitation(token).role
        make = partial(registration.accept_invitation, token)
        response = make_account(request, make, invited=role)
    except NotFound:
        sign_ins.note_failure(_LINK_COUNTER, address=address)
        return _show_link_over(request, days=registration.INVITATION_DAYS)
    # Not "no-referrer": browsers would post the form with "Origin: null".
    response["Referrer-Policy"] = "same-origin"
    return response


def _show_link_over(request: HttpRequest, *, days: int = 0) -> HttpResponse:
    context = {"minutes": settings.SIGNIN_LINK_MINUTES, "days": days}
    response = render(request, "ops/signin_link_over.html", context, status=410)
    patch_cache_control(response, private=True, no_store=True)
    return response


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def first_password(request: HttpRequest) -> HttpResponse:
    """Let a person without a password choose a login name and a password.

    The person must have signed in recently, for example with a link.
    """
    if person(request).has_usable_password():
        return redirect("session_list")
    if not is_fresh(request):
        return _show_first_password(request, RegisterForm(), is_fresh=False, status=403)
    form = RegisterForm(form_data(request))
    if form.is_valid():
        with form.refusing(), own_transaction(request):
            user = users.choose_login(user=person(request), **form.cleaned_data)
    if not form.is_valid():
        return _show_first_password(request, form, status=form.status)
    begin_session(request, user)  # the old session contains a hash of the old password
    messages.success(request, _("From now on you can sign in with this name and password."))
    return redirect_after_form(request, "/settings/sessions/")


def _show_first_password(
    request: HttpRequest, form: RegisterForm, *, is_fresh: bool = True, status: int = 200
) -> HttpResponse:
    context = {"form": form, "is_fresh": is_fresh, "section": "settings"}
    with own_transaction(request):
        return render(request, "ops/first_password.html", context, status=status)
