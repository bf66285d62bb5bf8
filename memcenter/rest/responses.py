"""Render responses: JSON, errors in a common form, and `304 Not Modified`.

Invalid input never causes a 500.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags
from django.views import defaults
from psycopg.errors import IdleInTransactionSessionTimeout
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from foundation.errors import ApplicationError, Conflict, NotFound, ProviderError, Stale
from ops.models import Operation

logger = logging.getLogger(__name__)

STATUS_OF = {
    "invalid": 400,
    "not_found": 404,
    "conflict": 409,
    "memory_off": 409,
    "being_forgotten": 409,
    "not_allowed": 403,
    "unauthenticated": 401,
    "too_large": 413,
    "rate_limited": 429,
    "unavailable": 503,
}
_CODE_OF = {status: code for code, status in reversed(STATUS_OF.items())} | {405: "not_allowed"}
_KNOWN = (
    (Http404, "not_found", "There is nothing here."),
    (PermissionDenied, "not_allowed", "This is not allowed."),
    (RequestDataTooBig, "too_large", "The body is too large."),
    (SuspiciousOperation, "invalid", "The request can't be understood."),
    (ProviderError, "unavailable", "The model can't be reached; try again."),
)


def render_error(error: Exception, context: Mapping[str, Any]) -> Response:
    """Return the response for an exception raised in a view.

    An unexpected exception becomes a 500 (or a 503 if a database can't be reached) without details.
    """
    if isinstance(error, exceptions.APIException):
        return _of_rest_framework(error)
    if isinstance(error, ApplicationError):
        return _of_application(error)
    for kind, code, message in _KNOWN:
        if isinstance(error, kind):
            return Response(body(code, message), status=STATUS_OF[code])
    log_error(type(context.get("view")).__name__, error)
    # The database ends idle transactions, as `ops.access` configures.
    took_too_long = isinstance(error.__cause__, IdleInTransactionSessionTimeout)
    if took_too_long or isinstance(error, OperationalError | InterfaceError | RedisError):
        return Response(body("unavailable", "A store can't be reached; try again."), status=503)
    return Response(body("unavailable", "Something went wrong on our side."), status=500)


def accepted_response(operation: Operation) -> Response:
    return Response({"status": "accepted", "op_id": operation.public_id}, status=202)


def error_of(error: Exception) -> dict[str, Any]:
    """Return the `error` object of the response for an exception; MCP results contain it too."""
    details: dict[str, Any] = render_error(error, {}).data["error"]
    return details


def body(code: str, message: str, fields: Mapping[str, list[str]] | None = None) -> dict[str, Any]:
    return {
        "error": {"code": code, "message": message, "fields": dict(fields or {})},
        "detail": message,
    }


def _of_application(error: ApplicationError) -> Response:
    status = 412 if isinstance(error, Stale) else STATUS_OF.get(error.code)
    if status is None:  # a service's own code: the class of the exception decides
        status = 409 if isinstance(error, Conflict) else 404 if isinstance(error, NotFound) else 400
    return Response(body(error.code, error.message, error.fields), status=status)


def _of_rest_framework(error: exceptions.APIException) -> Response:
    fields = _fields(error.detail) if isinstance(error, exceptions.ValidationError) else {}
    message = next((f"{name}: {texts[0]}" for name, texts in fields.items()), str(error.detail))
    response = Response(
        body(_CODE_OF.get(error.status_code, "invalid"), message, fields), status=error.status_code
    )
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(max(1, round(wait)))
    return response


def _fields(detail: Any) -> dict[str, list[str]]:
    """Return the list of problems for each field.

    A problem in a nested value begins with the path to that value. Problems that belong to no
    field are listed under `body`.
    """
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


def log_error(subject: str, error: Exception) -> None:
    """Log the type and the stack of an error, but not its message, which may quote user input."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s failed with %s\n%s", subject, type(error).__name__, frames)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the 404 for an unknown address: our JSON error under `/api/`, a page elsewhere."""
    if request.path.startswith("/api/"):
        return _json(body("not_found", "This endpoint doesn’t exist."), status=404)
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
    return HttpResponse(render_json(data), status=status, content_type="application/json")


_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS


class OrjsonRenderer(BaseRenderer):
    """Renders dicts, dates, UUIDs and dataclasses as JSON; times in UTC end in Z."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else render_json(data)


def render_json(data: Any) -> bytes:
    """Render a value as JSON.

    Integers that are too long for orjson are supported, since PostgreSQL returns a stored JSON
    number such as 1e40 as an integer.
    """
    try:
        return orjson.dumps(data, default=str, option=_OPTIONS)
    except TypeError:
        return json.dumps(data, default=_as_text, ensure_ascii=False).encode()


def _as_text(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value, default=str, option=_OPTIONS))


def not_modified(request: Request, etag: str) -> HttpResponseNotModified | None:
    """Return a 304 if `If-None-Match` contains this quoted tag or `*`, else None (RFC 9110).

    A weak tag counts as equal to a strong one.
    """
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in known or etag in {tag.removeprefix("W/") for tag in known}:
        return HttpResponseNotModified(headers={"ETag": etag})
    return None
