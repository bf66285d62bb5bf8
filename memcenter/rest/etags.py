"""Conditional reading: who has a state already is told so, instead of being sent it again."""

from __future__ import annotations

from django.http import HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request


def not_modified(request: Request, etag: str) -> HttpResponseNotModified | None:
    """A 304 where `If-None-Match` names this quoted tag, weakly or strongly, or any (RFC 9110)."""
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in known or etag in {one.removeprefix("W/") for one in known}:
        return HttpResponseNotModified(headers={"ETag": etag})
    return None
