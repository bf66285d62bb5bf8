"""Calling the API as somebody."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson
from django.http import HttpResponse
from django.test import Client


class Api:
    """`Api(key).post("/turns", {...})`; paths below `/api/v1`."""

    def __init__(self, key: str | None) -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = Client(raise_request_exception=False, headers=headers)

    def get(self, path: str, **query: Any) -> HttpResponse:
        return self.call("get", path, **query)

    def post(self, path: str, body: Any = None, **query: Any) -> HttpResponse:
        return self.call("post", path, {} if body is None else body, **query)

    def patch(self, path: str, body: Any, **query: Any) -> HttpResponse:
        return self.call("patch", path, body, **query)

    def delete(self, path: str, **query: Any) -> HttpResponse:
        return self.call("delete", path, **query)

    def call(
        self, method: str, path: str, body: Any = None, headers: Any = None, **query: Any
    ) -> HttpResponse:
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        url = path if path.startswith(("http", "/api")) else f"/api/v1{path}"
        response = self._client.generic(
            method.upper(),
            url,
            body or b"",
            content_type="application/json",
            query_params=query or None,
            headers=headers,
        )
        return cast(HttpResponse, response)


def answer(response: HttpResponse, status: int = 200) -> Any:
    """The body, once the status is what it should be."""
    assert response.status_code == status, response.content.decode()
    return orjson.loads(response.content)


def error(response: HttpResponse, status: int, code: str = "") -> dict[str, Any]:
    """The error of an answer in the one shape that errors have."""
    body = answer(response, status)
    assert set(body) == {"error", "detail"}
    assert set(body["error"]) == {"code", "message", "fields"}
    assert body["detail"] == body["error"]["message"]
    if code:
        assert body["error"]["code"] == code
    found: dict[str, Any] = body["error"]
    return found


def refused(response: HttpResponse, field: str) -> str:
    """What a 400 says of the one field that it names."""
    found = error(response, 400, "invalid")
    assert field in found["fields"], found
    text: str = found["fields"][field][0]
    return text
