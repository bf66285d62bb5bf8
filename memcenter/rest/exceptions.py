"""Render every error in the same shape; bad input never gives a 500."""

import logging
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views import defaults
from psycopg.errors import IdleInTransactionSessionTimeout
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.response import Response

from memcenter.lib.errors import ApplicationError, Conflict, NotFound, ProviderError, Stale
from memcenter.rest.renderers import as_json

logger = logging.getLogger(__name__)

STATUS_OF = {
    "invalid": 400,
    "unauthenticated": 401,
    "not_allowed": 403,
    "not_found": 404,
    "conflict": 409,
    "memory_off": 409,
    "being_forgotten": 409,
    "too_large": 413,
    "rate_limited": 429,
    "unavailable": 503,
}
_CODE_OF = {
    400: "invalid",
    401: "unauthenticated",
    403: "not_allowed",
    404: "not_found",
    405: "not_allowed",
    409: "conflict",
    413: "too_large",
    429: "rate_limited",
}


def render_error(error: Exception, context: Mapping[str, Any]) -> Response:
    """Return the response to an exception of a view; an unknown one gives a 500 without details."""
    if isinstance(error, exceptions.APIException):
        return _of_rest_framework(error)
    if isinstance(error, ApplicationError):
        return _of_application(error)
    if isinstance(error, Http404):
        return Response(body("not_found", "There is nothing here."), status=404)
    if isinstance(error, PermissionDenied):
        return Response(body("not_allowed", "This is not allowed."), status=403)
    if isinstance(error, RequestDataTooBig):
        return Response(body("too_large", "The body is too large."), status=413)
    if isinstance(error, SuspiciousOperation):
        return Response(body("invalid", "The request can't be understood."), status=400)
    if isinstance(error, ProviderError):
        return Response(body("unavailable", "The model can't be reached; try again."), status=503)
    _log(error, context)
    if isinstance(error, OperationalError | InterfaceError | RedisError) or _took_too_long(error):
        return Response(body("unavailable", "A store can't be reached; try again."), status=503)
    return Response(body("unavailable", "Something went wrong on our side."), status=500)


def _took_too_long(error: Exception) -> bool:
    """Tell whether the database ended an idle transaction, as `ops.access` configures."""
    return isinstance(error.__cause__, IdleInTransactionSessionTimeout)


def body(code: str, message: str, fields: Mapping[str, list[str]] | None = None) -> dict[str, Any]:
    return {
        "error": {"code": code, "message": message, "fields": dict(fields or {})},
        "detail": message,
    }


def _of_application(error: ApplicationError) -> Response:
    status = 412 if isinstance(error, Stale) else STATUS_OF.get(error.code)
    if status is None:  # a service's own, more precise code: the class only gives the kind of error
        status = 409 if isinstance(error, Conflict) else 404 if isinstance(error, NotFound) else 400
    return Response(body(error.code, error.message, error.fields), status=status)


def _of_rest_framework(error: exceptions.APIException) -> Response:
    fields = _fields(error.detail) if isinstance(error, exceptions.ValidationError) else {}
    message = _first(fields) if fields else str(error.detail)
    response = Response(
        body(_CODE_OF.get(error.status_code, "invalid"), message, fields), status=error.status_code
    )
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(max(1, round(wait)))
    return response


def _first(fields: Mapping[str, list[str]]) -> str:
    name, texts = next(iter(fields.items()))
    return f"{name}: {texts[0]}"


def _fields(detail: Any) -> dict[str, list[str]]:
    """Return the problem of each field; a place inside a field is part of the text."""
    if not isinstance(detail, dict):
        return {"body": list(_lines(detail))}
    return {str(name): list(_lines(inner)) for name, inner in detail.items()}


def _lines(detail: Any, place: str = "") -> Iterator[str]:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _lines(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(detail, list):
        for number, inner in enumerate(detail):
            nested = isinstance(inner, dict)
            yield from _lines(inner, f"{place}.{number}".lstrip(".") if nested else place)
    else:
        yield f"{place}: {detail}" if place else str(detail)


def _log(error: Exception, context: Mapping[str, Any]) -> None:
    """Log class and code lines only, since the message may quote user input."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    view = type(context.get("view")).__name__
    logger.error("%s failed with %s\n%s", view, type(error).__name__, frames)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler404`: our JSON error under `/api/`, a page elsewhere."""
    if request.path.startswith("/api/"):
        return _json(body("not_found", "There is no such endpoint."), status=404)
    return defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _json(body("invalid", "The request can't be understood."), status=400)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _json(body("unavailable", "Something went wrong on our side."), status=500)
    return defaults.server_error(request)


def _json(data: Mapping[str, Any], *, status: int) -> HttpResponse:
    return HttpResponse(as_json(data), status=status, content_type="application/json")
