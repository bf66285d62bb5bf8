"""Describe the endpoints in an OpenAPI document (with examples and links) and on a page.

`describe` returns the arguments of `extend_schema` for one method. `complete` then adds the parts
that all endpoints share. The examples are chosen by field name from `openapi_examples.json`; all
examples are about Ana, who is allergic to peanuts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.views.generic import TemplateView
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from memcenter.rest.fields import CONSTRAINTS
from memcenter.rest.responses import STATUS_OF

if TYPE_CHECKING:
    from memcenter.rest.endpoint import Endpoint

NODE = dict[str, Any]
# `values` holds examples by field name, or by component and field name if the meaning differs.
# `shown` lists optional fields that an example of a request body contains. `left_out` lists fields
# that an example of a response lacks, since only other calls with the same schema return them.
_EXAMPLES = json.loads(Path(__file__).with_name("openapi_examples.json").read_text("utf-8"))
VALUES: Mapping[str, Any] = _EXAMPLES["values"]
_ERRORS = (400, 401, 403, 404, 409, 413, 429, 503)
_ONCE = (
    "A repeated call with the same key within 24 hours is answered as before, not executed again."
)
# A header consists of Latin-1 characters. The pattern excludes those that can't be printed.
_PRINTABLE = {"minLength": 1, "maxLength": 200, "pattern": r"^[ -~\u00a1-\u00ac\u00ae-\u00ff]+$"}
_STATE = "Identifies this state of the content."
_CONDITIONS = {
    "If-None-Match": "The ETags that the caller has. If one is current, the answer is 304.",
    "If-Match": "The ETag that was read. If it is no longer current, the answer is 412.",
}


class ErrorInside(serializers.Serializer[Any]):
    code = serializers.ChoiceField(choices=tuple(STATUS_OF))
    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment] # the contract's own name
        child=serializers.ListField(child=serializers.CharField())
    )


class Error(serializers.Serializer[Any]):
    error = ErrorInside()
    detail = serializers.CharField()


class Accepted(serializers.Serializer[Any]):
    """The data is hidden now, and the operation `op_id` erases it.

    A temporary conversation is erased at once, so its `op_id` is null.
    """

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
    body = method in ("post", "put", "patch")
    found: list[Any] = []
    if not body and endpoint.takes is not None:
        found.append(endpoint.takes)
    if endpoint.paged:
        found.append(OpenApiParameter("cursor", OpenApiTypes.STR))
        found.append(OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 100}))
    name = qualname.replace("View.", "_")
    described: dict[str, Any] = {
        "operation_id": re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(),
        "summary": summary,
        "description": f"{summary}.",
        "responses": {
            **answers,
            **dict.fromkeys(_ERRORS, Error),
            **_conditional(method, endpoint),
        },
        "parameters": [*found, *_headers(method, endpoint)],
    }
    if body:
        described["request"] = {endpoint.media: endpoint.takes} if endpoint.takes else None
    return described


def page_of(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the schema of a list response whose items have this schema."""
    fields = {
        "results": item(many=True),
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
    }
    return type(f"{item.__name__}Page", (serializers.Serializer,), fields)


def _headers(method: str, endpoint: Endpoint) -> list[OpenApiParameter]:
    found = []
    if method != "get" and endpoint.idempotent:
        found.append(_header("Idempotency-Key", _ONCE, _PRINTABLE))
    if endpoint.etag:
        conditional = "If-None-Match" if method == "get" else "If-Match"
        found.append(_header(conditional, _CONDITIONS[conditional]))
        header = OpenApiParameter(
            "ETag", str, OpenApiParameter.HEADER, response=[200], description=_STATE
        )
        found.append(header)
    return found


def _header(name: str, description: str, more: Mapping[str, Any] | None = None) -> OpenApiParameter:
    shape = {"type": "string", **(more or {})}
    return OpenApiParameter(name, shape, OpenApiParameter.HEADER, description=description)


