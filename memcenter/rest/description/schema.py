"""The OpenAPI description; `schema_pages.py` serves it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

if TYPE_CHECKING:
    from memcenter.rest.endpoint import Endpoint

_ERRORS = (400, 401, 403, 404, 409, 413, 429, 503)
_CODES = (
    "invalid",
    "not_found",
    "conflict",
    "memory_off",
    "being_forgotten",
    "not_allowed",
    "unauthenticated",
    "too_large",
    "rate_limited",
    "unavailable",
)


_ONCE = "Said again within 24 hours, the same call is answered as before and done only once."
_STATE = "Names this very state of the content."
_CONDITIONS = {
    "If-None-Match": "The ETags that the caller has: where one still holds the answer is 304.",
    "If-Match": "The ETag of the state that was read: where it no longer holds the answer is 412.",
}


class ErrorInside(serializers.Serializer[Any]):
    code = serializers.ChoiceField(choices=_CODES)
    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment] # the contract's own name
        child=serializers.ListField(child=serializers.CharField())
    )


class Error(serializers.Serializer[Any]):
    error = ErrorInside()
    detail = serializers.CharField()


class Accepted(serializers.Serializer[Any]):
    """Hidden now; the operation erases it. A temporary conversation is gone at once: no id."""

    status = serializers.ChoiceField(choices=("accepted",))
    op_id = serializers.CharField(allow_null=True)
    receipt_token = serializers.CharField(required=False)


def describe(
    qualname: str,
    method: str,
    endpoint: Endpoint,
    answers: Mapping[int, Any],
    summary: str,
) -> dict[str, Any]:
    """Return the arguments of `extend_schema` for one method."""
    body = method in ("post", "put", "patch")
    described: dict[str, Any] = {
        "operation_id": _operation_id(qualname),
        "summary": summary,
        "description": f"{summary}.",
        "responses": {
            **answers,
            **dict.fromkeys(_ERRORS, Error),
            **_conditional(method, endpoint),
        },
        "parameters": [*_parameters(endpoint, in_query=not body), *_headers(method, endpoint)],
    }
    if body:
        described["request"] = {endpoint.media: endpoint.takes} if endpoint.takes else None
    return described


def page_of(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the schema of a list response of these items."""
    fields = {
        "results": item(many=True),
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
    }
    return type(f"{item.__name__}Page", (serializers.Serializer,), fields)


def _parameters(endpoint: Endpoint, *, in_query: bool) -> list[Any]:
    found: list[Any] = []
    if in_query and endpoint.takes is not None:
        found.append(endpoint.takes)
    if endpoint.paged:
        found.append(OpenApiParameter("cursor", OpenApiTypes.STR))
        found.append(OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 100}))
    return found


def _headers(method: str, endpoint: Endpoint) -> list[OpenApiParameter]:
    found = []
    if method != "get" and endpoint.idempotent:
        found.append(_header("Idempotency-Key", _ONCE, {"minLength": 1, "maxLength": 200}))
    if endpoint.etag:
        conditional = "If-None-Match" if method == "get" else "If-Match"
        found.append(_header(conditional, _CONDITIONS[conditional]))
        told = OpenApiParameter(
            "ETag", str, OpenApiParameter.HEADER, response=[200], description=_STATE
        )
        found.append(told)
    return found


def _header(name: str, description: str, more: Mapping[str, Any] | None = None) -> OpenApiParameter:
    shape = {"type": "string", **(more or {})}
    return OpenApiParameter(name, shape, OpenApiParameter.HEADER, description=description)


def _conditional(method: str, endpoint: Endpoint) -> dict[int, Any]:
    if not endpoint.etag:
        return {}
    if method != "get":
        return {412: Error}
    return {304: OpenApiResponse(description="The caller has this very state.")}


def _operation_id(qualname: str) -> str:
    """`LongTermView.get` -> `long_term_get`."""
    name = qualname.replace("View.", "_")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "memcenter.rest.requests.authentication.KeyAuthentication"
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class OneSlashGenerator(SchemaGenerator):
    """Describes each path once, without the slash."""

    def _initialise_endpoints(self) -> None:
        if self.endpoints is None:
            super()._initialise_endpoints()  # type: ignore[no-untyped-call]
            found: list[Any] = self.endpoints or []
            self.endpoints = [one for one in found if not one[0].endswith("/")]
