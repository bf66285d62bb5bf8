"""The base of the three endpoints: our keys and rate limits, errors in OpenAI's shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import StreamingHttpResponse
from rest_framework.response import Response

from memcenter.lib.errors import ApplicationError, Invalid
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, PRETEND, Asked, Endpoint
from memcenter.rest.requests import people, throttling
from memcenter.rest.requests.parsers import parse_object
from ops.models import ApiKey, Scope, User

USER_HEADER = "X-Memcenter-User"
_TYPE_OF = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}


class OpenAIView(MemcenterView):
    """Call handlers as `post(asked)`, outside any transaction, since they wait for models."""

    schema = None  # described by OpenAI, not by us
    surface = "openai"

    def _answer(self, handler: Any, endpoint: Endpoint) -> Response:
        key = self.request.auth if isinstance(self.request.auth, ApiKey) else None
        asked = Asked(self.request, key, self.kwargs, {}, None)
        response: Response = handler(asked)
        return response

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        error = response.data["error"]
        error["type"] = _TYPE_OF.get(response.status_code, "api_error")
        error["param"] = next(iter(error["fields"]), None)
        return response


def body_of(asked: Asked) -> tuple[bytes, dict[str, Any]]:
    """Return the raw and the parsed body; pictures may make it large."""
    limit = settings.MAX_CHAT_BODY_BYTES
    raw = asked.request._request.read(limit + 1)
    if len(raw) > limit:
        raise ApplicationError(f"The body is larger than {limit:,} bytes.", code="too_large")
    return raw, parse_object(raw)


def person(asked: Asked, body: dict[str, Any], *, brief: bool) -> User:
    """Return the user of the turn: from the header, the body's `user`, or the bound key."""
    named = asked.request.headers.get(USER_HEADER, body.get("user"))
    if named == "":
        raise Invalid.field("user", "The text must not be empty.")
    data = {"user_id": named} if isinstance(named, str) else {}
    called = Asked(asked.request, asked.key, asked.ids, data, None)
    unknown = PRETEND if brief else CREATE
    user = people.whose(called, Endpoint(scope="write", unknown_user=lambda _: unknown))
    if user is None:
        raise AssertionError("only endpoints for all users have nobody")
    throttling.count_person(asked.key, user, scope=Scope.WRITE)
    return user


def streaming(chunks: Iterator[bytes], *, content_type: str) -> StreamingHttpResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)
