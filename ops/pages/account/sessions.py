"""The list of a person's sessions, and signing out elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from django.contrib import auth, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import Invalid
from ops.access import as_user
from ops.accounts import failed_sign_ins, users, web_sessions
from ops.models import SignIn, User
from ops.pages.base import SEEN, own_transaction, person, personal_page
from ops.pages.forms import PasswordForm, add_problems


@dataclass(frozen=True)
class Shown:
    """One browser; `is_here` marks the one that shows the page."""

    sign_in: SignIn
    is_here: bool


def note(request: HttpRequest) -> None:
    """Record a session after sign-in."""
    user = cast(User, request.user)
    if request.session.session_key is None:
        request.session.save()
    device = web_sessions.device_of(request.headers.get("User-Agent", ""))
    with as_user(user):
        key = str(request.session.session_key)
        web_sessions.note(user=user, session_key=key, device=device)
    request.session[SEEN] = timezone.now().timestamp()


@require_safe
@personal_page
def session_list(request: HttpRequest) -> HttpResponse:
    note(request)
    return _show(request, PasswordForm())


@sensitive_post_parameters("current", "password")
@require_POST
@personal_page
def password_change(request: HttpRequest) -> HttpResponse:
    """Change the password and end every other session."""
    form = PasswordForm(request.POST)
    if not form.is_valid() or not _is_right(request, form):
        return _show(request, form, status=422)
    try:
        with own_transaction(request):
            users.change_password(user=person(request), password=form.cleaned_data["password"])
            web_sessions.end_all(person(request))
            auth.update_session_auth_hash(request, person(request))
    except Invalid as error:
        add_problems(form, error)
        return _show(request, form, status=422)
    note(request)
    messages.success(
        request, _("Your new password works from now on. You were signed out everywhere else.")
    )
    return redirect("session_list")


def _is_right(request: HttpRequest, form: PasswordForm) -> bool:
    """Check the present password; guessing is limited as at sign-in."""
    user = person(request)
    name, address = f"password:{user.pk}", request.META.get("REMOTE_ADDR", "")
    if failed_sign_ins.are_used_up(name, address=address):
        problem = _("Too many wrong passwords. Please wait 15 minutes.")
    elif user.check_password(form.cleaned_data["current"]):
        return True
    else:
        failed_sign_ins.note_failure(name, address=address)
        problem = _("That isn’t your password. It wasn’t changed.")
    form.add_error("current", problem)
    return False


def _show(request: HttpRequest, form: PasswordForm, *, status: int = 200) -> HttpResponse:
    with own_transaction(request):
        here = request.session.session_key
        rows = web_sessions.of(person(request))
        shown = [Shown(one, one.session_key == here) for one in rows]
        shown.sort(key=lambda one: not one.is_here)
        form_here = form if person(request).has_usable_password() else None
        context = {"sessions": shown, "form": form_here, "section": "settings"}
        return render(request, "ops/session_list.html", context, status=status)


@require_POST
@personal_page
def session_end(request: HttpRequest, pk: int) -> HttpResponse:
    with own_transaction(request):
        web_sessions.end(user=person(request), sign_in=pk)
    messages.success(request, _("Signed out there."))
    return redirect("session_list")


@require_POST
@personal_page
def session_end_others(request: HttpRequest) -> HttpResponse:
    """End every other session; this one gets a new key."""
    with own_transaction(request):
        web_sessions.end_all(person(request))
        auth.update_session_auth_hash(request, person(request))
    note(request)
    messages.success(request, _("Signed out everywhere else."))
    return redirect("session_list")
