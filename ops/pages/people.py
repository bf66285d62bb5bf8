"""The People page, for owners: logins, invitations, roles, API keys and registration."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foundation.errors import Conflict, NotFound
from ops.access import as_system
from ops.accounts import keys, registration, users
from ops.models import Invitation, Role, User
from ops.pages import connections as key_pages
from ops.pages.base import (
    View,
    ViewArgs,
    form_data,
    number_of,
    person,
    personal_page,
    render_page,
)
from ops.pages.forms import InvitationForm, ProofForm, RoleForm

_SHOWN = 50
_LOCAL = ("127.0.0.1", "localhost", "::1")


def owner_page(view: View[ViewArgs]) -> View[ViewArgs]:
    """Restrict a page to owners. Other signed-in people get a 404."""

    @wraps(view)
    def for_owners(
        request: HttpRequest, *args: ViewArgs.args, **kwargs: ViewArgs.kwargs
    ) -> HttpResponseBase:
        if request.user.is_authenticated and users.role_of(request.user) is not Role.OWNER:
            raise NotFound("This page doesn’t exist.")
        return view(request, *args, **kwargs)

    # mypy loses the parameter's name behind `Concatenate`.
    return personal_page(cast("View[ViewArgs]", for_owners))


@require_http_methods(["GET", "HEAD", "POST"])
@owner_page
def people(request: HttpRequest) -> HttpResponse:
    """List the people who have a login. The form creates an invitation."""
    form = InvitationForm(form_data(request))
    if not form.is_valid():
        return _show(request, form)
    with as_system():
        made = registration.invite(user=person(request), **form.cleaned_data)
    # Show the link in this response only; storing it for another page would leak it.
    link = settings.PUBLIC_URL.rstrip("/") + reverse("join", args=[made.token])
    return _show(request, InvitationForm(), made=link)


def _show(request: HttpRequest, form: InvitationForm, *, made: str = "") -> HttpResponse:
    query, page = request.GET.get("q", "").strip(), number_of(request.GET.get("page")) or 0
    with as_system():
        found = users.logins().filter(username__icontains=query) if query else users.logins()
        shown = list(found[page * _SHOWN : (page + 1) * _SHOWN + 1])
        context = {
            "people": [(user, users.held_role(user)) for user in shown[:_SHOWN]],
            "query": query,
            "next_page": page + 1 if len(shown) > _SHOWN else 0,
            "invitations": registration.invitations()[:_SHOWN],
            "registration_open": registration.is_registration_open(),
            "form": form,
            "made": made,
            "is_local": urlsplit(made).hostname in _LOCAL,
            "days": registration.INVITATION_DAYS,
            "section": "settings",
        }
        return render(request, "ops/people.html", context, status=form.status)


@require_POST
@owner_page
def invitation_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    with as_system():
        found = Invitation.objects.select_related("user").filter(pk=pk).first()
        if found is None:
            raise NotFound("This invitation no longer exists.")
        registration.revoke_invitation(found)
    messages.success(request, _("Revoked: the link no longer works."))
    return redirect("people")


@require_POST
@owner_page
def registration_switch(request: HttpRequest) -> HttpResponse:
    is_open = request.POST.get("registration") == "on"
    with as_system():
        registration.switch_registration(is_open=is_open)
    messages.success(
        request, _("Registration is open.") if is_open else _("Registration is closed.")
    )
    return redirect("people")


@require_safe
@owner_page
def person_page(request: HttpRequest, pk: int) -> HttpResponse:
    return _show_person(request, pk)


@sensitive_post_parameters("password")
@require_POST
@owner_page
def person_role(request: HttpRequest, pk: int) -> HttpResponse:
    form = RoleForm(request.POST, request=request)
    if not form.is_valid():
        return _show_person(request, pk, role=form)
    role = Role(form.cleaned_data["role"])
    with form.refusing(), as_system():
        user = _login(pk)
        users.give_role(user, role)
    if form.errors:
        return _show_person(request, pk, role=form)
    messages.success(request, _("%(name)s: %(role)s") % {"name": user, "role": role.label})
    is_owner = pk != person(request).pk or role is Role.OWNER
    return redirect("person_page", pk) if is_owner else redirect("settings_page")


@sensitive_post_parameters("password")
@require_POST
@owner_page
def person_hand_over(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the other person an owner, and the signed-in owner a member."""
    form = ProofForm(request.POST, request=request)
    if not form.is_valid():
        return _show_person(request, pk, hand_over=form)
    with form.refusing(), as_system():
        user = _other(request, pk)
        users.hand_over_ownership(user=person(request), to=user)
    if form.errors:
        return _show_person(request, pk, hand_over=form)
    messages.success(
        request, _("%(name)s is the owner now, and you are a member.") % {"name": user}
    )
    return redirect("settings_page")


@require_POST
@owner_page
def person_active(request: HttpRequest, pk: int) -> HttpResponse:
    is_active = request.POST.get("active") == "on"
    try:
        with as_system():
            user = _other(request, pk)
            users.set_active(user=user, is_active=is_active)
    except Conflict as error:
        messages.error(request, _(error.message))
        return redirect("person_page", pk)
    words = _("%(name)s can sign in again.") if is_active else _("%(name)s is deactivated.")
    messages.success(request, words % {"name": user})
    return redirect("person_page", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@owner_page
def person_key_revoke(request: HttpRequest, pk: int, key: int) -> HttpResponse:
    back = reverse("person_page", args=[pk])
    with as_system():
        found = keys.keys_of(_login(pk)).filter(pk=key, revoked_at__isnull=True).first()
        if found is None:
            raise NotFound("This key doesn’t exist.")
        if request.method != "POST":
            words = key_pages.key_confirmation(found, back, request.path)
            return render_page(request, "ops/confirm.html", words)
        keys.revoke(found)
    messages.success(
        request, _("Revoked: the key “%(name)s” no longer works.") % {"name": found.name}
    )
    return redirect(back)


def _login(pk: int) -> User:
    found = users.logins().filter(pk=pk).first()
    if found is None:
        raise NotFound("This person doesn’t exist.")
    return found


def _other(request: HttpRequest, pk: int) -> User:
    if pk == person(request).pk:
        raise NotFound("This person doesn’t exist.")
    return _login(pk)


def _show_person(
    request: HttpRequest,
    pk: int,
    *,
    role: RoleForm | None = None,
    hand_over: ProofForm | None = None,
) -> HttpResponse:
    with as_system():
        user = _login(pk)
        held = users.held_role(user)
        given: dict[str, Any] = {"request": request, "auto_id": "role_%s"}
        context = {
            "one": user,
            "role": held,
            "is_self": user.pk == person(request).pk,
            "form": role or RoleForm(initial={"role": held}, **given),
            "hand_over": hand_over or ProofForm(**given | {"auto_id": "over_%s"}),
            "keys": key_pages.key_rows(
                user, lambda key: reverse("person_key_revoke", args=[pk, key.pk])
            ),
            "section": "settings",
        }
        status = 422 if role or hand_over else 200
        return render(request, "ops/person.html", context, status=status)
