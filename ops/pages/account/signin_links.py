"""The pages of links: signing in by one, and making an account by an invitation."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_GET, require_http_methods

from memcenter.lib.errors import Invalid, NotFound
from ops.access import as_system
from ops.accounts import failed_sign_ins, registration, signin_links, users
from ops.pages.account import sign_in
from ops.pages.base import leave, own_transaction, person, personal_page
from ops.pages.forms import RegisterForm, add_problems

_COUNTED = "signin-link"


@sensitive_variables("token")
@require_GET
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in at once; a browser's prefetch doesn't use the link up."""
    address = request.META.get("REMOTE_ADDR", "")
    if "prefetch" in request.headers.get("Sec-Purpose", request.headers.get("Purpose", "")):
        return HttpResponse(status=503, headers={"Cache-Control": "no-store"})
    if failed_sign_ins.are_used_up(_COUNTED, address=address):
        return sign_in.tried_too_often(request)
    try:
        with as_system():
            link = signin_links.take(token)
    except NotFound:
        failed_sign_ins.note_failure(_COUNTED, address=address)
        return _over(request)
    response = sign_in.enter(request, link.user, way=link.next or settings.LOGIN_REDIRECT_URL)
    if link.language:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, link.language, samesite="Lax")
    response["Referrer-Policy"] = "no-referrer"
    patch_cache_control(response, private=True, no_store=True)
    return response


@sensitive_post_parameters("password")
@sensitive_variables("token")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Let somebody who was invited make an account; opening the page doesn't use the link up."""
    address = request.META.get("REMOTE_ADDR", "")
    if request.user.is_authenticated:
        messages.info(request, _("You have an account already. Sign out to use the invitation."))
        return redirect(settings.LOGIN_REDIRECT_URL)
    if failed_sign_ins.are_used_up(_COUNTED, address=address):
        return sign_in.tried_too_often(request)
    try:
        with as_system():
            role = registration.find(token).role
        make = partial(registration.accept, token)
        response = sign_in.make_account(request, make, invited=role)
    except NotFound:
        failed_sign_ins.note_failure(_COUNTED, address=address)
        return _over(request, days=registration.INVITATION_DAYS)
    # Not "no-referrer": browsers would post the form with "Origin: null".
    response["Referrer-Policy"] = "same-origin"
    return response


def _over(request: HttpRequest, *, days: int = 0) -> HttpResponse:
    context = {"minutes": settings.SIGNIN_LINK_MINUTES, "days": days}
    response = render(request, "ops/signin_link_over.html", context, status=410)
    patch_cache_control(response, private=True, no_store=True)
    return response


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def first_password(request: HttpRequest) -> HttpResponse:
    """Let a person who came by a link choose a password."""
    if person(request).has_usable_password():
        return redirect("session_list")
    if not sign_in.is_fresh(request):
        return _show(request, RegisterForm(), is_fresh=False, status=403)
    if request.method != "POST":
        return _show(request, RegisterForm())
    form = RegisterForm(request.POST)
    if not form.is_valid():
        return _show(request, form, status=422)
    try:
        with own_transaction(request):
            user = users.choose_login(user=person(request), **form.cleaned_data)
    except Invalid as error:
        add_problems(form, error)
        return _show(request, form, status=422)
    sign_in.begin(request, user)  # the session carries the password's hash
    messages.success(request, _("From now on you can sign in with this name and password."))
    return leave(request, "/settings/sessions/")


def _show(
    request: HttpRequest, form: RegisterForm, *, is_fresh: bool = True, status: int = 200
) -> HttpResponse:
    context = {"form": form, "is_fresh": is_fresh, "section": "settings"}
    with own_transaction(request):
        return render(request, "ops/first_password.html", context, status=status)
