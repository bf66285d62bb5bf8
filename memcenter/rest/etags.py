"""Conditional requests: answer 304 if the client has the present state."""

from __future__ import annotations

from django.http import HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request


def not_modified(request: Request, etag: str) -> HttpResponseNotModified | None:
    """Return a 304 if `If-None-Match` has this quoted tag, weak or strong, or `*` (RFC 9110)."""
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in known or etag in {one.removeprefix("W/") for one in known}:
        return HttpResponseNotModified(headers={"ETag": etag})
    return None
