"""A person's own API keys: bound to the person, shown once, revocable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memcenter.lib.errors import Invalid, NotFound
from ops.accounts import keys
from ops.models import ApiKey, User
from ops.pages.base import own_transaction, person, personal_page, render_page
from ops.pages.forms import KeyForm, add_problems, scope_words

_SHOWN = 100


@dataclass(frozen=True)
class ShownKey:
    key: ApiKey
    scopes: list[Any]
    is_alive: bool
    revoke: str


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def api_keys(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _show(request, KeyForm())
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _show(request, form, status=422)
    try:
        with own_transaction(request):
            _key, text = keys.create(
                user=person(request),
                name=form.cleaned_data["name"],
                scopes=form.cleaned_data["scopes"],
                expires_at=form.expires_at(),
            )
    except Invalid as error:
        add_problems(form, error)
        return _show(request, form, status=422)
    # Show the key in this response only; storing it for another page would leak it.
    return _show(request, KeyForm(), made=text)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def api_key_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    with own_transaction(request):
        key = _own(person(request)).filter(pk=pk, revoked_at__isnull=True).first()
        if key is None:
            raise NotFound("There is no such key.")
        if request.method != "POST":
            return render_page(
                request, "ops/confirm.html", confirmation(key, reverse("api_keys"), request.path)
            )
        keys.revoke(key)
    messages.success(
        request, _("Revoked: the key “%(name)s” no longer works.") % {"name": key.name}
    )
    return redirect("api_keys")


def confirmation(key: ApiKey, back: str, action: str) -> dict[str, Any]:
    return {
        "action": action,
        "title": _("Revoke this key?"),
        "text": _("Programs that use it are refused immediately. This can’t be undone."),
        "goes": [_("the key “%(name)s” (%(prefix)s…)") % {"name": key.name, "prefix": key.prefix}],
        "stays": [_("everything it has read or written")],
        "confirm": _("Revoke"),
        "cancel_href": back,
    }


def _show(
    request: HttpRequest, form: KeyForm, *, made: str = "", status: int = 200
) -> HttpResponse:
    with own_transaction(request):
        shown = rows(person(request), lambda key: reverse("api_key_revoke", args=[key.pk]))
        context = {"form": form, "keys": shown, "made": made, "section": "settings"}
        return render(request, "ops/key_list.html", context, status=status)


def _own(user: User) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(user=user).order_by(
        F("revoked_at").asc(nulls_first=True), "-created_at", "-pk"
    )


def rows(user: User, revoke: Callable[[ApiKey], str]) -> list[ShownKey]:
    """Return the person's keys, living ones first; `revoke` gives the address that ends one."""
    return [_shown(key, revoke) for key in _own(user)[:_SHOWN]]


def _shown(key: ApiKey, revoke: Callable[[ApiKey], str]) -> ShownKey:
    expired = key.expires_at is not None and key.expires_at <= timezone.now()
    alive = key.revoked_at is None and not expired
    address = revoke(key) if key.revoked_at is None else ""
    return ShownKey(key, scope_words(key.scopes), alive, address)