def _conditional(method: str, endpoint: Endpoint) -> dict[int, Any]:
    if not endpoint.etag:
        return {}
    if method != "get":
        return {412: Error}
    return {304: OpenApiResponse(description="The caller already has the current state.")}


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "memcenter.rest.authentication.KeyAuthentication"
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class OneSlashGenerator(SchemaGenerator):
    """Describes each path once, without the variant that ends in a slash."""

    def _initialise_endpoints(self) -> None:
        if self.endpoints is None:
            super()._initialise_endpoints()  # type: ignore[no-untyped-call]
            found: list[Any] = self.endpoints or []
            self.endpoints = [endpoint for endpoint in found if not endpoint[0].endswith("/")]


_PEOPLE = ("user_id", "owner_id")  # an empty name is refused
_METHODS = ("get", "post", "put", "patch", "delete")
_JSON = "application/json"
# Maps the prefix of an id to the path parameter that accepts the id.
_TAKEN_AS = {
    "conv": "conversation_id",
    "msg": "message_id",
    "mem": "memory_id",
    "op": "op_id",
    "req": "request_id",
    "hook": "webhook_id",
    "key": "key_id",
}
_RETRY_AFTER = {
    "description": "Seconds until the next attempt makes sense.",
    "required": True,
    "schema": {"type": "integer", "minimum": 1},
}
_RATES = {
    "RateLimit-Policy": {
        "description": (
            "The limits that apply to the call: calls (q) in a number of seconds (w). “key” counts "
            "all calls of the key, “person” its calls for this person, and “heavy” its forgets, "
            "exports and batches for this person."
        ),
        "schema": {"type": "string", "example": '"key";q=12000;w=60, "person";q=120;w=60'},
    },
    "RateLimit": {
        "description": "The calls left of each limit (r), and the seconds until its reset (t).",
        "schema": {"type": "string", "example": '"key";r=11999;t=42, "person";r=119;t=42'},
    },
}
# Status, component name, error code and example message.
_ERROR_RESPONSES = (
    (400, "Invalid", "invalid", "content: This field may not be blank."),
    (401, "Unauthenticated", "unauthenticated", "This API key is not valid."),
    (403, "NotAllowed", "not_allowed", "This key lacks the scope “forget”."),
    (404, "NotFound", "not_found", "There is no object with this id."),
    (409, "Conflict", "conflict", "The first call with this Idempotency-Key is still running."),
    (412, "Stale", "conflict", "It has changed since; read it again."),
    (413, "TooLarge", "too_large", "The body is larger than 1,048,576 bytes."),
    (429, "RateLimited", "rate_limited", "Request was throttled. Expected available in 12 s."),
    (503, "Unavailable", "unavailable", "A store can't be reached; try again."),
)


def complete(result: NODE, generator: Any, request: Any, public: bool) -> NODE:
    """Add errors, headers, examples and links to the OpenAPI document.

    drf-spectacular calls this function as a postprocessing hook.
    """
    schemas = result["components"]["schemas"]
    result["components"]["responses"] = {name: _error(*rest) for _, name, *rest in _ERROR_RESPONSES}
    limited = {"Retry-After": _RETRY_AFTER, **_rates()}
    result["components"]["responses"]["RateLimited"]["headers"] = limited
    result["components"]["headers"] = _RATES
    for schema in schemas.values():
        schema.update(schema.pop(CONSTRAINTS, {}))
    for path, _method, operation in operations(result):
        _complete(operation, schemas)
        for response in operation["responses"].values():
            example = response.get("content", {}).get(_JSON, {}).get("example")
            if isinstance(example, dict) and "results" in example and example.get("next"):
                example["next"] = f"https://memory.example{path}?cursor=W2ZhbHNlXQ"
    _link(result)
    return result


def _rates() -> NODE:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in _RATES}


def operations(document: NODE) -> Iterator[tuple[str, str, NODE]]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield path, method, item[method]


