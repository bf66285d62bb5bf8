"""Add examples, links, headers and errors to the generated OpenAPI description.

Each is written once for every endpoint: `complete` runs over the finished document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memcenter.rest.description import examples
from memcenter.rest.description.examples import NODE

_METHODS = ("get", "post", "put", "patch", "delete")
_JSON = "application/json"
# The path parameter of an id, by its prefix.
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
    "description": "Whole seconds until it is worth trying again.",
    "required": True,
    "schema": {"type": "integer", "minimum": 1},
}
_RATES = {
    "RateLimit-Policy": {
        "description": (
            "The limits that the call was counted against: of the key, and of the key about this "
            "person (“person”, or “heavy” for forgets and exports). Calls (q) in seconds (w)."
        ),
        "schema": {"type": "string", "example": '"key";q=12000;w=60, "person";q=120;w=60'},
    },
    "RateLimit": {
        "description": "What is left of each limit (r), and for how many seconds it holds (t).",
        "schema": {"type": "string", "example": '"key";r=11999;t=42, "person";r=119;t=42'},
    },
}
# Status, component name, error code and example message.
_ERRORS = (
    (400, "Invalid", "invalid", "content: This field may not be blank."),
    (401, "Unauthenticated", "unauthenticated", "This API key is not valid."),
    (403, "NotAllowed", "not_allowed", "This key lacks the scope “forget”."),
    (404, "NotFound", "not_found", "There is nothing of this id."),
    (409, "Conflict", "conflict", "The first call with this Idempotency-Key is still running."),
    (412, "Stale", "conflict", "It has changed since; read it again."),
    (413, "TooLarge", "too_large", "The body is larger than 1,048,576 bytes."),
    (429, "RateLimited", "rate_limited", "Request was throttled. Expected available in 12 s."),
    (503, "Unavailable", "unavailable", "A store can't be reached; try again."),
)


def complete(result: NODE, generator: Any, request: Any, public: bool) -> NODE:
    """Complete the document, as a postprocessing hook of drf-spectacular."""
    schemas = result["components"]["schemas"]
    result["components"]["responses"] = {name: _error(*rest) for _, name, *rest in _ERRORS}
    limited = {"Retry-After": _RETRY_AFTER, **_rates()}
    result["components"]["responses"]["RateLimited"]["headers"] = limited
    result["components"]["headers"] = _RATES
    for path, _method, operation in operations(result):
        _complete(operation, schemas)
        _page_on(path, operation)
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
    told = {"error": {"code": code, "message": message, "fields": fields}, "detail": message}
    return {"description": message, "content": {_JSON: {"schema": shape, "example": told}}}


def _complete(operation: NODE, schemas: Mapping[str, NODE]) -> None:
    for media in operation.get("requestBody", {}).get("content", {}).values():
        _exemplify(media, schemas)
    for one in operation.get("parameters", ()):
        if one["in"] == "path" or one.get("required"):
            one["example"] = _of_parameter(one, schemas)
    names = {str(status): name for status, name, *_ in _ERRORS}
    for status, response in operation["responses"].items():
        if status in names:
            operation["responses"][status] = {"$ref": f"#/components/responses/{names[status]}"}
        else:
            response["description"] = response["description"] or operation["summary"]
            response["headers"] = {**response.get("headers", {}), **_rates()}
            for kind, media in response.get("content", {}).items():
                if kind == _JSON:
                    _exemplify(media, schemas)


def _page_on(path: str, operation: NODE) -> None:
    """Return the link to the next page of a list."""
    for response in operation["responses"].values():
        told = response.get("content", {}).get(_JSON, {}).get("example")
        if isinstance(told, dict) and "results" in told and told.get("next"):
            told["next"] = f"https://memory.example{path}?cursor=W2ZhbHNlXQ"


def _of_parameter(parameter: NODE, schemas: Mapping[str, NODE]) -> Any:
    name = "id" if parameter["name"] == "ids" else parameter["name"]
    return examples.example_of(parameter["schema"], schemas, name=name)


def _exemplify(media: NODE, schemas: Mapping[str, NODE]) -> None:
    if "example" not in media and media.get("schema", {}).get("format") != "binary":
        media["example"] = examples.example_of(media["schema"], schemas)


def _link(document: NODE) -> None:
    """Link each id in a response to the calls that take it, for client generators and tests."""
    takers = _takers(document)
    for _path, method, operation in operations(document):
        for response in operation["responses"].values():
            told = response.get("content", {}).get(_JSON, {}).get("example")
            if method not in ("post", "delete") or not isinstance(told, dict):
                continue
            if links := _links(told, takers, apart_from=operation["operationId"]):
                response["links"] = links


def _takers(document: NODE) -> dict[str, list[str]]:
    """Return the operations by the id in their path."""
    found: dict[str, list[str]] = {}
    for path, _method, operation in operations(document):
        for name in _TAKEN_AS.values():
            if f"{{{name}}}" in path:
                found.setdefault(name, []).append(operation["operationId"])
    return found


def _links(told: NODE, takers: Mapping[str, list[str]], *, apart_from: str) -> NODE:
    return {
        f"{taker}_of_{field}": {
            "operationId": taker,
            "parameters": {name: f"$response.body#/{field}"},
        }
        for field, name in _ids_in(told)
        for taker in takers.get(name, ())
        if taker != apart_from
    }


def _ids_in(told: NODE) -> Iterator[tuple[str, str]]:
    """Return the response fields that hold ids, with the path parameter of each."""
    for field, value in told.items():
        prefix = value.partition("_")[0] if isinstance(value, str) and "_" in value else ""
        if prefix in _TAKEN_AS:
            yield field, _TAKEN_AS[prefix]
