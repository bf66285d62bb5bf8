"""The input of the generated clients, and hashes that show whether it has changed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from memcenter.rest.openapi import OneSlashGenerator

FOLDER = Path(__file__).parent
RECORD = FOLDER / "generated.json"
ASYNC = FOLDER / "python/memcenter_client/asynchronous.py"
SYNC = FOLDER / "python/memcenter_client/synchronous.py"
GENERATED = (
    "python/memcenter_client/synchronous.py",
    "python/memcenter_client/types.py",
    "typescript/src/schema.ts",
)
# Keys of the OpenAPI document that don't affect the generated types: wording and limits of values.
_WORDING = {
    *("description", "example", "examples", "summary", "links", "headers", "x-spec-enum-id"),
    *("pattern", "not", "allowEmptyValue"),
}
_TOGETHER = {"anyOf", "oneOf"}  # beside `properties`, they only say which fields belong together
_BY_NAME = {"properties", "schemas", "paths", "responses", "content"}
_SYNC_TITLE = '"""The synchronous client: asynchronous.py, rewritten by `make clients`."""'
_TO_SYNC = (
    ('"""The asynchronous client."""', _SYNC_TITLE),
    ("import anyio\n", ""),
    ("AsyncMemoryCenter", "MemoryCenter"),
    ("AsyncClient", "Client"),
    ("AsyncBaseTransport", "BaseTransport"),
    ("AsyncIterator", "Iterator"),
    ("async def ", "def "),
    ("async with ", "with "),
    ("async for ", "for "),
    ("await ", ""),
    ("anyio.sleep", "time.sleep"),
    ("aiter_bytes", "iter_bytes"),
    ("aclose", "close"),
    ("aread", "read"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
)


def document() -> dict[str, Any]:
    """Return the OpenAPI document without descriptions, and with a schema for each query."""
    generator: Any = OneSlashGenerator
    found: dict[str, Any] = _without_wording(generator().get_schema(request=None, public=True))
    schemas = found["components"]["schemas"]
    for methods in found["paths"].values():
        if "get" in methods:
            name = "".join(part.title() for part in methods["get"]["operationId"].split("_"))
            schemas[f"{name}Query"] = _query(methods["get"])
    for response in found["components"]["responses"].values():
        response["description"] = ""  # OpenAPI requires a description
    found["components"].pop("headers", None)
    return found


def synchronous() -> str:
    """Return the source of the synchronous client, derived from the asynchronous client."""
    text = ASYNC.read_text(encoding="utf-8")
    for before, after in _TO_SYNC:
        text = text.replace(before, after)
    return text


def record() -> dict[str, str]:
    """Return the hashes of the document and of the generated files."""
    text = json.dumps(document(), sort_keys=True)
    files = {name: _hash((FOLDER / name).read_bytes()) for name in GENERATED}
    return {"openapi": _hash(text.encode()), **files}


def _query(operation: dict[str, Any]) -> dict[str, Any]:
    parameters = [item for item in operation.get("parameters", ()) if item["in"] == "query"]
    return {
        "type": "object",
        "properties": {item["name"]: item["schema"] for item in parameters},
        "required": [item["name"] for item in parameters if item.get("required")],
    }


def _without_wording(node: Any, *, names: bool = False) -> Any:
    """Return a node without the keys `_WORDING`. With `names`, its keys are names of parts, such as
    fields; then only the parts are searched.
    """
    if isinstance(node, list):
        return [_without_wording(item) for item in node]
    if not isinstance(node, dict):
        return node
    dropped = _WORDING | (_TOGETHER if "properties" in node else set())
    if node.get("additionalProperties") is False:  # a TypedDict can't express this in Python 3.11
        dropped = dropped | {"additionalProperties"}
    return {
        key: _without_wording(value, names=not names and key in _BY_NAME)
        for key, value in node.items()
        if names or key not in dropped
    }


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