def _error(code: str, message: str) -> NODE:
    fields = {"content": [message.partition(": ")[2]]} if code == "invalid" else {}
    shape = {"$ref": "#/components/schemas/Error"}
    example = {"error": {"code": code, "message": message, "fields": fields}, "detail": message}
    return {"description": message, "content": {_JSON: {"schema": shape, "example": example}}}


def _complete(operation: NODE, schemas: Mapping[str, NODE]) -> None:
    for media in operation.get("requestBody", {}).get("content", {}).values():
        _exemplify(media, schemas)
    for parameter in operation.get("parameters", ()):
        required = parameter.get("required", False)
        if parameter["in"] == "query" and not required and parameter["name"] not in _PEOPLE:
            parameter["allowEmptyValue"] = True  # an empty value counts as missing
        if parameter["in"] == "path":
            parameter["schema"].setdefault("pattern", r"^[^\u0000-\u001f\u007f]+$")
        if parameter["in"] == "path" or required:
            name = "id" if parameter["name"] == "ids" else parameter["name"]
            parameter["example"] = example_of(parameter["schema"], schemas, name=name)
    names = {str(status): name for status, name, *_ in _ERROR_RESPONSES}
    for status, response in operation["responses"].items():
        if status in names:
            operation["responses"][status] = {"$ref": f"#/components/responses/{names[status]}"}
        else:
            response["description"] = response["description"] or operation["summary"]
            response["headers"] = {**response.get("headers", {}), **_rates()}
            for kind, media in response.get("content", {}).items():
                if kind == _JSON:
                    _exemplify(media, schemas)


def _exemplify(media: NODE, schemas: Mapping[str, NODE]) -> None:
    if "example" not in media and media.get("schema", {}).get("format") != "binary":
        media["example"] = example_of(media["schema"], schemas)


def _link(document: NODE) -> None:
    takers: dict[str, list[str]] = {}
    for path, _method, operation in operations(document):
        for name in _TAKEN_AS.values():
            if f"{{{name}}}" in path:
                takers.setdefault(name, []).append(operation["operationId"])
    for _path, method, operation in operations(document):
        for response in operation["responses"].values():
            example = response.get("content", {}).get(_JSON, {}).get("example")
            if method not in ("post", "delete") or not isinstance(example, dict):
                continue
            if links := _links(example, takers, apart_from=operation["operationId"]):
                response["links"] = links


def _links(example: NODE, takers: Mapping[str, list[str]], *, apart_from: str) -> NODE:
    return {
        f"{taker}_of_{field}": {
            "operationId": taker,
            "parameters": {name: f"$response.body#/{field}"},
        }
        for field, name in _ids_in(example)
        for taker in takers.get(name, ())
        if taker != apart_from
    }


def _ids_in(example: NODE) -> Iterator[tuple[str, str]]:
    for field, value in example.items():
        prefix = value.partition("_")[0] if isinstance(value, str) and "_" in value else ""
        if prefix in _TAKEN_AS:
            yield field, _TAKEN_AS[prefix]


class JsonRenderer(OpenApiJsonRenderer):
    """The OpenAPI renderer for clients that accept only `application/json`."""

    media_type = "application/json"


SCHEMA_RENDERERS = [OpenApiJsonRenderer, JsonRenderer, OpenApiYamlRenderer]


class NoExample(LookupError):
    """There is no example for a field; add one to `openapi_examples.json`."""


