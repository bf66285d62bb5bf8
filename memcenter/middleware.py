"""Small middlewares as functions; `settings.MIDDLEWARE` gives their order."""

import zoneinfo
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import SimpleTemplateResponse
from django.urls import resolve
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from memcenter import logs, tracing
from ops.access import as_user
from ops.accounts import second_factors, users
from ops.audit import acting_user
from ops.models import User

Handler = Callable[[HttpRequest], HttpResponse]
_CALLS = ("/api/v1/", "/v1/", "/v2/", "/v3/")  # ours, and other products'
_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# The API's documentation page and the admin have inline styles and scripts.
_LOOSE_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; worker-src 'self' blob:; "
    "object-src 'none'; frame-ancestors 'none'"
)


def health_check(get_response: Handler) -> Handler:
    """Answer `/healthz` first of all; it only tells that the process answers."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path == "/healthz":
            return HttpResponse("ok\n", content_type="text/plain")
        return get_response(request)

    return middleware


def request_id(get_response: Handler) -> Handler:
    """Give each request an id, in every log line and in the response."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with logs.of_request(request.headers.get(logs.REQUEST_ID, "")) as name:
            with tracing.request_span(request) as answered:
                response = answered(get_response(request))
            response.setdefault(logs.REQUEST_ID, name)
        return response

    return middleware


def client_address(get_response: Handler) -> Handler:
    """Set the client's address as seen by the outermost of our own proxies."""

    def middleware(request: HttpRequest) -> HttpResponse:
        passed = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if 0 < settings.PROXIES <= len(passed):
            request.META["REMOTE_ADDR"] = passed[-settings.PROXIES].strip()
        return get_response(request)

    return middleware


def content_security_policy(get_response: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        loose = request.path.startswith(("/admin/", "/api/docs"))
        response.setdefault("Content-Security-Policy", _LOOSE_POLICY if loose else _POLICY)
        return response

    return middleware


def calls_with_a_key(get_response: Handler) -> Handler:
    """Let the view alone answer an API call that brings a key.

    Sessions, CSRF tokens, signed-in people and messages belong to pages; none of what follows in
    `settings.MIDDLEWARE` does anything for such a call but take time.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if not _brings_a_key(request):
            return get_response(request)
        request.get_host()  # raises DisallowedHost, as for pages
        acting_user.comes_in("visitor", "api")
        # Not only until it has answered: a streamed answer is still to come.
        translation.activate(translation.get_language_from_request(request))
        response = _of_the_view(request)
        if not response.streaming and not response.has_header("Content-Length"):
            response.headers["Content-Length"] = str(len(response.content))
        return response

    return middleware


def _brings_a_key(request: HttpRequest) -> bool:
    named = request.META.get("HTTP_AUTHORIZATION") or request.META.get("HTTP_X_API_KEY")
    return bool(named) and request.path_info.startswith(_CALLS)


def _of_the_view(request: HttpRequest) -> HttpResponse:
    request.resolver_match = match = resolve(request.path_info)
    response = match.func(request, *match.args, **match.kwargs)
    if isinstance(response, SimpleTemplateResponse):
        response.render()
    return response  # type: ignore[no-any-return] # a view answers


def who_acts(get_response: Handler) -> Handler:
    """Set the actor for the audit log; for API calls the key sets it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path.startswith(("/api/", "/v1/")):
            acting_user.comes_in("visitor", "api")
        else:
            acting_user.comes_in(*_actor_of(request))
        return get_response(request)

    return middleware


def _actor_of(request: HttpRequest) -> tuple[str, str]:
    surface = "admin" if request.path.startswith("/admin/") else "page"
    if not request.user.is_authenticated:
        return "visitor", surface
    is_staff = request.path.startswith(("/admin/", "/people/"))
    return (f"staff {request.user.pk}" if is_staff else "user"), surface


def staff_second_step(get_response: Handler) -> Handler:
    """Redirect staff without a second factor to set one up, if the setting requires it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        is_theirs = request.path.startswith(("/admin/", "/people/"))
        if settings.STAFF_SECOND_STEP and is_theirs and _lacks(request):
            messages.warning(
                request, _("The admin opens once you have turned on two-step verification.")
            )
            return redirect("signin_settings")
        return get_response(request)

    return middleware


def _lacks(request: HttpRequest) -> bool:
    user = request.user
    if not (isinstance(user, User) and user.is_staff):
        return False
    with as_user(user):
        return second_factors.of(user) is None


def personal_settings(get_response: Handler) -> Handler:
    """Activate the signed-in person's language and time zone."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/api/") or not request.user.is_authenticated:
            return get_response(request)
        own = users.settings_of(request.user)
        request.user_settings = own  # type: ignore[attr-defined]
        if own.language:
            translation.activate(own.language)
            request.LANGUAGE_CODE = own.language
        with timezone.override(zoneinfo.ZoneInfo(own.timezone)):
            return get_response(request)

    return middleware
