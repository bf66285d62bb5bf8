"""`POST /mcp` answers a JSON-RPC message, and keeps no state between messages."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from foundation.errors import Invalid
from memcenter.rest.authentication import KeyAuthentication
from memcenter.rest.parsers import check_names
from memcenter.rest.responses import body as error_body
from memcenter.rest.throttling import ConcurrencyLimit
from ops import audit_log

_share = ConcurrencyLimit(settings.LONG_ANSWERS)
_REALM = 'Bearer realm="Memory Center"'


@csrf_exempt
@require_POST
def mcp(request: HttpRequest) -> HttpResponse:
    """Answer one JSON-RPC message.

    The status is 401 without a valid API key, 413 or 400 for a message that is too large or repeats
    a name in an object, and 429 above a limit. An error inside a tool is reported in the tool's
    result, with status 200.
    """
    audit_log.set_actor("visitor", "mcp")
    try:
        found = KeyAuthentication().authenticate(cast(Request, request))
        if found is None:
            raise AuthenticationFailed("Give an API key: Authorization: Bearer mc_…")
        key = found[1]
    except AuthenticationFailed as error:
        return _refused(
            401, "unauthenticated", str(error.detail), headers={"WWW-Authenticate": _REALM}
        )
    from memcenter.mcp import server  # the SDK is large, and most processes never need it

    body = request.read(server.max_body_bytes() + 1)
    if len(body) > server.max_body_bytes():
        return _refused(413, "too_large", "The message is too large.")
    try:
        check_names(body)
        with _share.acquire():
            return server.answer(request.META, body=body, key=key)
    except Invalid as error:
        return _refused(400, error.code, error.message)
    except Throttled as error:
        wait = {"Retry-After": str(getattr(error, "wait", 1))}
        return _refused(429, "rate_limited", str(error.detail), headers=wait)


def _refused(
    status: int, code: str, message: str, *, headers: dict[str, str] | None = None
) -> JsonResponse:
    return JsonResponse(error_body(code, message), status=status, headers=headers)
