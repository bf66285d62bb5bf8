"""Middleware functions, in the order of `settings.MIDDLEWARE`, and the pages' template context."""

import zoneinfo
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import redirect
from django.template.response import SimpleTemplateResponse
from django.urls import resolve
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from foundation import telemetry
from ops import audit_log
from ops.access import as_user
from ops.accounts import sign_ins, users
from ops.models import Theme, User

Handler = Callable[[HttpRequest], HttpResponse]
Answer = Callable[[HttpRequest, Handler], HttpResponse]
_CALLS = ("/api/v1/", "/v1/", "/v2/", "/v3/")  # our API, and those of other products
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


def middleware(answer: Answer) -> Callable[[Handler], Handler]:
    """Convert a function with the arguments `request` and `get_response` to a Django middleware."""
    return lambda get_response: lambda request: answer(request, get_response)


@middleware
def health_check(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Answer `/healthz`, before any other middleware runs.

    The answer only shows that the process responds.
    """
    if request.path == "/healthz":
        return HttpResponse("ok\n", content_type="text/plain")
    return get_response(request)


@middleware
def request_id(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Assign an id to each request, or use the id that a proxy sent in the request's header.

    The id appears in log lines and in the response.
    """
    with telemetry.use_request_id(request.headers.get(telemetry.REQUEST_ID, "")) as name:
        with telemetry.request_span(request) as answered:
            response = answered(get_response(request))
        response.setdefault(telemetry.REQUEST_ID, name)
    return response


@middleware
def client_address(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Set REMOTE_ADDR to the client's address as reported by our outermost proxy, if any."""
    passed = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if 0 < settings.PROXIES <= len(passed):
        request.META["REMOTE_ADDR"] = passed[-settings.PROXIES].strip()
    return get_response(request)


@middleware
def content_security_policy(request: HttpRequest, get_response: Handler) -> HttpResponse:
    response = get_response(request)
    loose = request.path.startswith(("/admin/", "/api/docs/try"))
    response.setdefault("Content-Security-Policy", _LOOSE_POLICY if loose else _POLICY)
    return response


@middleware
def api_key_calls(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Call the view directly if the request is an API call with a key.

    Such a call skips the middleware that follows in `settings.MIDDLEWARE`, since sessions, CSRF
    tokens, sign-in and messages are needed for pages only.
    """
    named = request.META.get("HTTP_AUTHORIZATION") or request.META.get("HTTP_X_API_KEY")
    if not (named and request.path_info.startswith(_CALLS)):
        return get_response(request)
    request.get_host()  # raises DisallowedHost, as for pages
    audit_log.set_actor("visitor", "api")
    # Not reset afterwards, since a streamed response is produced later.
    translation.activate(translation.get_language_from_request(request))
    request.resolver_match = match = resolve(request.path_info)
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    if isinstance(response, SimpleTemplateResponse):
        response.render()
    if not response.streaming and not response.has_header("Content-Length"):
        response.headers["Content-Length"] = str(len(response.content))
    return response


@middleware
def compressed_lists(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Compress the admin's pages and the API reference, whose markup is mostly repetitive.

    Other pages aren't compressed. They contain secrets together with text that a person typed, and
    the size of the compressed page could reveal a secret (the BREACH attack).
    """
    if not request.path.startswith(("/admin/", "/api/docs/")):
        return get_response(request)
    return cast("HttpResponse", GZipMiddleware(get_response)(request))


@middleware
def audit_actor(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Set the actor for the audit log; in an API call, the view later sets the key as the actor."""
    if request.path.startswith(("/api/", "/v1/")):
        audit_log.set_actor("visitor", "api")
    else:
        audit_log.set_actor(*_actor_of(request))
    return get_response(request)


def _actor_of(request: HttpRequest) -> tuple[str, str]:
    surface = "admin" if request.path.startswith("/admin/") else "page"
    if not request.user.is_authenticated:
        return "visitor", surface
    is_staff = request.path.startswith(("/admin/", "/people/"))
    return (f"staff {request.user.pk}" if is_staff else "user"), surface


@middleware
def require_second_step(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Redirect staff without two-step verification to the page where it can be turned on.

    Only requests for the admin and the People page are redirected, and only if STAFF_SECOND_STEP is
    set.
    """
    is_theirs = request.path.startswith(("/admin/", "/people/"))
    if settings.STAFF_SECOND_STEP and is_theirs and _lacks_second_factor(request):
        messages.warning(
            request, _("The admin area opens once you have turned on two-step verification.")
        )
        return redirect("signin_settings")
    return get_response(request)


def _lacks_second_factor(request: HttpRequest) -> bool:
    user = request.user
    if not (isinstance(user, User) and user.is_staff):
        return False
    with as_user(user):
        return sign_ins.second_factor_of(user) is None


@middleware
def personal_settings(request: HttpRequest, get_response: Handler) -> HttpResponse:
    """Activate the language and time zone of the signed-in person.

    The person's settings are also stored in `request.user_settings`.
    """
    if request.path.startswith("/api/") or not request.user.is_authenticated:
        return get_response(request)
    own = users.settings_of(request.user)
    request.user_settings = own  # type: ignore[attr-defined]
    if own.language:
        translation.activate(own.language)
        request.LANGUAGE_CODE = own.language
    with timezone.override(zoneinfo.ZoneInfo(own.timezone)):
        return get_response(request)


def template_variables(request: HttpRequest) -> dict[str, Any]:
    """Return the template variables that every page needs.

    `language_model` is empty if the bundled rules are used instead of a model.
    """
    own = getattr(request, "user_settings", None)
    chosen = own.theme if own else request.COOKIES.get("theme", "")
    return {
        "user_settings": own,
        "theme": chosen if chosen in Theme.values else Theme.AUTO.value,
        "language_model": settings.MODEL_NAME if settings.LANGUAGE_METHOD == "model" else "",
    }