def example_of(node: NODE, schemas: Mapping[str, NODE], *, name: str = "", inside: str = "") -> Any:
    """Return an example that matches a schema. Raise `NoExample` if a field has no example."""
    if "$ref" in node:
        component = node["$ref"].rsplit("/", 1)[-1]
        return example_of(schemas[component], schemas, name=name, inside=component)
    for known in (f"{inside}.{name}", name):
        if name and known in VALUES and _fits(VALUES[known], node):
            return VALUES[known]
    if "properties" in node:
        must = node.get("required", ())
        shown = (*must, "user_id", *_EXAMPLES["shown"].get(inside, ()))
        return {
            name: example_of(inner, schemas, name=name, inside=inside)
            for name, inner in node["properties"].items()
            if (name in shown or not inside.endswith("Request"))
            and name not in _EXAMPLES["left_out"].get(inside, ())
        }
    choices: list[NODE] = node.get("allOf") or node.get("oneOf") or node.get("anyOf") or []
    for choice in choices[:1]:
        return example_of(choice, schemas, name=name, inside=inside)
    if node.get("type") == "array":
        return [example_of(node["items"], schemas, inside=inside)]
    if "enum" in node:
        return node["enum"][0]
    return _plain(node, f"{inside}.{name}")


def _fits(value: Any, node: NODE) -> bool:
    if "$ref" in node or "allOf" in node or "properties" in node:
        return False
    if value is None:
        return node.get("nullable") is True
    if "enum" in node:
        return value in node["enum"]
    kinds = {"string": str, "array": list, "object": dict, "boolean": bool}
    return isinstance(value, kinds.get(node.get("type", ""), object))


def _plain(node: NODE, where: str) -> Any:
    kind, form = node.get("type", ""), node.get("format", "")
    for known, name in (("by_format", form), ("by_type", kind)):
        if name in _EXAMPLES[known]:
            return _EXAMPLES[known][name]
    raise NoExample(where)


class ReferencePage(TemplateView):
    """The page that lists every call, grouped by tag, with fields and status codes."""

    template_name = "api_reference.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        by_tag = groupby(calls(), key=itemgetter("tag"))
        return super().get_context_data(
            **kwargs, groups=[(tag, tuple(found)) for tag, found in by_tag]
        )


@cache
def calls() -> list[NODE]:
    """Return the API operations as the reference page shows them, sorted by tag.

    The result is cached for the life of the process.
    """
    generator: Any = OneSlashGenerator
    document = generator().get_schema(request=None, public=True)
    shapes = document["components"]["schemas"]
    found = [
        {
            "method": method.upper(),
            "path": path,
            "tag": about["tags"][0],
            "summary": about["summary"],
            "anchor": f"/{about['tags'][0]}/{about['operationId']}",
            "fields": list(_reference_fields(about, shapes)),
            "answers": list(about["responses"]),
        }
        for path, method, about in operations(document)
    ]
    return sorted(found, key=itemgetter("tag"))


def _reference_fields(about: NODE, shapes: NODE) -> Iterator[NODE]:
    for parameter in about.get("parameters", ()):
        yield {
            "name": parameter["name"],
            "place": parameter["in"],
            "type": _type_in_words(parameter["schema"], shapes),
            "is_required": parameter.get("required", False),
            "description": parameter.get("description", ""),
        }
    body = about.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema", {})
    body = _resolved(body, shapes)
    for name, shape in body.get("properties", {}).items():
        yield {
            "name": name,
            "place": "body",
            "type": _type_in_words(shape, shapes),
            "is_required": name in body.get("required", ()),
            "description": "" if _choices(shape) else shape.get("description", ""),
        }


def _resolved(shape: Mapping[str, Any], shapes: Mapping[str, Any]) -> Mapping[str, Any]:
    name = shape.get("$ref", "").rpartition("/")[2]
    return shapes[name] if name else shape


def _type_in_words(shape: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    shape = _resolved(shape, shapes)
    if "allOf" in shape:
        return _type_in_words(shape["allOf"][0], shapes)
    if chosen := _choices(shape):
        return chosen
    if shape.get("type") == "array":
        return f"list of {_type_in_words(shape['items'], shapes)}"
    return str(shape.get("format") or shape.get("type") or "any")


def _choices(shape: Mapping[str, Any]) -> str:
    return " | ".join(str(value) for value in shape.get("enum", ()) if value is not None)
