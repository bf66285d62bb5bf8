"""Helpers for all pages: access, transactions for the signed-in person, redirects after forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, cast
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.dateparse import parse_date
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from foundation.errors import NotFound
from ops.access import as_user
from ops.accounts import sign_ins, users
from ops.models import User, UserSettings

ViewArgs = ParamSpec("ViewArgs")
View: TypeAlias = Callable[Concatenate[HttpRequest, ViewArgs], HttpResponseBase]
# Keys of times in the session: the last recorded use, and the sign-in.
SEEN = "seen_at"
SIGNED_IN_AT = "signed_in_at"
FRESH_SECONDS = 10 * 60
_SEEN_SECONDS = 10 * 60


def personal_page(view: View[ViewArgs]) -> View[ViewArgs]:
    """Require sign-in for a page, forbid caching it, and turn `NotFound` into a 404.

    A request from htmx without a session gets a 401, since htmx would insert the sign-in page into
    the current page.
    """

    @wraps(view)
    def guarded(
        request: HttpRequest, *args: ViewArgs.args, **kwargs: ViewArgs.kwargs
    ) -> HttpResponseBase:
        if is_htmx(request) and not request.user.is_authenticated:
            return HttpResponse(status=401)
        _note_presence(request)
        try:
            response = for_members(request, *args, **kwargs)
        except NotFound as error:
            raise Http404(error.message) from error
        patch_vary_headers(response, ["HX-Request", "HX-Target", "Cookie"])
        patch_cache_control(response, private=True, no_store=True)
        return response

    for_members = login_required(view)
    return cast("View[ViewArgs]", guarded)


def _note_presence(request: HttpRequest) -> None:
    last, now = request.session.get(SEEN), timezone.now().timestamp()
    if last is None or now - float(last) < _SEEN_SECONDS or not request.user.is_authenticated:
        return
    with own_transaction(request):
        sign_ins.note_use(str(request.session.session_key))
    request.session[SEEN] = now


def person(request: HttpRequest) -> User:
    return cast(User, request.user)


def is_fresh(request: HttpRequest) -> bool:
    """Return whether the person has signed in recently in this session.

    For people without a password, this replaces the password as a proof of identity.
    """
    begun = request.session.get(SIGNED_IN_AT, 0)
    return timezone.now().timestamp() - float(begun) < FRESH_SECONDS


def proof_problem(request: HttpRequest, *, password: str, purpose: str) -> str:
    """Return a message that says why the proof of identity is rejected, or an empty string.

    The proof is the password or, for a person without a password, a recent sign-in. Wrong passwords
    are counted separately for each `purpose`, so that one form doesn't lock another.
    """
    if person(request).has_usable_password():
        return password_problem(request, password=password, purpose=purpose)
    return (
        "" if is_fresh(request) else _("Please sign in again, then come back within ten minutes.")
    )


def password_problem(request: HttpRequest, *, password: str, purpose: str, wrong: str = "") -> str:
    """Return a message that says why the password is rejected, or an empty string if it is right.

    The number of wrong passwords is limited, as at sign-in. `wrong` replaces the usual message for
    a wrong password.
    """
    user, address = person(request), request.META.get("REMOTE_ADDR", "")
    name = f"{purpose}:{user.pk}"
    if sign_ins.are_attempts_used_up(name, address=address):
        return _("Too many wrong passwords. Please wait 15 minutes.")
    if user.check_password(password):
        return ""
    sign_ins.note_failure(name, address=address)
    return wrong or _("The password is wrong.")


def own_settings(request: HttpRequest) -> UserSettings:
    """Return the settings of the signed-in person, loaded at most once per request.

    Usually the middleware has already loaded them.
    """
    found: UserSettings | None = getattr(request, "user_settings", None)
    if found is None:
        found = users.settings_of(person(request))
        remember_settings(request, found)
    return found


def remember_settings(request: HttpRequest, own: UserSettings) -> None:
    """Make `own_settings` return these settings for the rest of this request."""
    request.user_settings = own  # type: ignore[attr-defined]


def own_transaction(request: HttpRequest) -> AbstractContextManager[None]:
    """Open a transaction for the signed-in person. For a POST, take the person's lock as well."""
    return as_user(person(request), changing=request.method == "POST")


def form_data(request: HttpRequest) -> QueryDict | None:
    """Return the submitted data for a form, or None if the form is shown for the first time."""
    return request.POST if request.method == "POST" else None


def field_of(data: QueryDict, name: str) -> str:
    """Return a field without NUL characters, which PostgreSQL rejects; "" if it is missing."""
    return (data.get(name) or "").replace("\x00", "")


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def is_streamed(request: HttpRequest) -> bool:
    """Return whether the script of the page asks for a streamed response."""
    return "text/event-stream" in request.headers.get("Accept", "")


class RequestLocale:
    """Language and time zone of a request, for rendering after the view has returned."""

    def __init__(self) -> None:
        self._language, self._zone = translation.get_language(), timezone.get_current_timezone()

    @contextmanager
    def activate(self) -> Iterator[None]:
        with translation.override(self._language), timezone.override(self._zone):
            yield


def target(request: HttpRequest) -> str:
    """Return the id of the element that htmx will replace, or "" if there is none."""
    return request.headers.get("HX-Target", "") if is_htmx(request) else ""


def render_page(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a page, or only its partial `dialog` if htmx will show it in a dialog."""
    if target(request) != "dialogs":
        return render(request, template, context, status=status)
    response = render(request, f"{template}#dialog", context, status=status)
    response["HX-Reswap"] = "innerHTML"  # overrides the swap style that the link inherits
    return response


def redirect_after_form(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect after a form. The whole page is replaced, even if htmx sent the form in a dialog."""
    if is_htmx(request):
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)


def next_address(request: HttpRequest, *, default: str) -> str:
    """Return the address in `next` if it is on this site, else `default`."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    return wanted if _is_ours(wanted) else default


def current_address(request: HttpRequest) -> str:
    """Return the address of the page in the browser, even if htmx requests only a part of it."""
    shown = urlsplit(request.headers.get("HX-Current-URL", ""))
    path = f"{shown.path}?{shown.query}" if shown.query else shown.path
    return path if is_htmx(request) and _is_ours(path) else request.get_full_path()


def number_of(text: str | None) -> int | None:
    """Return a query parameter as a number, or None if it doesn't consist of 1 to 9 digits."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def day_of(text: str) -> date | None:
    """Return the date in a query parameter or form field, or None if it isn't a date."""
    try:
        return parse_date(text)
    except ValueError:
        return None


def _is_ours(address: str) -> bool:
    return address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
